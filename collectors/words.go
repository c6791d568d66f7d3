package collectors

import "strings"

// OneLine cuts a text out of a cluster to one line of at most so many bytes and
// an ellipsis. It holds on to nothing of the text, which may be a large reply.
func OneLine(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.Clone(s)
}
