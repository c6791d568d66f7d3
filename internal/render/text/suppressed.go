package text

import (
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

// suppressed writes what the user has said to know, what has expired of that,
// and which checks were not run because they are turned off.
func (t *text) suppressed(r *report.Report) {
	lines := r.SuppressionLines()
	const most = 6
	for i, l := range lines {
		if i == 0 {
			t.line("")
		}
		if i == most && !t.o.Verbose && len(lines) > most+1 {
			t.line(t.status(checks.Suppressed, 11) + fmt.Sprintf("and %d more (-v shows them)", len(lines)-most))
			break
		}
		label := t.status(checks.Suppressed, 11)
		if l.Expired {
			label = "EXPIRED    "
		}
		t.wrapped(label, indent+" ", term.Clean(l.Text))
	}
	if len(r.Off) > 0 {
		var ids []string
		for _, id := range r.Off {
			ids = append(ids, term.Clean(string(id)))
		}
		most := 4
		if t.o.Verbose {
			most = len(ids)
		}
		t.line("")
		t.wrapped("", indent, fmt.Sprintf("not run, turned off by the configuration: %s", checks.List(ids, most)))
	}
}

func andSuppressed(n report.Totals) string {
	if n.Suppressed == 0 {
		return ""
	}
	return fmt.Sprintf("; %d suppressed", n.Suppressed)
}

func butSuppressed(n report.Totals) string {
	if n.Suppressed == 0 {
		return ""
	}
	return fmt.Sprintf(" that is not suppressed; %s suppressed", checks.Count(n.Suppressed, "verdict"))
}
