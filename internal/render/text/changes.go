package text

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/fatih/color"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

// Changes writes what a report says otherwise than an earlier one.
func Changes(c *report.Changes, o Options) string {
	var b bytes.Buffer
	t := newText(&b, o)
	t.wrapped("", "  ", fmt.Sprintf("%s · from %s, %s, to %s, %s", cmp.Or(term.Clean(c.To.Cluster), "cluster"),
		stamp(c.From), c.From.Status, stamp(c.To), c.To.Status))
	t.changes(c)
	t.w.Flush()
	return b.String()
}

func stamp(s report.Side) string { return s.StartedAt.UTC().Format("2006-01-02 15:04:05Z") }

// said is how a kind of change is told, in the width that a status has.
var said = map[report.ChangeKind]string{
	report.NewTrouble: "NEW", report.Worse: "WORSE", report.Unseen: "UNSEEN", report.Better: "BETTER", report.Gone: "GONE", report.Seen: "SEEN",
}

var shade = map[report.ChangeKind]color.Attribute{
	report.NewTrouble: color.FgRed, report.Worse: color.FgRed, report.Unseen: color.FgMagenta, report.Better: color.FgGreen, report.Gone: color.FgGreen, report.Seen: color.FgGreen,
}

func (t *text) changes(c *report.Changes) {
	if c.Differs != "" {
		t.line("")
		t.wrapped("note:     ", indent, term.Clean(c.Differs))
	}
	counts := map[report.ChangeKind]int{}
	under := map[int][]report.Change{} // those that belong to that with this number
	for _, x := range c.Changes {
		counts[x.Kind]++
		if x.Of > 0 {
			under[x.Of] = append(under[x.Of], x)
		}
	}
	for i, x := range c.Changes {
		if x.Of > 0 && !t.o.Verbose || quiet(x.Kind) && !t.o.Verbose {
			continue
		}
		t.line("")
		t.change(x, under[i+1])
	}
	t.line("")
	var words []string
	for _, k := range []report.ChangeKind{report.NewTrouble, report.Worse, report.Unseen, report.Better, report.Gone, report.Seen} {
		if counts[k] > 0 {
			words = append(words, fmt.Sprintf("%d %s", counts[k], k))
		}
	}
	if len(words) == 0 {
		words = []string{"nothing has changed"}
	}
	if c.Same > 0 {
		words = append(words, fmt.Sprintf("%d as bad as before", c.Same))
	}
	t.wrapped("changes:  ", indent, strings.Join(words, " · "))
	if !t.o.Verbose && (counts[report.Unseen]+counts[report.Seen] > 0 || len(under) > 0) {
		t.wrapped(indent, indent, "-v tells each")
	}
}

// quiet is of what is counted only: verdicts that were not to be had, or are
// again, which come by the dozen and are no trouble by themselves.
func quiet(k report.ChangeKind) bool { return k == report.Seen || k == report.Unseen }

func (t *text) change(x report.Change, under []report.Change) {
	word := said[x.Kind]
	if word == "" {
		word = strings.ToUpper(term.Clean(string(x.Kind)))
	}
	label := t.paint(shade[x.Kind], word) + strings.Repeat(" ", max(1, 10-len(word)))
	now := x.After
	if now == nil {
		now = x.Before
	}
	if now == nil {
		now = &report.Verdict{}
	}
	status := now.Status.String()
	if x.Before != nil && x.After != nil {
		status = x.Before.Status.String() + " → " + x.After.Status.String()
	} else if x.After == nil {
		status = "was " + status
	}
	t.wrapped(label, indent, fmt.Sprintf("%s %s: %s", status, term.Clean(x.Target.String()), term.Clean(now.Summary)))
	if x.Kind == report.Gone || x.Kind == report.Better {
		if x.Before != nil && x.After != nil {
			t.wrapped(indent, indent, "before: "+term.Clean(x.Before.Summary))
		}
	}
	if x.Note != "" {
		t.wrapped(indent, indent, term.Clean(x.Note))
	}
	if words := alongWith(under, now.Status); words != "" {
		t.wrapped(indent, indent, words)
	}
	t.line(indent + t.paint(color.Faint, "rule:  ktriage explain "+term.Clean(string(x.Check))))
}

// alongWith counts what changed along with a problem: symptoms, which are trouble
// or were, and verdicts that are not to be had while it lasts, which are none.
func alongWith(under []report.Change, status checks.Status) string {
	symptoms, gaps, again := 0, 0, 0
	for _, c := range under {
		switch c.Kind {
		case report.Unseen:
			gaps++
		case report.Seen:
			again++
		default:
			symptoms++
		}
	}
	var words []string
	if symptoms > 0 {
		s := checks.Count(symptoms, "symptom")
		if worst := worstOf(under); worst.Bad() && worst.Severity() > status.Severity() {
			s += ", the worst of them " + worst.String()
		}
		words = append(words, s)
	}
	if gaps > 0 {
		words = append(words, checks.Count(gaps, "verdict")+" not to be had")
	}
	if again > 0 {
		words = append(words, checks.Count(again, "verdict")+" to be had again")
	}
	if len(words) == 0 {
		return ""
	}
	return "with it: " + strings.Join(words, "; ")
}

// worstOf is the worst trouble that changes are about, before or after.
func worstOf(cs []report.Change) checks.Status {
	worst := checks.OK
	for _, c := range cs {
		for _, v := range []*report.Verdict{c.Before, c.After} {
			if v != nil && v.Status.Bad() && v.Status.Severity() > worst.Severity() {
				worst = v.Status
			}
		}
	}
	return worst
}
