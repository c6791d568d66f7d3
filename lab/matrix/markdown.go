package matrix

import (
	"fmt"
	"strings"

	"github.com/ktriage/ktriage/lab/build"
)

// Markdown is the table for people to read. It names the versions and no date:
// the same outcome is the same text.
func Markdown(results []Result, v build.Versions) string {
	var b strings.Builder
	right, shapes, quiet := 0, 0, 0
	for _, r := range results {
		switch {
		case r.Fault.Healthy():
			shapes++
			if r.Right() {
				quiet++
			}
		case r.Right():
			right++
		}
	}
	title, command := "The fault matrix", "make matrix"
	if v != build.Default {
		title += " on Kubernetes " + v.Line()
		command += " KUBERNETES=" + v.Line()
	}
	judged := ""
	if len(results) > 0 && results[0].Report.Recorded {
		judged = " Each run was recorded, and this ktriage judged\nthe recordings (`lab matrix -from`)."
	}
	fmt.Fprintf(&b, `# %s

What ktriage says first of each fault, tried on a real control plane (Kubernetes %s, etcd %s, kwok %s for the
kubelets). Written by `+"`%s`"+`; the faults are in [lab/faults](../lab/faults).%s

The cause comes first, with nothing beside it that is not a cause of its own, in %d of %d faults. Nothing is found in
%d of %d healthy clusters. Seconds are those of the run, most of them the window in which it watches; false alarms are
problems that are neither the cause nor explained by it.

`, title, v.Kubernetes, v.Etcd, v.Kwok, command, judged, right, len(results)-shapes, quiet, shapes)
	b.WriteString("| fault | what is broken | first problem | folded beneath | false alarms | seconds | verdict |\n|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		if !r.Fault.Healthy() {
			b.WriteString(r.row())
		}
	}
	b.WriteString("\n| healthy cluster | what it is | found | false alarms | seconds | verdict |\n|---|---|---|---|---|---|\n")
	for _, r := range results {
		if r.Fault.Healthy() {
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %.0f | %s |\n", r.Fault.Name, cell(r.Fault.Doc), cell(r.first()), len(falseAlarms(r.Report, r.Fault)), r.Report.Seconds, r.verdict())
		}
	}
	return b.String()
}

func (r Result) row() string {
	first, folded := cell(r.first()), "–"
	if r.Err == nil && len(r.Report.Problems) > 0 {
		p := r.Report.Problems[0]
		first = fmt.Sprintf("`%s` of %s: %s", p.Check, cell(p.Target), cell(p.Summary))
		if n := len(p.Symptoms); n > 0 {
			folded = fmt.Sprint(n)
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %d | %.0f | %s |\n", r.Fault.Name, cell(r.Fault.Doc), first, folded, len(falseAlarms(r.Report, r.Fault)), r.Report.Seconds, r.verdict())
}

func (r Result) verdict() string {
	switch {
	case r.Err != nil:
		return "not tried"
	case r.Right():
		return "right"
	}
	return "**wrong**: " + cell(strings.Join(r.Wrong, "; "))
}

// cell keeps a text from ending its cell.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}
