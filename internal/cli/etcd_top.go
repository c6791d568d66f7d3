package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/keyspace"
	"github.com/ktriage/ktriage/internal/etcdview"
)

func (a *app) etcdTop() *cobra.Command {
	var f sourceFlags
	var out form
	opts := keyspace.Options{Depth: 1}
	var limit int
	var order, record string
	var fromMetrics bool
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show what fills the store and what is written to it, by resource",
		Long: `Show which resources take how many keys and bytes of etcd's store, how often
their keys were written since they were made (revs/key), and what was written
while ktriage watched: writes a second, and how many keys were added or removed.
Then the keys that were written most, in the window and ever, and the largest.

The keys are read page by page out of one follower's own copy, with pauses as
long as the pages take, at most 16 MiB a second, and no longer than etcd stays
fast. Of a resource with more keys than --sample, the first that many are weighed
and the others counted; its size is then an estimate, marked with ~. Of values only the
length is kept; no value leaves the process that reads it or gets into a
recording. What was written in the window comes out of the history that etcd
keeps anyway.

Where etcd cannot be read, as with a managed control plane, the API servers'
own counts are shown: objects by resource, their growth and writes, and from
1.34 on an estimate of their size. This is said, and can be chosen with
--from-metrics.

Exit codes: 0, 3 not all could be read, 64 wrong usage.`,
		Example: `  ktriage etcd top
  ktriage etcd top --depth 2 --limit 50           by namespace, too
  ktriage etcd top --prefix /registry/events/ --sample 0
  ktriage etcd top --sort writes --window 30s     who writes most
  ktriage etcd top --from-metrics                 by the API servers' counts
  ktriage etcd top -o json | jq '.groups[] | [.resource, .keys, .bytes]'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case out.check() != nil:
				return out.check()
			case opts.Depth < 1 || opts.Depth > 2:
				return usagef("--depth %d: want 1, by resource, or 2, by namespace too", opts.Depth)
			case opts.Sample < 0:
				return usagef("--sample %d: want how many keys of each resource to weigh, or 0 for all", opts.Sample)
			case limit < 0:
				return usagef("--limit %d: want how many rows to show, or 0 for all", limit)
			case !slices.Contains(etcdview.Orders, order):
				return usagef("--sort %q: want one of %s", order, strings.Join(etcdview.Orders, ", "))
			}
			o, err := a.origin(&f)
			if err != nil {
				return err
			}
			defer o.close()
			ctx, cancel := deadline(cmd.Context(), &f)
			defer cancel()
			rec, keep, err := a.keeping(o, &f, record)
			if err != nil {
				return err
			}
			doc := a.top(ctx, o, &f, rec, opts, fromMetrics)
			if err := keep(); err != nil {
				return err
			}
			left := doc.Sort(order, limit)
			if err := out.write(a, doc, func(wide bool) string { return doc.Text(wide, left) }); err != nil {
				return err
			}
			if doc.Stopped != "" || len(doc.Gaps) > 0 && (!fromMetrics || len(doc.Groups) == 0) {
				return exitCode(ExitUnknown)
			}
			return nil
		},
	}
	f.add(cmd.Flags(), true)
	usualWindow(cmd.Flags(), &f, 10*time.Second, "how long to watch what is written, at least")
	t := cmd.Flags().Lookup("timeout")
	f.timeout, t.DefValue, t.Usage = 5*time.Minute, "5m0s", "how long to read at most; what was read by then is shown"
	out.add(cmd.Flags(), "text", "wide", "json", "yaml")
	cmd.Flags().StringVar(&opts.Prefix, "prefix", "", "read only keys that begin with this, as `/registry/`; all if empty. A prefix that etcd has for another use (--etcd-prefix) goes here too")
	cmd.Flags().IntVar(&opts.Depth, "depth", 1, "1: a row a resource; 2: a row a resource and namespace")
	cmd.Flags().Int64Var(&opts.Sample, "sample", 5000, "how many keys of each row to weigh before the rest is only counted; 0 weighs all")
	cmd.Flags().IntVar(&limit, "limit", 20, "how many rows to show; 0 shows all")
	cmd.Flags().StringVar(&order, "sort", "bytes", "which rows come first: "+strings.Join(etcdview.Orders, ", "))
	cmd.Flags().StringVar(&record, "record", "", "also write a recording of this very run to `FILE`.tar.gz; it holds the names of keys and no value")
	cmd.Flags().BoolVar(&fromMetrics, "from-metrics", false, "show the API servers' counts, without asking etcd")
	return cmd
}

// top reads the store, or else what the API servers count.
func (a *app) top(ctx context.Context, o *origin, f *sourceFlags, rec *capture.Recorder, opts keyspace.Options, fromMetrics bool) *etcdview.Top {
	var why *collectors.Gap
	if !fromMetrics {
		reader, gap := etcdview.WhomToRead(a.look(ctx, o, f, rec, etcdview.TopFacts...))
		if gap == nil {
			var u *keyspace.Usage
			opts.Addr, opts.Window = reader.Addr, f.window
			if u, gap = a.scan(ctx, o, rec, opts); gap == nil {
				return etcdview.NewTop(o.name, reader, opts.Prefix, u)
			}
		}
		why = gap
	}
	return etcdview.NewStoreTop(a.look(ctx, o, f, rec, etcdview.StoreTopFacts...), o.name, why)
}

// scan reads the keys, with its progress on standard error.
func (a *app) scan(ctx context.Context, o *origin, rec *capture.Recorder, opts keyspace.Options) (*keyspace.Usage, *collectors.Gap) {
	opts.Wait = sleep
	if o.meta != nil {
		opts.Wait = func(context.Context, time.Duration) error { return nil }
		opts.Window = seconds(o.meta.WindowSeconds)
	}
	live, last := a.StderrTTY && o.meta == nil, time.Time{}
	opts.Progress = func(keys, bytes int64, at string) {
		now := a.Now()
		switch {
		case live && now.Sub(last) > 200*time.Millisecond:
			fmt.Fprintf(a.Stderr, "\r\x1b[K%.79s", fmt.Sprintf("ktriage: %d keys, %s, at %q", keys, checks.Bytes(bytes), at))
			last = now
		case !live && o.meta == nil && now.Sub(last) > 10*time.Second:
			if !last.IsZero() {
				a.note("read %d keys, %s, so far", keys, checks.Bytes(bytes))
			}
			last = now
		}
	}
	src := o.source
	if rec != nil {
		src = recording{src, rec}
	}
	u, err := keyspace.Scan(ctx, src, opts)
	if live {
		fmt.Fprint(a.Stderr, "\r\x1b[K")
	}
	return u, collectors.AsGap(err, collectors.Unreachable)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
