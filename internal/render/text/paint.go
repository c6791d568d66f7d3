package text

import (
	"fmt"
	"strings"

	"github.com/fatih/color"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
)

func (t *text) paint(c color.Attribute, s string) string { return t.o.paint(s, c) }

func (o Options) faint(s string) string { return o.paint(s, color.Faint) }

func (o Options) paint(s string, cs ...color.Attribute) string {
	if !o.Color {
		return s
	}
	c := color.New(cs...)
	c.EnableColor() // whether there is a terminal was decided by who set Options
	return c.Sprint(s)
}

// status writes a status in upper case, padded to a width.
func (t *text) status(s checks.Status, width int) string {
	name := strings.ToUpper(s.String())
	if s == checks.OutOfScope {
		name = "N/A"
	}
	pad := strings.Repeat(" ", max(1, width-len(name)))
	attr := map[checks.Status][]color.Attribute{
		checks.Critical: {color.FgRed, color.Bold}, checks.Warning: {color.FgYellow, color.Bold},
		checks.Unknown: {color.FgMagenta, color.Bold}, checks.OK: {color.FgGreen, color.Bold}, checks.Info: {color.FgBlue}, checks.Suppressed: {color.FgBlue},
	}[s]
	if attr == nil {
		return name + pad
	}
	return t.o.paint(name, attr...) + pad
}

// counts writes how many findings have which status: "14 ok, 1 critical".
func (t *text) counts(r *report.Report, match func(report.Finding) bool) string {
	n := map[checks.Status]int{}
	for _, f := range r.Findings {
		if match(f) {
			n[f.Status]++
		}
	}
	var out []string
	for _, s := range []checks.Status{checks.Critical, checks.Warning, checks.Unknown, checks.Suppressed, checks.OK} {
		if n[s] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	if len(out) == 0 {
		return "nothing to judge"
	}
	return strings.Join(out, " ")
}
