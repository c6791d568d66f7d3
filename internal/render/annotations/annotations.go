// Package annotations writes a report as the commands by which a step of GitHub
// Actions annotates its run.
package annotations

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

// Write writes a line a problem, and a line a lack: what is not known is no
// trouble, and no peace either. Symptoms stand in the message of their problem.
func Write(w io.Writer, r *report.Report) error {
	out := bufio.NewWriter(w)
	for _, p := range r.Problems {
		level := "warning"
		if p.Status == checks.Critical {
			level = "error"
		}
		lines := []string{fmt.Sprintf("%s: %s", p.Target, p.Summary)}
		if n := len(p.Also); n > 0 {
			lines = append(lines, fmt.Sprintf("the same on %d more", n))
		}
		bad := 0
		for _, s := range p.Symptoms {
			if s.Status.Bad() {
				bad++
			}
		}
		if bad > 0 {
			lines = append(lines, fmt.Sprintf("explains %s", checks.Count(bad, "symptom")))
		}
		for _, x := range p.Remedies {
			line := "next: " + x.Title
			if x.Command != "" {
				line += ": " + x.Command
			}
			lines = append(lines, line)
			break
		}
		lines = append(lines, "rule: "+p.Doc)
		command(out, level, string(p.Check), lines)
	}
	for _, l := range r.Lacks() {
		lines := []string{fmt.Sprintf("%s not judged: %s: %s", checks.Count(len(l.Findings), "verdict"), l.Reason, l.Detail)}
		if l.Remedy != "" {
			lines = append(lines, "to know: "+l.Remedy)
		}
		command(out, "notice", "unknown", lines)
	}
	for _, line := range r.SuppressionLines() {
		command(out, "notice", "suppressed", []string{line.Text})
	}
	n := r.Totals
	command(out, "notice", "ktriage", []string{fmt.Sprintf("%s: %s; %d critical, %d warning, %d unknown, %d ok", r.Status, checks.Count(len(r.Problems), "problem"), n.Critical, n.Warning, n.Unknown, n.OK)})
	return out.Flush()
}

// command writes one command. A line break, or a colon in a property, would end
// what is data and begin what is obeyed.
func command(w io.Writer, level, title string, lines []string) {
	for i := range lines {
		lines[i] = term.Clean(lines[i])
	}
	fmt.Fprintf(w, "::%s title=%s::%s\n", level, property.Replace(term.Clean(title)), data.Replace(strings.Join(lines, "\n")))
}

var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
