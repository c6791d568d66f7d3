package remediate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/events"
)

// PruneEvents is the kind that deletes Events.
const PruneEvents Kind = "events.prune"

// The arguments of PruneEvents.
const (
	ArgNamespace = "namespace"
	ArgBefore    = "before"  // those that last occurred earlier
	ArgReasons   = "reasons" // for these, separated by commas; all if empty
	ArgLimit     = "limit"   // how many at most
	ArgRate      = "rate"    // how many a second at most
)

const (
	// DefaultOlderThan is how long API servers keep Events by themselves:
	// --event-ttl.
	DefaultOlderThan = Duration(time.Hour)
	// minOlderThan keeps what an operator is about to look at, and what whoever
	// wrote it may still count up.
	minOlderThan = Duration(10 * time.Minute)
	// DefaultRate of deletions a second is a small part of what a control plane
	// writes when it is busy, and each of them is a write of etcd.
	DefaultRate = 50
	maxRate     = 500
	// pruneAtOnce is how many one step deletes: a stop is heeded between steps,
	// and at the default rate one takes ten seconds.
	pruneAtOnce = 500
	// maxPrune is how many one plan deletes. It must fit a file that people read.
	maxPrune = 50000
	// clockSkew is by how much the API server's clock may differ from this
	// machine's, for old to mean the same by both.
	clockSkew = time.Minute
)

// EventsPrune deletes old Events.
var EventsPrune = Recipe{
	ID:    "events-prune",
	Title: "delete Events that are older than --older-than, through the API, at a measured rate",
	Doc: `Deletes Events that last occurred longer ago than --older-than (1h), of --namespaces
and for --reasons if those are given. The plan counts them first. They are saved
to a file, then deleted one by one, each only if it is still the one that was
seen, no faster than --rate a second, and not while API servers turn requests
away. Each deletion is a write of etcd and frees nothing by itself: the space is
free when the history was compacted (etcd-compact), and the file smaller when it
was defragmented (etcd-defrag). While NOSPACE is raised etcd-nospace comes first.`,
	Kube:   true,
	Window: 3 * time.Second,
	facts: func(o Options, at time.Time) []collectors.Any {
		return []collectors.Any{cluster.UID, cluster.Halted, apiserver.Fairness, etcd.RaisedAlarms, events.Old(o.filter(at))}
	},
	plan: planEventsPrune,
}

// filter says which Events the options mean, of a plan that is made at a time.
func (o Options) filter(made time.Time) events.Filter {
	older := o.OlderThan
	if older == 0 {
		older = DefaultOlderThan
	}
	return events.Filter{Before: made.Add(-time.Duration(older)).UTC().Truncate(time.Second), Namespaces: o.Namespaces, Reasons: o.Reasons}
}

func planEventsPrune(p *planner) error {
	t, gap := events.Old(p.Options.filter(p.Created)).One(p.snap)
	if gap != nil {
		return &Refusal{fmt.Errorf("which Events there are is not known: %w", gap), gap.Remedy}
	}
	if t.Skew.Abs() > clockSkew {
		return refusef("set this machine's clock", "the API server's clock and this machine's are %s apart: what is old by one is not by the other", checks.Span(t.Skew.Abs()))
	}
	f := p.Options.filter(p.Created)
	p.note("%s of %d last occurred before %s%s", checks.Count(t.Old, "Event"), t.All, f.Before.Format(time.RFC3339), p.Options.only())
	const told = 20
	for _, g := range t.Groups[:min(len(t.Groups), told)] {
		p.note("  %d in %s for %s (%s), the oldest %s old", g.N, g.Namespace, g.Reason, g.Type, checks.Span(p.snap.At.Sub(g.Oldest)))
	}
	if n := len(t.Groups) - told; n > 0 {
		p.note("  and %s more", checks.Count(n, "group"))
	}
	if t.Old == 0 {
		return nil
	}
	p.note("each is written to %s before it is deleted", p.saved("events", "pruned"))
	p.note("events.k8s.io/v1 shows the same objects: they are gone from both")
	p.note("each deletion is a write of etcd: the space is free after ktriage fix etcd-compact, and the file smaller after ktriage fix etcd-defrag")
	rate := p.Options.Rate
	if rate == 0 {
		rate = DefaultRate
	}
	left := maxPrune
	saved := p.saved("events", "pruned")
	for _, ns := range namespacesOf(t) {
		for n := t.Of(ns); n > 0 && left > 0; n -= pruneAtOnce {
			some := min(n, pruneAtOnce, left)
			left -= some
			p.add(Step{
				Action: Action{Kind: PruneEvents, Target: collectors.Target{Component: collectors.APIServer, Name: "events/" + ns}, Args: map[string]string{
					ArgNamespace: ns, ArgBefore: f.Before.Format(time.RFC3339), ArgReasons: strings.Join(f.Reasons, ","), ArgLimit: strconv.Itoa(some), ArgRate: strconv.Itoa(rate), ArgSaved: saved,
				}},
				Why:    fmt.Sprintf("%s of namespace %s last occurred before %s%s", checks.Count(t.Of(ns), "Event"), ns, f.Before.Format(time.RFC3339), p.Options.only()),
				Effect: fmt.Sprintf("%d writes a second for %s; who watches Events sees them go, nothing else depends on them", rate, checks.Span(time.Duration(max(1, some/rate))*time.Second)),
				Manual: fmt.Sprintf(`kubectl -n %s get events -o json | jq -r '.items[] | select(%s(.lastTimestamp // .eventTime // .metadata.creationTimestamp) < "%s") | .metadata.name' | head -%d | xargs -r kubectl -n %s delete event`, ns, jqReasons(f.Reasons), f.Before.Format(time.RFC3339), some, ns),
				Undo:   "kubectl create -f " + saved + "   # their life in etcd begins anew",
			})
		}
	}
	if left == 0 && t.Old > maxPrune {
		p.note("%d are left for another plan", t.Old-maxPrune)
	}
	return nil
}

// jqReasons is the part of a filter of jq that lets pass only some reasons.
func jqReasons(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	var or []string
	for _, r := range reasons {
		or = append(or, fmt.Sprintf(".reason == %q", r))
	}
	return "(" + strings.Join(or, " or ") + ") and "
}

// only tells what the operator narrowed it to.
func (o Options) only() string {
	s := ""
	if len(o.Reasons) > 0 {
		s = " for " + checks.List(o.Reasons, 5)
	}
	return s
}

// namespacesOf lists the namespaces that have Events that are meant, the one with
// the most of one kind first.
func namespacesOf(t events.Tally) (out []string) {
	for _, g := range t.Groups {
		if !slices.Contains(out, g.Namespace) {
			out = append(out, g.Namespace)
		}
	}
	return out
}

// pruneGuards are the guards and clears of a step that deletes Events.
func (g *gate) pruneGuards(i int) (guards, clears []*checks.Check) {
	calm := []*checks.Check{g.sameCluster(), g.calm(), g.writable()}
	guards = append([]*checks.Check{g.kubeHalt(), g.window(0)}, calm...)
	a := g.plan.Steps[i].Action
	for _, later := range g.plan.Steps[i+1:] {
		if later.Action.Target.Is(a.Target) {
			return guards, calm
		}
	}
	return guards, append(calm, g.pruned(a))
}

// calm demands that API servers have room for more: they answer soon, and turn
// nobody away.
func (g *gate) calm() *checks.Check {
	return guard("cure-apiserver-calm", "API servers answer soon and turn no request away", func(p *checks.Pass) {
		h, gap := checks.One(p, cluster.Halted)
		switch {
		case gap != nil:
			p.Unknown(cluster.Self, gap)
			return
		case h.Took > slowRead:
			p.Warn(cluster.Self, "the API server took %s to read an object", checks.Seconds(h.Took.Seconds()))
			return
		}
		as, gap := checks.All(p, apiserver.Fairness)
		if gap != nil {
			p.Info(cluster.Self, "the API server answers; whether it turns requests away is not known: %v", gap)
			return
		}
		for _, a := range as {
			if a.Gap != nil {
				p.Info(a.Target, "whether it turns requests away is not known: %v", a.Gap)
				continue
			}
			for _, l := range a.Value.Levels {
				if n := l.Refused().Window; n > 0 {
					p.Warn(a.Target, "turned %.0f requests of level %s away in %s", n, l.Name, checks.Span(a.Value.Elapsed))
					return
				}
				if !l.Exempt() && l.Queued[0] > 0 && l.Queued[1] > 0 {
					p.Warn(a.Target, "lets %.0f requests of level %s wait", l.Queued[1], l.Name)
					return
				}
			}
		}
		p.OK(cluster.Self, "the API server answers, and turns no request away")
	}, cluster.Halted, apiserver.Fairness)
}

// writable demands that etcd takes writes, of which a deletion is one. Where etcd
// cannot be asked, the lock of the run shows it: it is a Lease that was written.
func (g *gate) writable() *checks.Check {
	return guard("cure-alarms", "etcd takes writes: no alarm is raised", func(p *checks.Pass) {
		a, gap := checks.One(p, etcd.RaisedAlarms)
		switch {
		case gap != nil:
			p.Info(etcd.Cluster, "its alarms cannot be seen from here (%s); that the lock of the run, a Lease, can be written shows that it takes writes", gap.Reason)
		case len(a.Raised) > 0:
			p.Warn(etcd.Cluster, "%s is raised by %s: a deletion is a write, and frees nothing before history is compacted", a.Raised[0].Type, a.Raised[0].Member)
		case a.Hidden:
			p.Warn(etcd.Cluster, "an alarm is raised")
		default:
			p.OK(etcd.Cluster, "no alarm is raised")
		}
	}, etcd.RaisedAlarms)
}

// pruned demands that none is left that was meant. One that occurred again since
// is not meant any more.
func (g *gate) pruned(a Action) *checks.Check {
	f := events.Filter{Namespaces: []string{a.Args[ArgNamespace]}}
	f.Before, _ = time.Parse(time.RFC3339, a.Args[ArgBefore])
	if r := a.Args[ArgReasons]; r != "" {
		f.Reasons = strings.Split(r, ",")
	}
	old := events.Old(f)
	all := 0
	for _, s := range g.plan.Steps {
		n, _ := strconv.Atoi(s.Action.Args[ArgLimit])
		all += n
	}
	limited := all >= maxPrune
	return guard("cure-pruned", "no Event is left that was meant", func(p *checks.Pass) {
		switch t, gap := checks.One(p, old); {
		case gap != nil:
			p.Unknown(a.Target, gap)
		case t.Old > 0 && !limited:
			p.Warn(a.Target, "%s are left", checks.Count(t.Old, "Event"))
		default:
			p.OK(a.Target, "%s of %d are left", checks.Count(t.Old, "Event"), t.All).Number("left", float64(t.Old))
		}
	}, old)
}
