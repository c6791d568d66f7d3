package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/live"
	"github.com/ktriage/ktriage/internal/etcdview"
	"github.com/ktriage/ktriage/remediate"
	writer "github.com/ktriage/ktriage/remediate/live"
)

func (a *app) etcdPerf() *cobra.Command {
	var f sourceFlags
	var out form
	var reads int
	var load, record, state string
	var loadFor time.Duration
	cmd := &cobra.Command{
		Use:   "perf",
		Short: "Measure how fast etcd is; writes only with --load",
		Long: `Measure how fast every member of etcd is, without writing: the time of a number
of reads from its own copy (serializable) and with the word of the leader
(linearizable), and out of its metrics over the window how long log syncs,
commits, applies and round trips to its peers take. The verdicts are those of
ktriage doctor's rules, and each number's limit is shown with its source.

With --load it also writes, as etcdctl check perf does, and judges as that does:
s 150, m 1000, l 8000, xl 15000 writes a second of 1 KiB for --load-for. Then
  - it is refused unless all of doctor's rules on etcd are ok, advice or out of scope
    (three on the flags of its pods may be unknown, without a kubeconfig), every
    member is healthy, and the database with all that is written stays
    below 60% of its quota on every member;
  - it writes at most 1000 keys, over and over, under a prefix of its own that
    Kubernetes does not read, and deletes them at the end, also after Ctrl-C;
    if ktriage is killed, they expire by a lease;
  - no cure and no other load may be under way, by the locks that ktriage apply
    takes, and a journal tells who made it and when;
  - it ends at once if a write takes over 5 s, 10 fail, or the leader changes;
  - it compacts nothing: what it wrote stays in the history until the API
    server's next compaction, and the database file may stay larger. Never run
    l or xl on a cluster that serves.

Exit codes: 0 ok, 1 warning (also a load that fails), 2 critical, 3 something
could not be judged or the load was refused, 64 wrong usage.`,
		Example: `  ktriage etcd perf
  ktriage etcd perf --reads 100 --window 30s
  ktriage etcd perf --load s
  ktriage etcd perf --load m --load-for 60s -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if reads < 1 || reads > 500 {
				return usagef("--reads %d: want 1 to 500 of each kind from each member", reads)
			}
			series := etcd.ReadSeries(reads)
			if load != "" {
				l, err := remediate.NewWriteLoad(load, loadFor, writer.NewPrefix())
				switch {
				case err != nil:
					return usageError{err}
				case len(f.from) > 0:
					return usagef("--load writes to a cluster; a recording takes no writes")
				case record != "":
					return usagef("--load cannot be recorded")
				}
				return a.perfLoad(cmd.Context(), &f, &out, state, l, series)
			}
			if cmd.Flags().Changed("load-for") {
				return usagef("--load-for is of --load, which is not given")
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
			doc := etcdview.NewPerf(a.look(ctx, o, &f, rec, etcdview.PerfFacts(series)...), o.name, series, false)
			if err := keep(); err != nil {
				return err
			}
			if err := out.write(a, doc, doc.Text); err != nil {
				return err
			}
			return exitFor(doc.Status, checks.Warning.Severity())
		},
	}
	f.add(cmd.Flags(), true)
	usualWindow(cmd.Flags(), &f, 10*time.Second, "how long to watch the histograms of log syncs, commits and round trips")
	qps := cmd.Flags().Lookup("max-qps")
	f.qps, qps.DefValue = 50, "50"
	out.add(cmd.Flags(), "text", "json", "yaml")
	cmd.Flags().IntVar(&reads, "reads", 30, "how many reads of each kind to time on each member")
	cmd.Flags().StringVar(&load, "load", "", "WRITE to etcd: a load of size s, m, l or xl; see above for what holds it back")
	cmd.Flags().DurationVar(&loadFor, "load-for", 20*time.Second, "how long the load lasts, 5s to 1m")
	cmd.Flags().StringVar(&state, "state-dir", "", "`folder` of the journal and the lock of a load; /var/lib/ktriage for root, else $XDG_STATE_HOME/ktriage or ~/.local/state/ktriage")
	cmd.Flags().StringVar(&record, "record", "", "also write a recording of this very run to `FILE`.tar.gz")
	return cmd
}

// fresh collects from a source of its own, as each look has a window of its own.
func (a *app) fresh(ctx context.Context, f *sourceFlags, window time.Duration, facts ...collectors.Any) (*collectors.Snapshot, live.EtcdClients, error) {
	g := *f
	g.window, g.timeout = window, max(f.timeout, window+30*time.Second)
	o, err := a.live(&g)
	if err != nil {
		return nil, live.EtcdClients{}, err
	}
	defer o.close()
	ctx, cancel := deadline(ctx, &g)
	defer cancel()
	snap := a.look(ctx, o, &g, nil, facts...)
	return snap, o.source.(*live.Source).EtcdClients(), nil
}

// perfLoad makes the test of writes, if the cluster is fit for it.
func (a *app) perfLoad(ctx context.Context, f *sourceFlags, out *form, state string, l remediate.WriteLoad, series *collectors.Fact[etcd.Series]) error {
	if err := f.check(); err != nil {
		return err
	}
	dir, err := a.stateDir(state)
	if err != nil {
		return err
	}
	recipe, _ := remediate.Find("etcd-defrag") // which tells who the members are that a lock is taken of
	a.note("looking whether etcd is fit for it")
	before, clients, err := a.fresh(ctx, f, f.window, slices.Concat(checks.Facts(l.LoadChecks()), recipe.StateFacts(), []collectors.Any{etcd.Members})...)
	if err != nil {
		return err
	}
	if no := remediate.WhyNot(checks.Run(before, l.LoadChecks())); len(no) > 0 {
		return hinted{fmt.Errorf("the load is refused, and nothing was written:\n  %s", oneLines(no)), "ktriage doctor shows what to do about it; ktriage etcd perf without --load measures without writing"}
	}
	w := &writer.Load{TLS: clients.TLS, Version: version(), Progress: func(done int, of string) { a.progressNote("%d of %s writes", done, of) }}
	if w.Endpoints, err = writeTo(before, clients); err != nil {
		return fmt.Errorf("the load is refused, and nothing was written: %w", err)
	}
	of, err := recipe.ReadState(before)
	if err != nil {
		return fmt.Errorf("the load is refused, and nothing was written: %w", err)
	}
	journal, err := writer.OpenJournal(filepath.Join(dir, "journal"), l.ID())
	if err != nil {
		return err
	}
	defer journal.Close()
	who := a.who()
	var kube writer.KubeLock
	if conf, err := f.kube.ToRESTConfig(); err == nil && of.Kubernetes {
		if k, err := writer.NewKube(conf, "ktriage/"+version()); err == nil {
			kube = k
		}
	}
	act := writer.New(writer.Config{State: of, Agent: "ktriage/" + version(), TLS: func(addr string) (*tls.Config, error) {
		if clients.Plain(addr) {
			return nil, nil
		}
		return clients.TLS, nil
	}})
	lock, err := act.Acquire(ctx, dir, fmt.Sprintf("%s@%s pid %d, %s", who.User, who.Host, who.PID, l.ID()), kube)
	if err != nil {
		return fmt.Errorf("the load is refused, and nothing was written: %w", err)
	}
	defer lock.Release()
	a.note("journal %s; locked by %s", journal.Name(), lock.Kinds())
	looks := func(ctx context.Context, cs []*checks.Check) []checks.Finding {
		snap, _, err := a.fresh(ctx, f, time.Second, checks.Facts(cs)...)
		if err != nil {
			return nil
		}
		return checks.Run(snap, cs)
	}
	var during *collectors.Snapshot
	write := func(ctx context.Context, x remediate.WriteLoad) error {
		a.note("writing up to %d times, %d a second for %s, at most %s, below %s; Ctrl-C ends it and cleans up", l.Writes(), l.Rate, l.For, checks.Bytes(l.Bytes()), l.Prefix)
		var wg sync.WaitGroup
		wg.Go(func() { during, _, _ = a.quiet().fresh(ctx, f, l.For, etcdview.PerfFacts(series)...) })
		err := w.Do(ctx, x)
		if err != nil && ctx.Err() != nil {
			a.note("interrupted")
		}
		wg.Wait()
		return err
	}
	run := &remediate.LoadRun{Load: l, Look: looks, Do: write, Lock: lock, Journal: remediate.NewJournal(journal, nil), Clock: writer.Clock{}, Who: who}
	begun, err := run.Run(ctx)
	if !begun || during == nil {
		return fmt.Errorf("the load was not made: %w", err)
	}
	doc := etcdview.NewPerf(during, "live", series, true)
	doc.AddLoad(w.Result)
	if err := out.write(a, doc, doc.Text); err != nil {
		return err
	}
	switch {
	case err != nil && w.Result.Left != 0:
		return fmt.Errorf("%w", err)
	case err != nil:
		a.complain(err)
		if errors.Is(ctx.Err(), context.Canceled) {
			return exitCode(ExitUnknown)
		}
	}
	return exitFor(doc.Status, checks.Warning.Severity())
}

// writeTo lists the members' addresses. All must be spoken to in one way.
func writeTo(s *collectors.Snapshot, c live.EtcdClients) ([]string, error) {
	m, gap := etcd.Members.One(s)
	if gap != nil {
		return nil, gap
	}
	var out []string
	plain := 0
	for _, x := range m.Members {
		switch {
		case !x.Started || x.Client == "" || x.Learner:
			continue
		case c.Plain(x.Client):
			plain++
			out = append(out, "http://"+x.Client)
		default:
			out = append(out, "https://"+x.Client)
		}
	}
	if len(out) == 0 || plain > 0 && plain < len(out) {
		return nil, fmt.Errorf("etcd's members are not known by addresses that one client can use")
	}
	return out, nil
}

// quiet is the same program without a terminal to draw progress on.
func (a *app) quiet() *app {
	b := *a
	b.StderrTTY = false
	return &b
}

func (a *app) progressNote(format string, args ...any) {
	if a.StderrTTY {
		a.note(format, args...)
	}
}

// oneLines puts each text on a line of its own, made safe for a terminal.
func oneLines(all []string) string {
	var out []string
	for _, s := range all {
		out = append(out, etcdview.Clean(s))
	}
	return strings.Join(out, "\n  ")
}
