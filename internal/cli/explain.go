package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) explain() *cobra.Command {
	return &cobra.Command{
		Use:         "explain CHECK",
		Annotations: map[string]string{configured: "yes"},
		Short:       "Show a rule's page: what it looks at, why it matters, what to do",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{hinted{fmt.Errorf("explain takes the ID of one check, got %d arguments", len(args)), "ktriage checks lists them"}}
			}
			for _, c := range a.rules() {
				if string(c.ID) == args[0] {
					fmt.Fprint(a.Stdout, c.Page(a.conf.tuned.Tuning))
					return nil
				}
			}
			hint := "ktriage checks lists them"
			if near := a.nearest(args[0]); near != "" {
				hint = "did you mean " + near + "?"
			}
			return usageError{hinted{fmt.Errorf("there is no check %q", args[0]), hint}}
		},
	}
}

// nearest returns the ID that contains the word, or whose words it contains most of.
func (a *app) nearest(word string) string {
	best, most := "", 0
	for _, c := range a.rules() {
		id, n := string(c.ID), 0
		for _, part := range strings.Split(word, "-") {
			if part != "" && strings.Contains(id, part) {
				n += len(part)
			}
		}
		if n > most {
			best, most = id, n
		}
	}
	return best
}

func (a *app) checks() *cobra.Command {
	return &cobra.Command{
		Use:         "checks",
		Annotations: map[string]string{configured: "yes"},
		Short:       "List every rule with the healthy state that it demands",
		Args:        noArgs,
		RunE: func(*cobra.Command, []string) error {
			width := 0
			for _, c := range a.rules() {
				width = max(width, len(c.ID))
			}
			for _, c := range a.rules() {
				fmt.Fprintf(a.Stdout, "%-*s  %s\n", width, c.ID, c.Title)
			}
			return nil
		},
	}
}
