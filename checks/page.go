package checks

import (
	"fmt"
	"strings"
)

// Page is the check's page, with its thresholds as they are now.
func (c *Check) Page(t Tuning) string {
	page := strings.TrimSpace(c.Doc) + "\n"
	if len(c.Thresholds) == 0 {
		return page
	}
	var b strings.Builder
	b.WriteString(page + "\n## Thresholds\n")
	for _, x := range c.Thresholds {
		fmt.Fprintf(&b, "- `%s`: %s %s (%s)", x.Name, x, x.Doc, x.Source)
		if m, ok := t[c.ID][x.Name]; ok {
			fmt.Fprintf(&b, "; here %s (%s)", x.Unit.Format(m.Value), m.From)
		}
		b.WriteString("\n")
	}
	return b.String()
}
