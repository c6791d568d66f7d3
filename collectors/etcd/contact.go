package etcd

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// A Contact is whether a member answers, in whatever way. At most one of By,
// Down and Gap is set.
type Contact struct {
	By   string        // what it answered with: "its status"; empty if it did not
	Took time.Duration // of its status; 0 if that is not what it answered with
	// Down is the evidence that it does not run, or is cut off from the
	// others: more than that we could not reach it.
	Down string
	// Since is since when a member that is down does not answer, or its pod is
	// not ready; zero if that is not known.
	Since time.Time
	// Gap is why nothing is known: we did not reach it, and nothing says that
	// the others do not.
	Gap *collectors.Gap
	// Hangs says that it lets those who ask it wait, where a member that is
	// gone would turn them away at once.
	Hangs bool
	// Runs says that it runs all the same: its peers are connected to it.
	Runs bool
}

// Reached tells which members answer, and of those that do not whether they
// are down or only out of our reach.
var Reached = &collectors.Fact[Contact]{
	ID:      "etcd.contact",
	Doc:     "whether each member answers in any way, and if not, whether there is evidence that it is down",
	Needs:   []collectors.Any{Members, Status, ServerMetrics, PeerMetrics, HealthEndpoint, WhoIsWho},
	Targets: MemberTargets,
	Derive: func(s *collectors.Snapshot, t collectors.Target) (Contact, error) {
		m := member(s, t)
		st, stGap := Status.Of(s, t)
		sv, svGap := ServerMetrics.Of(s, t)
		_, hGap := HealthEndpoint.Of(s, t)
		who, _ := WhoIsWho.One(s)
		heard, deaf := peersSay(s, t, who.IDs[t.Name])
		why := failure(stGap, svGap)
		silent := svGap == nil && sv.Lost != nil
		switch {
		case silent && heard == 0 && deaf > 0:
			return Contact{Down: fmt.Sprintf("it stopped answering while it was watched, and %s: %s", notHeard(deaf), sv.Lost.Detail), Since: s.At}, nil
		case stGap == nil:
			return Contact{By: "its status", Took: st.Took}, nil
		case svGap == nil && !silent:
			return Contact{By: "its metrics"}, nil
		case hGap == nil && !silent:
			return Contact{By: "its health endpoint"}, nil
		case silent:
			why = sv.Lost
		}
		rpc, scrape := others(s, t)
		// A process that has ended is known to its kubelet, and its port is
		// closed; one that is frozen or cut off keeps its connections. Only
		// whose host answers for it has closed them.
		hangs := why.Reason == collectors.Timeout || m.Pod != "" && m.Waiting == "" || why.Kind == collectors.NoRoute || why.Kind == collectors.NoReaction
		switch {
		case heard > 0 && deaf == 0:
			return Contact{Gap: also(why, fmt.Sprintf("it runs, as %s it", hear(heard))), Runs: true}, nil
		case heard > 0:
			return Contact{Gap: also(why, fmt.Sprintf("%s it, and %s", hear(heard), notHeard(deaf)))}, nil
		case m.Waiting != "":
			return Contact{Down: fmt.Sprintf("its pod %s does not run: %s", m.Pod, m.Waiting), Since: m.Unready}, nil
		case deaf > 0:
			return Contact{Down: fmt.Sprintf("%s, and it does not answer us: %s", notHeard(deaf), why.Detail), Hangs: hangs, Since: m.Unready}, nil
		case m.Pod != "" && !m.Ready:
			return Contact{Down: fmt.Sprintf("its pod %s is not ready, and it does not answer us: %s", m.Pod, why.Detail), Hangs: hangs, Since: m.Unready}, nil
		case rpc && noAnswer(stGap):
			return Contact{Down: stGap.Detail, Hangs: hangs}, nil
		case scrape && noAnswer(svGap) && m.Pod == "":
			return Contact{Down: svGap.Detail}, nil
		}
		// A port-forward that fails may fail at the kubelet: with a pod that
		// is ready this is no evidence.
		return Contact{Gap: why}, nil
	},
}

// heardFor is how long a leader must have been watched for its hearing nothing
// of a follower to mean something: heartbeats are answered ten times a second.
const heardFor = 3 * time.Second

// peersSay counts the members other than the target that hear a member, and
// those that do not although they should.
func peersSay(s *collectors.Snapshot, t collectors.Target, id uint64) (heard, deaf int) {
	if id == 0 {
		return 0, 0
	}
	peers, _ := PeerMetrics.Answers(s)
	for _, p := range peers {
		sv, gap := ServerMetrics.Of(s, p.Target)
		if p.Target.Is(t) || p.Gap != nil || gap != nil || sv.Lost != nil {
			continue
		}
		active, ever := p.Value.Active[id]
		switch {
		case ever && !active, !ever && p.Value.Known[id]:
			deaf++
		case p.Value.Heard[id] > 0:
			heard++
		case sv.IsLeader && p.Value.Watched >= heardFor:
			deaf++
		}
	}
	return heard, deaf
}

// others reports whether any other member answers gRPC, and metrics.
func others(s *collectors.Snapshot, t collectors.Target) (rpc, scrape bool) {
	sts, _ := Status.Answers(s)
	for _, a := range sts {
		rpc = rpc || a.Gap == nil && !a.Target.Is(t)
	}
	svs, _ := ServerMetrics.Answers(s)
	for _, a := range svs {
		scrape = scrape || a.Gap == nil && !a.Target.Is(t)
	}
	return rpc, scrape
}

// noAnswer reports whether a gap means that the member was asked and did not
// answer, rather than that we may not, or could not, ask.
func noAnswer(g *collectors.Gap) bool {
	return g != nil && (g.Reason == collectors.Unreachable || g.Reason == collectors.Timeout)
}

// failure picks the gap that says most of why a member did not answer.
func failure(status, metrics *collectors.Gap) *collectors.Gap {
	switch {
	case noAnswer(status), metrics == nil:
		return status
	case status == nil:
		return metrics
	case noAnswer(metrics):
		return metrics.With(cmp.Or(metrics.Remedy, status.Remedy))
	}
	// Both were refused. What opens the way to metrics suffices for most.
	g := *metrics
	g.Detail += fmt.Sprintf("; over gRPC: %s", status.Reason)
	switch {
	case g.Remedy == "":
		g.Remedy = status.Remedy
	case status.Remedy != "" && status.Remedy != g.Remedy:
		g.Remedy += "; or " + status.Remedy
	}
	return &g
}

func also(g *collectors.Gap, what string) *collectors.Gap {
	c := *g
	c.Detail += "; " + what
	return &c
}

func hear(peers int) string {
	if peers == 1 {
		return "1 of its peers hears"
	}
	return fmt.Sprintf("%d of its peers hear", peers)
}

func notHeard(peers int) string {
	if peers == 1 {
		return "1 peer does not hear it"
	}
	return fmt.Sprintf("%d peers do not hear it", peers)
}
