package cli

import (
	"github.com/spf13/cobra"

	"github.com/ktriage/ktriage/internal/diff"
	"github.com/ktriage/ktriage/internal/render"
)

func (a *app) diff() *cobra.Command {
	var out form
	var look outputFlags
	var failOn string
	cmd := &cobra.Command{
		Use:   "diff FROM TO",
		Short: "Tell what a saved report says otherwise than an earlier one",
		Long: `Compare two reports that were saved by doctor -o json: what is new, worse, better
or gone. Trouble that was not looked for again, or cannot be judged now, is not
gone: it is unseen. One of the two may be - for standard input.

Exit codes are about what is new, worse or unseen alone: 0 nothing, 1 a warning,
2 critical, 3 unseen, 64 wrong usage. The worst wins: critical, unseen, warning.`,
		Example: `  ktriage diff monday.json tuesday.json
  ktriage doctor -o json | ktriage diff before.json - -o json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError{hinted{usagef("diff takes two saved reports, the earlier one first, got %d arguments", len(args)), "see " + cmd.CommandPath() + " --help"}}
			}
			if args[0] == "-" && args[1] == "-" {
				return usagef("only one of the two reports can come from standard input")
			}
			bar, err := parseFailOn(failOn)
			if err != nil {
				return err
			}
			if err := out.check(); err != nil {
				return err
			}
			look.format = "text"
			if err := look.check(); err != nil {
				return err
			}
			from, err := a.saved("diff", args[0])
			if err != nil {
				return err
			}
			to, err := a.saved("diff", args[1])
			if err != nil {
				return err
			}
			c := diff.Compare(from, to)
			if err := out.write(a, c, func(bool) string { return render.Changes(c, look.options(a)) }); err != nil {
				return err
			}
			return exitFor(c.Status, bar)
		},
	}
	out.add(cmd.Flags(), "text", "json", "yaml")
	look.addLook(cmd.Flags())
	cmd.Flags().StringVar(&failOn, "fail-on", "warning", "the least that makes the exit code other than 0: warning, unknown, critical or never")
	return cmd
}
