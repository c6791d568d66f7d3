package markdown

import (
	"bufio"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
)

// suppressed writes what the user has said to know, and which checks are off.
func suppressed(b *bufio.Writer, r *report.Report) {
	lines := r.SuppressionLines()
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n## %s Suppressed\n\n", mark(checks.Suppressed))
	}
	for _, l := range lines {
		fmt.Fprintf(b, "- %s\n", escape(l.Text))
	}
	if len(r.Off) > 0 {
		var ids []string
		for _, id := range r.Off {
			ids = append(ids, code(string(id)))
		}
		fmt.Fprintf(b, "\nNot run, turned off by the configuration: %s.\n", checks.List(ids, len(ids)))
	}
}
