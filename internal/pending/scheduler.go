package pending

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/collectors/scheduler"
	"github.com/ktriage/ktriage/internal/fit"
)

const defaultScheduler = "default-scheduler"

// slow is how long a pod may wait for the first look of a scheduler that works.
// At 100 pods a second, which is what the project tests for, 30 s are a queue of
// 3000. Source: kubernetes/community, sig-scalability/slos.
const slow = 30 * time.Second

// Schedulers is what is known of whether they work.
type Schedulers struct {
	Asked    bool
	Leader   string // who leads, by the metrics
	Attempts float64
	Elapsed  time.Duration
	Active   float64 // pods to be tried next
	Served   []string
	Held     leases.Held
	Gap      *collectors.Gap // why the leases are not known
	Dark     *collectors.Gap // why no leader's metrics are
}

// SchedulerFacts are the facts that ReadSchedulers reads. They watch counters over
// the run's window, and are worth it only while a pod waits for a first look.
func SchedulerFacts() []collectors.Any {
	return []collectors.Any{scheduler.Attempts, scheduler.Pending, scheduler.Elected.Leads, leases.Leases}
}

// ReadSchedulers reads them.
func ReadSchedulers(s *collectors.Snapshot) Schedulers {
	out := Schedulers{Asked: true}
	out.Held, out.Gap = leases.Leases.One(s)
	as, gap := scheduler.Attempts.Answers(s)
	out.Dark = gap
	for _, a := range as {
		if a.Gap != nil {
			out.Dark = cmp.Or(out.Dark, a.Gap)
			continue
		}
		out.Served = append(out.Served, a.Value.Profiles...)
		if l, gap := scheduler.Elected.Leads.Of(s, a.Target); gap == nil && l.Leads {
			out.Leader, out.Attempts, out.Elapsed = a.Target.Name, a.Value.Total(), a.Value.Elapsed
			if q, gap := scheduler.Pending.Of(s, a.Target); gap == nil {
				out.Active = q.Now.Active
			}
		}
	}
	return out
}

// Waits reports whether any pod waits for a scheduler's first look for longer than
// that takes, so that the schedulers are worth a look.
func Waits(w pods.Waiters) bool {
	return slices.ContainsFunc(w.Pods, func(x pods.Waiter) bool {
		return x.Cause == pods.Ignored && !x.Deleting && w.At.Sub(x.Since) > atOnce
	})
}

// ignored explains a pod of which no scheduler has said anything.
func (g *grouper) ignored(x *Group, w pods.Waiter) {
	s := g.in.Schedulers
	age := g.in.Waiters.At.Sub(w.Since)
	if w.Since.IsZero() {
		age = 0
	}
	x.Turn, x.key = NoScheduler, w.Scheduler
	custom := w.Scheduler != defaultScheduler && !slices.Contains(s.Served, w.Scheduler)
	l, found := s.Held.Of("kube-scheduler")
	switch {
	case age <= atOnce:
		x.Turn = Scheduler
		x.Cause = fmt.Sprintf("it is %s old and the scheduler's to look at", checks.Span(age))
	case custom:
		x.Cause = fmt.Sprintf("it asks for scheduler %s, which kube-scheduler is not known to serve, and nobody has looked at it in %s", w.Scheduler, checks.Span(age))
		x.Evidence = append(x.Evidence, s.lockOf(w.Scheduler))
	case s.Asked && s.Gap == nil && found && !l.Fresh(s.Held.At):
		x.Cause = fmt.Sprintf("no scheduler leads, and nobody has looked at it in %s", checks.Span(age))
		x.Evidence = append(x.Evidence, fmt.Sprintf("the lease %s was last renewed %s ago, by %s", l.ID(), checks.Span(l.Age(s.Held.At)), cmp.Or(l.Host(), "nobody")))
	case s.Leader != "" && s.Attempts == 0 && s.Elapsed > 0:
		x.Cause = fmt.Sprintf("the scheduler on %s leads and places nothing: it has not looked at it in %s", s.Leader, checks.Span(age))
		x.Evidence = append(x.Evidence, fmt.Sprintf("0 attempts in %s, with %s to be tried next", checks.Span(s.Elapsed), checks.Count(s.Active, "pod")))
	case s.Leader != "" && s.Elapsed > 0:
		x.Turn = Scheduler
		x.Cause = fmt.Sprintf("the scheduler is behind: it has not looked at it in %s", checks.Span(age))
		if age <= slow {
			x.Cause = fmt.Sprintf("it has waited for %s for the scheduler, which works", checks.Span(age))
		}
		x.Evidence = append(x.Evidence, fmt.Sprintf("%s leads and made %s in %s, with %s to be tried next", s.Leader, checks.Count(s.Attempts, "attempt"), checks.Span(s.Elapsed), checks.Count(s.Active, "pod")))
	case s.Asked && s.Gap == nil && found:
		x.Cause = fmt.Sprintf("the scheduler on %s holds the lease and has not looked at it in %s", l.Host(), checks.Span(age))
		x.Evidence = append(x.Evidence, dark(s.Dark))
	default:
		x.Cause = fmt.Sprintf("no scheduler has looked at it in %s", checks.Span(age))
		if s.Asked && s.Gap == nil {
			x.Evidence = append(x.Evidence, "there is no lease of a kube-scheduler")
		} else {
			x.Evidence = append(x.Evidence, "whether a scheduler leads is not known"+reason(s.Gap))
		}
	}
	g.would(x, w)
}

func dark(g *collectors.Gap) string { return "whether it works is not known" + reason(g) }

func reason(g *collectors.Gap) string {
	if g == nil {
		return ""
	}
	return ": " + g.Error()
}

// would adds what the model says of a pod that nobody has looked at, where there
// is a model.
func (g *grouper) would(x *Group, w pods.Waiter) {
	if g.model == nil {
		return
	}
	p := g.in.World.Find(w.Namespace, w.Name)
	if p == nil {
		return
	}
	switch v := g.model.Judge(p); v.State {
	case fit.Fits:
		x.Evidence = append(x.Evidence, "it fits on "+checks.Count(len(v.Fits), "node"))
	case fit.Unschedulable:
		cause, _ := because(v)
		x.Evidence = append(x.Evidence, "it would fit on no node then: "+cause)
	}
}

// lockOf says what the leases tell of a scheduler of somebody's own. One that was
// told to elect by the lock of kube-scheduler waits for it for ever.
func (s Schedulers) lockOf(name string) string {
	if !s.Asked || s.Gap != nil {
		return "whether it runs is not known" + reason(s.Gap)
	}
	for _, l := range s.Held.Leases {
		if strings.Contains(l.Name, name) {
			if l.Fresh(s.Held.At) {
				return fmt.Sprintf("%s holds the lease %s and does not look at it", l.Host(), l.ID())
			}
			return fmt.Sprintf("nobody holds the lease %s", l.ID())
		}
	}
	return "no lease has its name: it does not run, elects nobody, or waits for the lock of another"
}
