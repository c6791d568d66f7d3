package cli

import (
	"bytes"
	"fmt"
)

// thresholdsDoc lists what the configuration can move.
func thresholdsDoc(pages map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString(generatedNote + "# Thresholds\n\nThese numbers can be moved by [the configuration](configuration.md). `ktriage config view --all` shows those in force.\n\n" +
		"| check | threshold | default | of what | source |\n|---|---|---|---|---|\n")
	for _, c := range all() {
		for _, t := range c.Thresholds {
			fmt.Fprintf(&b, "| [%s](%s) | `%s` | %s | %s | %s |\n", c.ID, pages[string(c.ID)], t.Name, t, cell(t.Doc), cell(t.Source))
		}
	}
	return b.Bytes()
}
