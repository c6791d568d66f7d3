package text

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

// Write writes the report: one header, the problems
// with the most important first, the vitals, the counts, and what is not known
// and why. Nothing in it is told by colour alone.
func Write(w io.Writer, r *report.Report, o Options) error {
	t := newText(w, o)
	t.header(r)
	for _, p := range r.Problems {
		t.line("")
		t.problem(p)
	}
	if o.Advice {
		t.advice(r)
	}
	t.unknown(r)
	t.suppressed(r)
	if len(r.Vitals) > 0 {
		t.line("")
		t.vitals(r.Vitals)
	}
	if o.Verbose {
		t.all(r)
	}
	if r.Changes != nil {
		t.line("")
		t.wrapped("", "  ", fmt.Sprintf("since %s, when it was %s:", stamp(r.Changes.From), r.Changes.From.Status))
		t.changes(r.Changes)
	}
	t.line("")
	t.verdict(r)
	return t.w.Flush()
}

type text struct {
	w     *bufio.Writer
	o     Options
	width int
}

func newText(w io.Writer, o Options) *text {
	return &text{w: bufio.NewWriter(w), o: o, width: cmp.Or(o.Width, 80)}
}

func (t *text) line(s string) { t.w.WriteString(strings.TrimRight(s, " ") + "\n") }

// wrapped writes a paragraph behind a first prefix, its other lines behind rest.
func (t *text) wrapped(first, rest, s string) {
	for i, l := range term.Wrap(s, t.width-len([]rune(rest))) {
		if i == 0 {
			t.line(first + l)
		} else {
			t.line(rest + l)
		}
	}
}

func (t *text) header(r *report.Report) {
	c := r.Cluster
	distribution := c.Distribution
	if distribution == "unknown" {
		distribution = ""
	}
	what := strings.TrimSpace(distribution + " " + c.Version)
	parts := []string{cmp.Or(term.Clean(c.Name), "cluster")}
	if what != "" {
		parts = append(parts, term.Clean(what))
	}
	if c.Nodes > 0 {
		parts = append(parts, checks.Count(c.Nodes, "node"))
	}
	var reached []string
	for _, x := range c.Reached {
		reached = append(reached, fmt.Sprintf("%s %d/%d", term.Clean(string(x.Component)), x.Answered, x.Known))
	}
	if c.Mode == "node" {
		parts = append(parts, "the node itself, without the API")
	} else {
		parts = append(parts, cmp.Or(strings.Join(reached, " "), "nothing reached"))
	}
	parts = append(parts, fmt.Sprintf("%.0fs window, took %.1fs", r.WindowSeconds, r.DurationSeconds))
	if r.Source != "live" && r.Source != "node" {
		parts = append(parts, "from "+term.Clean(r.Source)+" of "+r.StartedAt.Format(time.RFC3339))
	}
	t.wrapped("", "  ", strings.Join(parts, " · "))
}

const indent = "          "

// themselves are facts that are shown without a limit: a log's line, what is in a
// pod's way, and the numbers of a quota are the evidence itself.
var themselves = []string{"logs.seen", "placement.seen", "controllers.quota-numbers"}

func (t *text) problem(p report.Problem) {
	t.wrapped(t.status(p.Status, 10), indent, fmt.Sprintf("%s: %s", term.Clean(p.Target.String()), term.Clean(p.Summary)))
	for _, e := range p.Evidence {
		if e.Limit == "" && !slices.Contains(themselves, e.Fact) && !t.o.Verbose {
			continue
		}
		t.wrapped(indent+"- ", indent+"  ", evidence(e))
	}
	t.alsoOn(p.Also)
	t.symptoms(p)
	if len(p.AlsoPossible) > 0 {
		var names []string
		for _, a := range p.AlsoPossible {
			names = append(names, fmt.Sprintf("%s on %s", term.Clean(string(a.Check)), term.Clean(a.Target.String())))
		}
		t.wrapped(indent, indent, "some of it could also come of "+checks.List(names, 3))
	}
	if p.Because != "" {
		t.wrapped(indent, indent, term.Clean(p.Because))
	}
	for i, r := range p.Remedies {
		label := "next:  "
		if i > 0 {
			label = "       "
		}
		title := term.Clean(r.Title)
		if r.Risk != "" && r.Risk != checks.ReadOnly {
			title += " (" + term.Clean(string(r.Risk)) + ")"
		}
		if r.Command == "" {
			t.wrapped(indent+label, indent+"       ", title)
			continue
		}
		t.wrapped(indent+label, indent+"       ", title+":")
		t.line(indent + "       $ " + t.paint(color.FgCyan, term.Clean(r.Command)))
	}
	t.line(indent + t.paint(color.Faint, "rule:  "+term.Clean(p.Doc)))
}

func evidence(e checks.Evidence) string {
	s := fmt.Sprintf("%s %s", term.Clean(e.Field), term.Clean(e.Value))
	if e.Limit != "" {
		s += ", limit " + term.Clean(e.Limit)
		if e.Source != "" {
			s += " (" + term.Clean(e.Source) + ")"
		}
	}
	return s
}

func (t *text) alsoOn(as []report.Also) {
	const most = 4
	for i, a := range as {
		if i == most && !t.o.Verbose {
			t.line(indent + fmt.Sprintf("and on %d more", len(as)-most))
			return
		}
		t.wrapped(indent+"also ", indent+"     ", fmt.Sprintf("%s: %s", term.Clean(a.Target.String()), term.Clean(a.Summary)))
	}
}

func (t *text) advice(r *report.Report) {
	for _, f := range r.Findings {
		if f.Status == checks.Info {
			t.line("")
			t.wrapped(t.status(f.Status, 10), indent, fmt.Sprintf("%s: %s", term.Clean(f.Target.String()), term.Clean(f.Summary)))
			t.line(indent + t.paint(color.Faint, "rule:  ktriage explain "+term.Clean(string(f.Check))))
		}
	}
}

// unknown writes what is not known and nothing explains, grouped by what would
// mend it: ten checks that lack one credential are one line.
func (t *text) unknown(r *report.Report) {
	lacks := r.Lacks()
	var absent []report.Lack // what the evidence, or the recording, does not hold: one block for all of it
	for _, l := range lacks {
		if l.Reason == collectors.NotAsked {
			absent = append(absent, l)
		}
	}
	for _, l := range lacks {
		if len(absent) > 1 && l.Reason == collectors.NotAsked {
			continue
		}
		ids, on := about(l.Findings)
		t.line("")
		t.wrapped(t.status(checks.Unknown, 10), indent, fmt.Sprintf("%s: %s: %s", checks.List(on, 3), term.Clean(string(l.Reason)), term.Clean(l.Detail)))
		t.wrapped(indent+"so not judged: ", indent+"  ", checks.List(ids, 4))
		if l.Remedy != "" {
			t.wrapped(indent+"to know:  ", indent+"          ", term.Clean(l.Remedy))
		}
	}
	if len(absent) > 1 {
		t.line("")
		n := 0
		for _, l := range absent {
			n += len(l.Findings)
		}
		t.wrapped(t.status(checks.Unknown, 10), indent, fmt.Sprintf("%s not judged, for want of:", checks.Count(n, "verdict")))
		const most = 6
		for i, l := range absent {
			if i == most && !t.o.Verbose && len(absent) > most+1 {
				t.line(indent + fmt.Sprintf("- and %d more (-v lists them)", len(absent)-most))
				break
			}
			t.wrapped(indent+"- ", indent+"  ", fmt.Sprintf("%s (%s)", term.Clean(l.Detail), checks.Count(len(l.Findings), "verdict")))
		}
	}
}

// about lists the checks and the targets of findings, each once.
func about(fs []report.Finding) (ids, on []string) {
	for _, f := range fs {
		if id := term.Clean(string(f.Check)); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if n := term.Clean(f.Target.String()); !slices.Contains(on, n) {
			on = append(on, n)
		}
	}
	return ids, on
}

func (t *text) all(r *report.Report) {
	t.line("")
	for _, f := range r.Findings {
		t.wrapped(t.status(f.Status, 11), indent+"  ", fmt.Sprintf("%s %s: %s", term.Clean(string(f.Check)), term.Clean(f.Target.String()), term.Clean(f.Summary)))
	}
}

func (t *text) verdict(r *report.Report) {
	var per []string
	for _, c := range componentsOf(r) {
		per = append(per, fmt.Sprintf("%s %s", term.Clean(c), t.counts(r, func(f report.Finding) bool { return string(f.Component) == c })))
	}
	t.wrapped("checks:   ", indent, strings.Join(per, " · "))
	n := r.Totals
	switch {
	case len(r.Problems) > 0:
		t.wrapped(t.status(r.Status, 10), indent, fmt.Sprintf("%s: %d critical, %d warning; %d unknown%s", checks.Count(len(r.Problems), "problem"), n.Critical, n.Warning, n.Unknown, andSuppressed(n)))
	case n.Unknown > 0:
		t.wrapped(t.status(r.Status, 10), indent, fmt.Sprintf("no trouble in what was seen; %s not judged%s", checks.Count(n.Unknown, "verdict"), andSuppressed(n)))
	case n.OK == 0:
		t.wrapped(t.status(r.Status, 10), indent, "nothing was judged"+butSuppressed(n))
	default:
		t.wrapped(t.status(r.Status, 10), indent, fmt.Sprintf("no trouble found by %s%s", checks.Count(n.OK, "verdict"), andSuppressed(n)))
	}
}

func componentsOf(r *report.Report) []string {
	var out []string
	for _, f := range r.Findings {
		if !slices.Contains(out, string(f.Component)) {
			out = append(out, string(f.Component))
		}
	}
	return out
}
