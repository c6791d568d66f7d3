package remediate

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

// elected are the components of which one leads.
var elected = []*leases.Elected{scheduler.Elected, controllers.Elected}

// A hanging says in which way a leader hangs.
type hanging int

const (
	works  hanging = iota // or it is not proved that it does not
	silent                // it does not renew its lease, and does not answer
	idle                  // it renews its lease, and does nothing
)

// A leadership is who leads a component, whether it hangs, and who could lead in
// its place.
type leadership struct {
	elected  *leases.Elected
	lease    leases.Lease
	look     leases.Held
	how      hanging
	why      string        // what shows that it hangs, or that it does not
	retry    time.Duration // within which who stands by tries to take the lease
	deadline time.Duration // within which a holder that cannot renew gives up
	standby  string        // who is proved to stand by, and what shows it; empty if nobody is
	lacking  []string      // what others lack to stand by
}

// holder names who leads, and where.
func (l leadership) holder() string {
	return fmt.Sprintf("%s on %s", l.elected.Role, cmp.Or(l.lease.Host(), "no host"))
}

const (
	// lateShare of its duration without a renewal, and a holder has given up or
	// hangs: it has a renew deadline of 10 s for a lease of 15 s.
	// Source: k8s.io/component-base, config/v1alpha1/defaults.go.
	lateShare = 2.0 / 3
	// stuck is beyond what any request of a worker may take.
	stuck = 5 * time.Minute
	// stuckGrowth is how much of a look it must have gone on for.
	stuckGrowth = 0.8
	// shortestLook is the least time over which doing nothing counts.
	shortestLook = 8 * time.Second
)

// leaderships tells of each component of which one instance leads.
var leaderships = &collectors.Fact[leadership]{
	ID:  "remediate.leadership",
	Doc: "who leads each component by its lease, whether it works, and who stands by",
	Needs: []collectors.Any{
		leases.Leases, scheduler.Pending, scheduler.Attempts, controllers.WorkQueues,
		scheduler.Elected.Instances, scheduler.Elected.Health, scheduler.Elected.Claims,
		controllers.Elected.Instances, controllers.Elected.Health, controllers.Elected.Claims,
	},
	Targets: func(*collectors.Snapshot) ([]collectors.Target, error) {
		var out []collectors.Target
		for _, e := range elected {
			out = append(out, e.Self())
		}
		return out, nil
	},
	Derive: func(s *collectors.Snapshot, t collectors.Target) (leadership, error) {
		held, gap := leases.Leases.One(s)
		if gap != nil {
			return leadership{}, gap
		}
		for _, e := range elected {
			if !e.Self().Is(t) {
				continue
			}
			l, ok := held.Of(string(e.Role))
			if !ok {
				return leadership{}, collectors.Gapf(collectors.OutOfScope, "there is no lease of the name %s", e.Role)
			}
			is, gap := e.Instances.Answers(s)
			if gap != nil {
				return leadership{}, gap
			}
			out := leadership{elected: e, lease: l, look: held}
			if err := out.judge(s, is); err != nil {
				return leadership{}, err
			}
			return out, nil
		}
		return leadership{}, collectors.Gapf(collectors.Bug, "%s elects nobody", t)
	},
}

// judge tells whether the holder hangs, and who stands by.
func (l *leadership) judge(s *collectors.Snapshot, is []collectors.Answer[cluster.Instance]) error {
	var holder *collectors.Answer[cluster.Instance]
	for i, x := range is {
		switch {
		case x.Gap != nil:
			l.lacking = append(l.lacking, fmt.Sprintf("%s: %v", x.Target.Name, x.Gap))
		case l.lease.Holder != "" && l.lease.HeldBy(x.Value):
			if holder != nil {
				return collectors.Gapf(collectors.Absent, "two instances run where the holder of the lease, %s, does", l.lease.Holder)
			}
			holder = &is[i]
			l.deadline = flag(x.Value, "leader-elect-renew-deadline", 10*time.Second)
		default:
			why, ready := l.standsBy(s, x)
			if !ready {
				l.lacking = append(l.lacking, x.Target.Name+": "+why)
			} else if l.standby == "" {
				l.standby = why
				l.retry = time.Duration(jitter * float64(flag(x.Value, "leader-elect-retry-period", 2*time.Second)))
			}
		}
	}
	switch age := l.lease.Age(l.look.At); {
	case l.lease.Holder == "" || l.lease.Holder == Nobody:
		l.why = "nobody holds it"
	case l.lease.Duration <= 0 || l.lease.Renewed.IsZero():
		return collectors.Gapf(collectors.Absent, "the lease says neither when it was renewed nor how long it is valid")
	case holder == nil:
		l.why = fmt.Sprintf("its holder, %s, is none of the pods that are known", l.lease.Holder)
	case age > l.late():
		return l.tardy(s, holder.Target, age)
	default:
		return l.busy(s, holder.Target, age)
	}
	return nil
}

// late is how long a holder may not have renewed before it is judged to be late.
func (l *leadership) late() time.Duration {
	return max(l.deadline, time.Duration(lateShare*float64(l.lease.Duration)))
}

// jitter is by what a candidate's pause between two tries grows at most.
// Source: client-go, tools/leaderelection, JitterFactor.
const jitter = 1.2

// flag is a duration of an instance's command line. The defaults are those of
// k8s.io/component-base, config/v1alpha1/defaults.go.
func flag(i cluster.Instance, name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(i.Flag(name, "")); err == nil && d > 0 {
		return d
	}
	return otherwise
}

// standsBy reports whether an instance is proved to stand by, and what shows it
// or what is lacking.
func (l *leadership) standsBy(s *collectors.Snapshot, x collectors.Answer[cluster.Instance]) (why string, ready bool) {
	if leases.Stopped(x.Value) || x.Value.Started.IsZero() {
		return "no container of it runs", false
	}
	h, gap := l.elected.Health.Of(s, x.Target)
	if gap != nil {
		return "its health is not known: " + gap.Error(), false
	}
	if !h.OK() {
		return fmt.Sprintf("it finds itself unwell (%d %s)", h.Status, strings.Join(h.Failing, ", ")), false
	}
	switch c, gap := l.elected.Claims.Of(s, x.Target); {
	case gap != nil:
		return "whether it takes part in the election is not known: " + gap.Error(), false
	case !c.Elects:
		return "it takes part in no election", false
	case c.Leads || c.Led:
		return "it takes itself for the leader", false
	case c.Looks < 2:
		return "it was seen only once", false
	}
	return x.Target.Name + " stands by: it is healthy and takes part in the election", true
}

// tardy judges a holder that does not renew.
func (l *leadership) tardy(s *collectors.Snapshot, t collectors.Target, age time.Duration) error {
	h, gap := l.elected.Health.Of(s, t)
	switch {
	case age > l.lease.Duration+2*l.retry && l.standby != "":
		l.why = fmt.Sprintf("it ran out %s ago and nobody took it, though %s: a free one would not be taken either", checks.Span(age-l.lease.Duration), l.standby)
	case gap == nil:
		l.why = fmt.Sprintf("%s did not renew the lease for %s, and answers: it may not reach the API server (%d %s)", t.Name, checks.Span(age), h.Status, strings.Join(h.Failing, ", "))
	case gap.Reason != collectors.Timeout && gap.Reason != collectors.Unreachable:
		return gap
	default:
		l.how = silent
		l.why = fmt.Sprintf("it did not renew the lease for %s, of %s that it is valid, and does not answer: %s", checks.Span(age), checks.Span(l.lease.Duration), gap.Reason)
	}
	return nil
}

// busy judges a holder that renews.
func (l *leadership) busy(s *collectors.Snapshot, t collectors.Target, age time.Duration) error {
	l.why = fmt.Sprintf("%s renewed it %s ago and works", t.Name, checks.Span(age))
	if l.elected == scheduler.Elected {
		q, gap := scheduler.Pending.Of(s, t)
		n, gap2 := scheduler.Attempts.Of(s, t)
		switch {
		case gap != nil || gap2 != nil:
			return l.unseen(cmp.Or(gap, gap2), age)
		case q.Broken != "" || n.Elapsed < shortestLook:
			return collectors.Gapf(collectors.Absent, "it was looked at for only %s %s", checks.Span(n.Elapsed), q.Broken)
		case q.Now.Active > 0 && q.Before.Active > 0 && n.Total() == 0:
			l.how = idle
			l.why = fmt.Sprintf("it renews the lease, and tried no pod in %s though %s next", checks.Span(n.Elapsed), areNext(q.Now.Active))
		case n.Total() == 0:
			l.why = fmt.Sprintf("%s renewed it %s ago, and no pod is waiting to be tried", t.Name, checks.Span(age))
		}
		return nil
	}
	q, gap := controllers.WorkQueues.Of(s, t)
	switch {
	case gap != nil:
		return l.unseen(gap, age)
	case q.Broken != "" || q.Elapsed < shortestLook:
		return collectors.Gapf(collectors.Absent, "it was looked at for only %s %s", checks.Span(q.Elapsed), q.Broken)
	}
	for _, x := range q.By {
		if x.Longest > stuck && float64(x.Longest-x.LongestBefore) >= stuckGrowth*float64(q.Elapsed) {
			l.how = idle
			l.why = fmt.Sprintf("it renews the lease, and a worker of controller %s is at one object for %s and does not get done", x.Name, checks.Span(x.Longest))
			return nil
		}
	}
	return nil
}

// unseen is why it is not known whether a holder works.
func (l *leadership) unseen(gap *collectors.Gap, age time.Duration) error {
	return collectors.Gapf(gap.Reason, "it renewed the lease %s ago and is late after %s, and its metrics cannot be had: %s", checks.Span(age), checks.Span(l.late()), gap.Detail)
}

func areNext(n float64) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%.0f are", n)
}

// nobodyReady tells why nobody is proved to stand by.
func (l leadership) nobodyReady() error {
	if len(l.lacking) == 0 {
		return errors.New("there is no other instance")
	}
	return errors.New(strings.Join(l.lacking, "; "))
}
