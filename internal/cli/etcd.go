package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
)

func (a *app) etcd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "etcd",
		Short: "Look into etcd: its members, what fills it, how fast it is",
		Long: `Look into the etcd under the control plane. It is reached as ktriage doctor
reaches it: by --etcd-endpoints and its certificate flags, by etcdctl's
ETCDCTL_* variables, by what is found on a control-plane node, or else by its
metrics through the Kubernetes API. Where none of these leads to it, as with a
managed control plane, the API servers' own numbers are shown, and it is said.`,
		Example: `  ktriage etcd status                 all members in one table
  ktriage etcd top                    what fills the store, and what is written
  ktriage etcd perf                   how fast reads, disk and peers are`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{hinted{fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath()), "see " + cmd.CommandPath() + " --help"}}
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(a.etcdStatus(), a.etcdTop(), a.etcdPerf())
	return cmd
}

// usualWindow changes how long is watched if --window is not given.
func usualWindow(fs *pflag.FlagSet, f *sourceFlags, d time.Duration, usage string) {
	w := fs.Lookup("window")
	f.window, w.DefValue, w.Usage = d, d.String(), usage
}

// look collects facts from an origin, with a line of progress.
func (a *app) look(ctx context.Context, o *origin, f *sourceFlags, rec *capture.Recorder, facts ...collectors.Any) *collectors.Snapshot {
	started, window := a.Now(), f.window
	if o.meta != nil {
		started, window = o.meta.StartedAt, seconds(o.meta.WindowSeconds)
	}
	p := a.progress(o, window)
	defer p.done()
	opts := collectors.Options{Progress: p.update}
	if rec != nil {
		opts.Recorder = rec
	}
	return collectors.Collect(ctx, o.source, started, window, opts, facts...).Snapshot
}
