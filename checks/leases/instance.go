package leases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/leases"
)

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
	marks  []string // what kind of trouble: "healthz", "pod", "silent", how it ended, what fails
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
		s.is, s.marks = dead, []string{"healthz"}
		for _, f := range h.Failing {
			s.marks = append(s.marks, "failing="+f)
		}
		s.why = fmt.Sprintf("answers %d to /healthz", h.Status)
		if len(h.Failing) > 0 {
			s.why += ": " + checks.List(h.Failing, 3) + " failed"
		}
	case holds:
		s.is, s.why = alive, fmt.Sprintf("leads, by its lease; /healthz: %s", gap.Reason)
	case !i.Ready:
		s.is, s.marks, s.why = dead, []string{"pod"}, podTrouble(i)
		if i.LastExit != "" {
			s.marks = append(s.marks, "exit="+i.LastExit)
		}
	case wayWorks && boundToLoopback(i) && (gap.Reason == collectors.Unreachable || gap.Reason == collectors.Timeout):
		s.is, s.marks = dead, []string{"silent"}
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
		for _, m := range s.marks {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
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
