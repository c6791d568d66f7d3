// Package markdown writes a report as Markdown of GitHub's kind, for an issue, a
// chat or the summary of a pipeline's step.
package markdown

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/vitals"
)

// Write writes the report: the verdict, the problems with the most important
// first, what is not known, the numbers, and all verdicts folded away.
func Write(w io.Writer, r *report.Report) error {
	b := bufio.NewWriter(w)
	n := r.Totals
	title := "no trouble found"
	if len(r.Problems) > 0 {
		title = checks.Count(len(r.Problems), "problem")
	} else if n.Unknown > 0 {
		title = "no trouble in what was seen"
	} else if n.OK == 0 {
		title = "nothing was judged"
	}
	fmt.Fprintf(b, "# %s %s: %s\n\n", mark(r.Status), cmp.Or(escape(r.Cluster.Name), "cluster"), title)
	fmt.Fprintf(b, "%s\n\n", strings.Join(about(r), " · "))
	fmt.Fprintf(b, "%d critical · %d warning · %d unknown · %d ok", n.Critical, n.Warning, n.Unknown, n.OK)
	if n.Suppressed > 0 {
		fmt.Fprintf(b, " · %d suppressed", n.Suppressed)
	}
	b.WriteString("\n")
	for _, p := range r.Problems {
		problem(b, p)
	}
	lacks(b, r)
	suppressed(b, r)
	numbers(b, r.Vitals)
	all(b, r)
	return b.Flush()
}

func mark(s checks.Status) string {
	sign := map[checks.Status]string{checks.Critical: "🔴", checks.Warning: "🟡", checks.Unknown: "🟣", checks.OK: "🟢", checks.Info: "🔵", checks.OutOfScope: "⚪", checks.Suppressed: "🔇"}[s]
	return sign + " " + strings.ToUpper(s.String())
}

func about(r *report.Report) []string {
	var out []string
	if v := strings.TrimSpace(strings.TrimPrefix(r.Cluster.Distribution, "unknown") + " " + r.Cluster.Version); v != "" {
		out = append(out, escape(v))
	}
	for _, c := range r.Cluster.Reached {
		out = append(out, fmt.Sprintf("%s %d/%d", escape(string(c.Component)), c.Answered, c.Known))
	}
	if len(r.Cluster.Reached) == 0 {
		out = append(out, "nothing reached")
	}
	return append(out, fmt.Sprintf("%.0fs window from %s", r.WindowSeconds, r.StartedAt.UTC().Format(time.RFC3339)), "from "+escape(r.Source), "ktriage "+escape(r.Tool.Version))
}

func problem(b *bufio.Writer, p report.Problem) {
	fmt.Fprintf(b, "\n## %s %s: %s\n\n", mark(p.Status), escape(p.Target.String()), escape(p.Summary))
	for _, e := range p.Evidence {
		line := paragraph(e.Field) + " **" + escape(e.Value) + "**"
		if e.Limit != "" {
			line += ", limit " + escape(e.Limit)
		}
		if e.Source != "" {
			line += " (" + escape(e.Source) + ")"
		}
		fmt.Fprintf(b, "- %s\n", line)
	}
	for _, a := range p.Also {
		fmt.Fprintf(b, "- also %s: %s\n", escape(a.Target.String()), escape(a.Summary))
	}
	if hops := p.Chain(); len(hops) > 0 {
		var ids []string
		for _, h := range hops {
			ids = append(ids, code(string(h.Check)))
		}
		fmt.Fprintf(b, "\nChain: %s\n", strings.Join(ids, " → "))
	}
	symptoms(b, p.Symptoms)
	if len(p.AlsoPossible) > 0 {
		var names []string
		for _, a := range p.AlsoPossible {
			names = append(names, code(string(a.Check))+" on "+escape(a.Target.String()))
		}
		fmt.Fprintf(b, "\nSome of it could also come of %s.\n", checks.List(names, 3))
	}
	if p.Because != "" {
		fmt.Fprintf(b, "\n%s\n", paragraph(p.Because+"."))
	}
	for i, r := range p.Remedies {
		title := paragraph(r.Title)
		if r.Risk != "" && r.Risk != checks.ReadOnly {
			title += " (" + escape(string(r.Risk)) + ")"
		}
		if i == 0 {
			title = "Next: " + title
		}
		fmt.Fprintf(b, "\n%s\n", title)
		if r.Command != "" {
			fence(b, "sh", r.Command)
		}
	}
	fmt.Fprintf(b, "\nRule: %s\n", code(p.Doc))
}

func symptoms(b *bufio.Writer, ss []report.Symptom) {
	bad := slices.DeleteFunc(slices.Clone(ss), func(s report.Symptom) bool { return !s.Status.Bad() })
	if len(bad) > 0 {
		fmt.Fprintf(b, "\n<details><summary>Explains %s</summary>\n\n", checks.Count(len(bad), "symptom"))
		for _, s := range bad {
			fmt.Fprintf(b, "- %s %s: %s, because %s\n", s.Status, escape(s.Target.String()), escape(s.Summary), escape(s.Because))
		}
		b.WriteString("\n</details>\n")
	}
	if n := len(ss) - len(bad); n > 0 {
		fmt.Fprintf(b, "\nNot judged because of it: %s.\n", checks.Count(n, "verdict"))
	}
}

func lacks(b *bufio.Writer, r *report.Report) {
	ls := r.Lacks()
	if len(ls) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s Not known\n\n", mark(checks.Unknown))
	for _, l := range ls {
		var ids []string
		for _, f := range l.Findings {
			if id := code(string(f.Check)); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		fmt.Fprintf(b, "- %s: %s: %s\n", paragraph(string(l.Reason)), escape(l.Detail), checks.List(ids, 4))
		if l.Remedy != "" {
			fmt.Fprintf(b, "  To know: %s\n", code(l.Remedy))
		}
	}
}

func numbers(b *bufio.Writer, vs []vitals.Vital) {
	if len(vs) == 0 {
		return
	}
	b.WriteString("\n## Vitals\n\n| | of | number |\n|---|---|---|\n")
	for _, v := range vs {
		name, value := strings.TrimSpace(v.Name+" "+v.Of), v.String()
		if v.Component == collectors.Leases {
			name, value = "lease", v.Held()
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", escape(name), escape(v.Target.String()), escape(value))
	}
}

func all(b *bufio.Writer, r *report.Report) {
	fmt.Fprintf(b, "\n<details><summary>All %s</summary>\n\n| status | rule | on | |\n|---|---|---|---|\n", checks.Count(len(r.Findings), "verdict"))
	for _, f := range r.Findings {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", f.Status, escape(string(f.Check)), escape(f.Target.String()), escape(f.Summary))
	}
	b.WriteString("\n</details>\n")
}
