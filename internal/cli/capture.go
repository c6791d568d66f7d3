package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/events"
	"github.com/ktriage/ktriage/collectors/redact"
	"github.com/ktriage/ktriage/internal/report"
)

func (a *app) capture() *cobra.Command {
	var f sourceFlags
	var k keepFlags
	var file, inspect string
	var deep, withEvents bool
	cmd := &cobra.Command{
		Use:   "capture -o FILE.tar.gz",
		Short: "Record what a run asks and gets, to be judged later or elsewhere",
		Long: `Record what ktriage doctor asks of the cluster and what came back, failures
included, with the control plane's logs and the cluster's events, into one file
that ktriage doctor --from judges as the run did.

Secrets are never asked for, and what no rule reads (environment, arguments and
annotations of workloads) is taken out before it is written. Private keys,
tokens, passwords and e-mail addresses are replaced, each by the same word
wherever it stands; the file lists how many of each. See what is in one before it
is sent: ktriage capture --inspect FILE.tar.gz`,
		Example: `  ktriage capture -o incident.tar.gz
  ktriage capture -o incident.tar.gz --redact-ips
  ktriage capture --inspect incident.tar.gz
  ktriage capture --from ticket.zip -o clean.tar.gz`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case inspect != "" && file != "":
				return usagef("--inspect shows a file, and -o writes one: give one of them")
			case inspect != "":
				return a.inspect(inspect)
			case file == "":
				return usageError{hinted{fmt.Errorf("no file to write to"), "ktriage capture -o FILE.tar.gz"}}
			}
			if err := k.check(); err != nil {
				return err
			}
			o, err := a.origin(&f)
			if err != nil {
				return err
			}
			defer o.close()
			j := judgement{checks: depth(all(), deep)}
			if withEvents {
				j.more = append(j.more, events.Count)
			}
			rep, err := a.recorded(cmd.Context(), o, &f, j, file, k)
			if err != nil {
				return err
			}
			a.note("wrote %s: %d requests, status %s", file, rep.Cost.Requests, rep.Status)
			a.note("hint: see what is in it before you send it: ktriage capture --inspect %s", file)
			if rep.Status == checks.Unknown && len(rep.Vitals) == 0 {
				return exitCode(ExitUnknown)
			}
			return nil
		},
	}
	f.add(cmd.Flags(), true)
	f.addLogs(cmd.Flags(), true)
	k.add(cmd.Flags())
	cmd.Flags().StringVarP(&file, "output", "o", "", "the `FILE`.tar.gz to write; it appears when it is whole")
	cmd.Flags().StringVar(&inspect, "inspect", "", "show what the recording `FILE`.tar.gz holds, and what was taken out of it, and do nothing else")
	cmd.Flags().BoolVar(&withEvents, "events", true, "keep the cluster's events")
	cmd.Flags().BoolVar(&deep, "deep", false, deepUsage)
	return cmd
}

// keepFlags say what a recording keeps.
type keepFlags struct {
	redact, ips bool
	size        string
	most        int64
}

func (k *keepFlags) add(fs *pflag.FlagSet) {
	fs.BoolVar(&k.redact, "redact", true, "replace tokens, passwords and e-mail addresses; private keys always are")
	fs.BoolVar(&k.ips, "redact-ips", false, "replace public IP addresses too")
	fs.StringVar(&k.size, "max-size", "512Mi", "how `much` to keep at most, unpacked; what comes after that is left out, and said to be")
}

func (k *keepFlags) check() error {
	q, err := resource.ParseQuantity(k.size)
	switch {
	case err != nil || q.Value() <= 0:
		return usagef("--max-size %q is no size such as 512Mi", k.size)
	case k.ips && !k.redact:
		return usagef("--redact-ips replaces more than --redact=false lets be replaced")
	}
	k.most = q.Value()
	return nil
}

// apply tells a recorder.
func (k *keepFlags) apply(r *capture.Recorder) {
	if k.redact {
		r.Redacting(redact.New(k.ips))
	}
	r.AtMost(k.most)
}

// usually is what a recording beside another command's work keeps.
func usually() keepFlags { return keepFlags{redact: true} }

// recorded judges and writes the recording. The file appears when it is whole.
func (a *app) recorded(ctx context.Context, o *origin, f *sourceFlags, j judgement, file string, k keepFlags) (*report.Report, error) {
	if st, err := os.Stat(file); err == nil && st.IsDir() {
		return nil, usagef("%s is a folder; name the file to write", file)
	}
	rec, finish, abandon, err := recordTo(file)
	if err != nil {
		return nil, fmt.Errorf("write recording: %w", err)
	}
	k.apply(rec)
	j.recorder = rec
	rep, meta := a.judge(ctx, o, f, j)
	if err := finish(meta); err != nil {
		abandon()
		return nil, fmt.Errorf("write recording %s: %w", file, err)
	}
	if n := rec.Left(); n > 0 {
		a.note("%d replies are left out of %s: it had reached its size (--max-size)", n, file)
	}
	return rep, nil
}
