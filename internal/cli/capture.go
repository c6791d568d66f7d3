package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
)

func (a *app) capture() *cobra.Command {
	var f sourceFlags
	var file string
	var deep bool
	cmd := &cobra.Command{
		Use:   "capture -o FILE.tar.gz",
		Short: "Record what a run asks and gets, to be judged later or elsewhere",
		Long: `Record what ktriage doctor asks of the cluster and what came back, failures
included, into one file that ktriage doctor --from judges as the run did.
Secrets are never asked for, and what no rule reads (environment, arguments and
annotations of workloads) is taken out before it is written.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return usageError{hinted{fmt.Errorf("no file to write to"), "ktriage capture -o FILE.tar.gz"}}
			}
			o, err := a.origin(&f)
			if err != nil {
				return err
			}
			defer o.close()
			rep, err := a.recorded(cmd.Context(), o, &f, judgement{checks: depth(all(), deep)}, file)
			if err != nil {
				return err
			}
			a.note("wrote %s: %d requests, status %s", file, rep.Cost.Requests, rep.Status)
			if rep.Status == checks.Unknown && len(rep.Vitals) == 0 {
				return exitCode(ExitUnknown)
			}
			return nil
		},
	}
	f.add(cmd.Flags(), false)
	f.addLogs(cmd.Flags(), true)
	cmd.Flags().StringVarP(&file, "output", "o", "", "the `FILE`.tar.gz to write; it appears when it is whole")
	cmd.Flags().BoolVar(&deep, "deep", false, deepUsage)
	return cmd
}

// recorded judges and writes the recording. The file appears when it is whole.
func (a *app) recorded(ctx context.Context, o *origin, f *sourceFlags, j judgement, file string) (*report.Report, error) {
	if st, err := os.Stat(file); err == nil && st.IsDir() {
		return nil, usagef("%s is a folder; name the file to write", file)
	}
	rec, finish, abandon, err := recordTo(file)
	if err != nil {
		return nil, fmt.Errorf("write recording: %w", err)
	}
	j.recorder = rec
	rep, meta := a.judge(ctx, o, f, j)
	if err := finish(meta); err != nil {
		abandon()
		return nil, fmt.Errorf("write recording %s: %w", file, err)
	}
	return rep, nil
}
