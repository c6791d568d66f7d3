package markdown

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/ktriage/ktriage/internal/term"
)

// special are the characters that mean something to Markdown within a line, or to
// its extensions on GitHub.
const special = "\\`*_[]!|~$"

// escape makes text out of a cluster mean itself, on one line.
func escape(s string) string {
	var b strings.Builder
	for _, r := range term.Clean(s) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@' || r == '#': // a name or a number behind it would be called, or linked to
			b.WriteString("\\" + string(r) + "<!-- -->")
		case strings.ContainsRune(special, r):
			b.WriteString("\\" + string(r))
		default:
			b.WriteRune(r)
		}
	}
	// These make a link of what stands behind them.
	return strings.NewReplacer("://", "\\://", "www.", "www\\.", "WWW.", "WWW\\.").Replace(b.String())
}

// opening are what begins a list, a rule or a heading at the beginning of a line.
var opening = regexp.MustCompile(`^(\d*)([-+=.)])`)

// paragraph escapes text that begins a line, where more has a meaning.
func paragraph(s string) string {
	return opening.ReplaceAllString(strings.TrimSpace(escape(s)), `${1}\${2}`)
}

// code writes text as code within a line. In a table it would need more: a bar
// ends a cell even there.
func code(s string) string {
	s = term.Clean(s)
	fence := strings.Repeat("`", run(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}

// fence writes a command as a block that can be copied.
func fence(w io.Writer, language, s string) {
	s = term.Clean(s)
	f := strings.Repeat("`", max(3, run(s)+1))
	fmt.Fprintf(w, "%s%s\n%s\n%s\n", f, language, s, f)
}

// run is the length of the longest run of backticks.
func run(s string) int {
	most, n := 0, 0
	for _, r := range s {
		if r != '`' {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}
