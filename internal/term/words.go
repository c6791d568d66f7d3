// Package term makes words fit for a terminal: harmless, and no wider than it.
package term

import (
	"fmt"
	"strings"
	"unicode"
)

// Clean makes text out of a cluster safe for a terminal: what could move the
// cursor, change colours or turn the reading direction is written as a code.
func Clean(s string) string {
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

// Wrap breaks text into lines of at most width columns, at spaces, but not
// between a number and its unit. A word that is longer stands on a line of its
// own.
func Wrap(s string, width int) []string {
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
		w := Columns(word)
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

// Columns counts the columns of a word, without colour codes.
func Columns(s string) int {
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
