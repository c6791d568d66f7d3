package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/internal/pending"
	"github.com/ktriage/ktriage/internal/pendingview"
	"github.com/ktriage/ktriage/internal/report"
)

func (a *app) pending() *cobra.Command {
	var f sourceFlags
	var out form
	var selector string
	cmd := &cobra.Command{
		Use:   "pending [POD]",
		Short: "Tell why pods do not run, and the smallest change that gets them running",
		Long: `Tell of all pods that wait, and of those that could not be created, whose turn it
is and what is in the way, those with the same cause together. Of one POD, named
NAME or NAMESPACE/NAME: each node with all that keeps the pod off it, where the
scheduler names the first thing only, and the smallest changes that would get it
running, each tried on a model of the scheduler first, with the command for it.

What could not be read is named, and no verdict that depends on it is given. It
changes nothing. Exit code 0, or 3 if it could not be seen whether pods wait.`,
		Example: `  ktriage pending
  ktriage pending -n shop -l app=web
  ktriage pending shop/web-5d4f8b6c9-x7k2p
  ktriage pending --from incident.tar.gz -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{hinted{fmt.Errorf("%s takes one pod, got %d", cmd.CommandPath(), len(args)), "see " + cmd.CommandPath() + " --help"}}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			want := wanted{namespace: deref(f.kube.Namespace)}
			var err error
			if want.selector, err = labels.Parse(selector); err != nil {
				return usagef("-l %q is no selector: %v", selector, err)
			}
			if len(args) == 1 {
				if err := want.name(args[0]); err != nil {
					return err
				}
			}
			o, err := a.origin(&f)
			if err != nil {
				return err
			}
			defer o.close()
			ctx, cancel := deadline(cmd.Context(), &f)
			defer cancel()
			return a.tellPending(ctx, o, &f, want, &out)
		},
	}
	f.add(cmd.Flags(), true)
	cmd.Flags().StringVarP(&selector, "selector", "l", "", "only pods with these `labels`, as kubectl takes them")
	out.add(cmd.Flags(), "text", "json", "yaml")
	return cmd
}

// wanted says which pods a run is about.
type wanted struct {
	namespace, pod string // empty for all
	selector       labels.Selector
}

// name takes the argument: NAME, NAMESPACE/NAME or, as kubectl prints it, pod/NAME.
func (w *wanted) name(arg string) error {
	ns, name, ok := strings.Cut(arg, "/")
	switch {
	case !ok:
		w.pod = ns
	case ns == "" || name == "" || strings.Contains(name, "/"):
		return usagef("%q: want a pod's NAME or NAMESPACE/NAME", arg)
	case (ns == "pod" || ns == "pods") && w.namespace != "":
		w.pod = name
	case w.namespace != "" && w.namespace != ns:
		return usagef("%q is not in the namespace %s that -n names", arg, w.namespace)
	default:
		w.namespace, w.pod = ns, name
	}
	return nil
}

func (w wanted) keeps(namespace, name string, ls map[string]string) bool {
	return (w.namespace == "" || w.namespace == namespace) && (w.pod == "" || w.pod == name) && w.selector.Matches(labels.Set(ls))
}

func (w wanted) String() string {
	if w.namespace == "" {
		return w.pod
	}
	return w.namespace + "/" + w.pod
}

// mostChanges is for how many groups the smallest change is worked out.
const mostChanges = 30

func (a *app) tellPending(ctx context.Context, o *origin, f *sourceFlags, want wanted, out *form) error {
	started, window := a.Now(), f.window
	if o.meta != nil {
		started, window = o.meta.StartedAt, seconds(o.meta.WindowSeconds)
	}
	p := a.progress(o, 0)
	snap := collectors.Collect(ctx, o.source, started, 0, collectors.Options{Progress: p.update}, slices.Concat(report.Facts, pending.Facts())...).Snapshot
	p.done()
	var sched pending.Schedulers
	waiters, gap := pods.Waiting.One(snap)
	if pending.Waits(waiters) {
		// A pod that nobody has looked at: whether they work shows over a window only.
		p := a.progress(o, window)
		s := collectors.Collect(ctx, o.source, started, window, collectors.Options{Progress: p.update}, pending.SchedulerFacts()...).Snapshot
		p.done()
		sched = pending.ReadSchedulers(s)
	}
	t := pending.Read(snap, sched, want.keeps, mostChanges)
	text := pendingview.Text
	if want.pod != "" {
		g, w, err := only(t, want, waiters, gap)
		if err != nil {
			return err
		}
		if w != nil {
			text = func(t pending.Table) string { return pendingview.One(t, g, *w) }
		}
	} else {
		for i := range t.Groups {
			t.Groups[i].Trim()
		}
	}
	doc := struct {
		SchemaVersion string      `json:"schemaVersion"`
		Cluster       clusterName `json:"cluster"`
		pending.Table `json:",inline"`
	}{report.SchemaVersion, lookedAt(snap), t}
	if err := out.write(a, doc, func(bool) string { return text(t) }); err != nil {
		return err
	}
	if gap != nil {
		return hinted{fmt.Errorf("it could not be seen whether pods wait"), "the list says why"}
	}
	return nil
}

// only returns the group of the one pod that is wanted, and the pod. There is none
// for the name of a workload whose pods are not created.
func only(t pending.Table, want wanted, waiters pods.Waiters, gap *collectors.Gap) (pending.Group, *pods.Waiter, error) {
	if gap != nil {
		return pending.Group{}, nil, nil
	}
	var found []pods.Waiter
	for _, w := range waiters.Pods {
		if want.keeps(w.Namespace, w.Name, w.Labels) {
			found = append(found, w)
		}
	}
	switch {
	case len(found) == 0 && t.NotCreated > 0:
		return pending.Group{}, nil, nil
	case len(found) == 0:
		return pending.Group{}, nil, hinted{fmt.Errorf("no pod %s waits", want), "it runs, has ended, or does not exist; ktriage pending lists those that wait"}
	case len(found) > 1:
		var names []string
		for _, w := range found {
			names = append(names, w.ID())
		}
		return pending.Group{}, nil, usagef("there are %d pods %s: name one of %s", len(found), want.pod, checks.List(names, 3))
	}
	i := slices.IndexFunc(t.Groups, func(g pending.Group) bool { return g.Turn != pending.NotCreated })
	return t.Groups[i], &found[0], nil
}
