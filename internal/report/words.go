package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/fatih/color"

	"github.com/ktriage/ktriage/checks"
)

// Clean makes text out of a cluster fit for a terminal.
func Clean(s string) string { return clean(s) }

// clean makes text out of a cluster safe for a terminal: what could move the
// cursor, change colours or turn the reading direction is written as a code.
func clean(s string) string {
	if !strings.ContainsFunc(s, unsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unsafe(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar || !unicode.IsPrint(r) && r != ' '
}

// wrap breaks text into lines of at most width columns, at spaces, but not
// between a number and its unit. A word that is longer stands on a line of its
// own.
func wrap(s string, width int) []string {
	var words []string
	for _, w := range strings.Split(s, " ") {
		if n := len(words); n > 0 && isUnit(w) && endsInDigit(words[n-1]) {
			words[n-1] += " " + w
			continue
		}
		words = append(words, w)
	}
	var lines []string
	line, n := "", 0
	for _, word := range words {
		w := columns(word)
		if n > 0 && n+1+w > width {
			lines = append(lines, line)
			line, n = "", 0
		}
		if n > 0 {
			line += " "
			n++
		}
		line += word
		n += w
	}
	return append(lines, line)
}

// isUnit reports whether a word, without the punctuation behind it, is a unit.
func isUnit(w string) bool {
	switch strings.TrimRight(w, ",;:.)") {
	case "s", "ms", "µs", "B", "KiB", "MiB", "GiB", "TiB":
		return true
	}
	return false
}

func endsInDigit(w string) bool { return w != "" && w[len(w)-1] >= '0' && w[len(w)-1] <= '9' }

// columns counts the columns of a word, without colour codes.
func columns(s string) int {
	n, escape := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			n++
		}
	}
	return n
}

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
		checks.Unknown: {color.FgMagenta, color.Bold}, checks.OK: {color.FgGreen, color.Bold}, checks.Info: {color.FgBlue},
	}[s]
	if attr == nil {
		return name + pad
	}
	return t.o.paint(name, attr...) + pad
}

// counts writes how many findings have which status: "14 ok, 1 critical".
func (t *text) counts(r *Report, match func(Finding) bool) string {
	n := map[checks.Status]int{}
	for _, f := range r.Findings {
		if match(f) {
			n[f.Status]++
		}
	}
	var out []string
	for _, s := range []checks.Status{checks.Critical, checks.Warning, checks.Unknown, checks.OK} {
		if n[s] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	if len(out) == 0 {
		return "nothing to judge"
	}
	return strings.Join(out, " ")
}

// Wrap breaks text into lines of at most width columns, at spaces.
func Wrap(s string, width int) []string { return wrap(s, width) }

// Columns counts the columns of a word, without colour codes.
func Columns(s string) int { return columns(s) }
