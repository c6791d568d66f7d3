package leases

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/leases"
)

// DownNeeds are the facts that Down reads: those of the component, and of a
// neighbour by which it is known whether the way to a node works.
func DownNeeds(e, neighbour *leases.Elected) []collectors.Any {
	return []collectors.Any{e.Instances, e.Health, leases.Leases, neighbour.Health}
}

// Down judges whether a component has healthy instances, by what each says of
// itself, by the kubelet's account of its pod, and by the lease: who renews it
// is alive, whatever else could not be learned.
func Down(p *checks.Pass, e, neighbour *leases.Elected) {
	election := lookAtLease(p, e)
	instances, gap := checks.All(p, e.Instances)
	if gap != nil {
		downUnseen(p, e, election, gap)
		return
	}
	if electionOff(p, e) {
		election.found = false
	}
	ways := reached(p, e, neighbour)
	var states []state
	for _, a := range instances {
		if a.Gap != nil {
			p.Unknown(a.Target, a.Gap)
			continue
		}
		h, gap := checks.Of(p, e.Health, a.Target)
		s := judge(a.Value, h, gap, election.holds(a.Value), ways[a.Target.Node])
		s.target = a.Target
		states = append(states, s)
	}
	up := count(states, alive)
	if up == 0 && !election.fresh() && (count(states, doubtful) == 0 || election.expired()) {
		p.Critical(e.Self(), "%s%s", none(states), election.words()).
			Saw(e.Instances, "healthy", "0", fmt.Sprintf("of %d", len(states)), downSource).
			Saw(leases.Leases, "lease", election.short(), "", "").
			Number("instances", float64(len(states))).Mark(marks(states)...)
		return
	}
	for _, s := range states {
		st := checks.OK
		if s.is == dead {
			st = checks.Warning
		}
		v := p.Judge(s.target, st, "%s", s.words(len(states)-count(states, dead), len(states))).Saw(e.Instances, "ready", fmt.Sprint(s.ready), "", "")
		if s.health != "" {
			v.Saw(e.Health, "/healthz", s.health, "200", "")
		}
		v.Number("healthy", float64(up)).Number("instances", float64(len(states)))
		if s.is == dead {
			v.Mark(s.mark)
		}
	}
}

const downSource = "kubernetes-mixin KubeSchedulerDown, KubeControllerManagerDown"

// downUnseen judges a component whose pods are not known.
func downUnseen(p *checks.Pass, e *leases.Elected, el election, gap *collectors.Gap) {
	switch {
	case gap.Reason == collectors.OutOfScope:
		p.Unknown(e.Self(), gap)
	case el.fresh():
		p.OK(e.Self(), "an instance works: %s; its pods are not known (%s)", el.short(), gap.Reason).Saw(leases.Leases, "lease", el.short(), "", "")
	case el.expired():
		p.Critical(e.Self(), "nobody leads and no instance is known to work (pods: %s)%s", gap.Reason, el.words()).Saw(leases.Leases, "lease", el.short(), "", "")
	default:
		p.Unknown(e.Self(), gap)
	}
}

// An election is what the lease tells about a component.
type election struct {
	lease leases.Lease
	held  leases.Held
	found bool
	gap   *collectors.Gap
}

func lookAtLease(p *checks.Pass, e *leases.Elected) election {
	held, gap := checks.One(p, leases.Leases)
	el := election{held: held, gap: gap}
	if gap == nil {
		el.lease, el.found = held.Of(string(e.Role))
	}
	return el
}

func (el election) fresh() bool   { return el.found && el.lease.Fresh(el.held.At) }
func (el election) expired() bool { return el.found && stand(el.lease, el.held.At) == lost }

func (el election) holds(i cluster.Instance) bool {
	return el.fresh() && el.lease.HeldBy(i)
}

// short says what the lease is, without a verdict.
func (el election) short() string {
	switch {
	case el.gap != nil:
		return "not known: " + el.gap.Error()
	case !el.found:
		return "there is none"
	case el.lease.Holder == "":
		return fmt.Sprintf("released %s ago", ago(el.lease.Age(el.held.At)))
	}
	return fmt.Sprintf("%s renewed it %s ago", el.lease.Host(), ago(el.lease.Age(el.held.At)))
}

// words ends a sentence on an outage.
func (el election) words() string {
	if !el.expired() {
		return ""
	}
	return "; " + lastOf(el)
}

// ago writes an age. Below a second it is not known: see leases.Lease.Age.
func ago(d time.Duration) string {
	if d < time.Second {
		return "under 1s"
	}
	return checks.Span(d)
}

type life int

const (
	doubtful life = iota // its pod is ready; it could not be asked itself
	alive
	dead
)

// A state is what is known of one instance.
type state struct {
	target collectors.Target
	is     life
	why    string
	mark   string // what kind of trouble
	health string
	ready  bool
}

// judge weighs what is known of an instance. Its own answer counts most; then
// that it renews the lease; then the kubelet's account of its pod, which may be
// old; then that it alone does not answer where others on its node do.
func judge(i cluster.Instance, h leases.Health, gap *collectors.Gap, holds, wayWorks bool) state {
	s := state{ready: i.Ready}
	if gap == nil {
		s.health = fmt.Sprint(h.Status)
	} else {
		s.health = string(gap.Reason)
	}
	switch {
	case gap == nil && h.OK():
		s.is, s.why = alive, "healthy"
		if holds {
			s.why = "healthy, leads"
		}
	case gap == nil:
		s.is, s.mark = dead, "healthz"
		s.why = fmt.Sprintf("answers %d to /healthz", h.Status)
		if len(h.Failing) > 0 {
			s.why += ": " + checks.List(h.Failing, 3) + " failed"
		}
	case holds:
		s.is, s.why = alive, fmt.Sprintf("leads, by its lease; /healthz: %s", gap.Reason)
	case !i.Ready:
		s.is, s.mark, s.why = dead, "pod", podTrouble(i)
	case wayWorks && boundToLoopback(i) && (gap.Reason == collectors.Unreachable || gap.Reason == collectors.Timeout):
		s.is, s.mark = dead, "silent"
		s.why = "its pod is ready, but it does not answer where others on its node do: " + string(gap.Reason)
	default:
		s.why = fmt.Sprintf("its pod is ready; /healthz: %s", gap.Reason)
	}
	return s
}

func podTrouble(i cluster.Instance) string {
	why := "its pod is not ready"
	if i.Waiting != "" {
		why = i.Waiting
	} else if i.Phase != "" && i.Phase != "Running" {
		why = "its pod is " + string(i.Phase)
	}
	if i.LastExit != "" {
		why += ", ended last with " + i.LastExit
	}
	return why
}

// boundToLoopback reports whether a port-forward, which ends at the loopback
// address, meets the instance's port.
func boundToLoopback(i cluster.Instance) bool {
	return slices.Contains([]string{"127.0.0.1", "0.0.0.0", "::", "::1"}, i.Flag("bind-address", "0.0.0.0"))
}

// reached names the nodes on which some instance, of the component or of its
// neighbour, gave an answer of any kind.
func reached(p *checks.Pass, es ...*leases.Elected) map[string]bool {
	out := map[string]bool{}
	for _, e := range es {
		as, _ := checks.All(p, e.Health)
		for _, a := range as {
			if a.Gap == nil {
				out[a.Target.Node] = true
			}
		}
	}
	return out
}

func (s state) words(left, all int) string {
	if s.is == dead {
		return fmt.Sprintf("%s; %d of %d instances are left", s.why, left, all)
	}
	return s.why
}

// none says that no instance works, and why not.
func none(states []state) string {
	var each []string
	same := true
	for _, s := range states {
		each = append(each, s.target.Name+": "+s.why)
		same = same && s.why == states[0].why
	}
	what := fmt.Sprintf("none of %d instances is healthy: ", len(states))
	switch {
	case len(states) == 1:
		return "its only instance is not healthy: " + states[0].why
	case same && states[0].is == doubtful:
		return fmt.Sprintf("no instance leads, and none of %d could be asked: %s", len(states), states[0].why)
	case same:
		return what + states[0].why
	}
	return what + strings.Join(each[:min(len(each), 3)], "; ")
}

func marks(states []state) []string {
	var out []string
	for _, s := range states {
		if s.mark != "" && !slices.Contains(out, s.mark) {
			out = append(out, s.mark)
		}
	}
	return out
}

func count(states []state, is life) (n int) {
	for _, s := range states {
		if s.is == is {
			n++
		}
	}
	return n
}
