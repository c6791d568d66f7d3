package cli

import (
	"github.com/spf13/cobra"
)

func (a *app) render() *cobra.Command {
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "render FILE",
		Short: "Write a saved report in another form",
		Long: `Write a report that was saved by doctor -o json or -o yaml in another form. All
that it says was judged when it was made; nothing is asked or judged again.
FILE is - for standard input.

Exit code 0 if it could be written, 64 if FILE is no report.`,
		Example: `  ktriage render -o html report.json > report.html
  ktriage render -o sarif report.json
  ktriage doctor -o json | tee report.json | ktriage render -`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{hinted{usagef("render takes one saved report, got %d arguments", len(args)), "see " + cmd.CommandPath() + " --help"}}
			}
			if err := out.check(); err != nil {
				return err
			}
			rep, err := a.saved("render", args[0])
			if err != nil {
				return err
			}
			return out.write(a, rep)
		},
	}
	out.add(cmd.Flags())
	return cmd
}
