package etcd

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed peer_failures.md
var peerFailuresDoc string

// PeerFailures looks for members that cannot send to their peers, or lose
// their connections to them.
var PeerFailures = &checks.Check{
	ID:        "etcd-peer-failures",
	Component: collectors.Etcd,
	Title:     "etcd members stay connected to each other",
	Doc:       peerFailuresDoc,
	Needs:     []collectors.Any{etcd.PeerFailures, etcd.PeerMetrics, etcd.WhoIsWho},
	Remedies: []checks.Remedy{
		{Title: "on the node, try the peer's port", Command: "openssl s_client -connect PEER:2380 -cert /etc/kubernetes/pki/etcd/peer.crt -key /etc/kubernetes/pki/etcd/peer.key -CAfile /etc/kubernetes/pki/etcd/ca.crt </dev/null", Risk: checks.ReadOnly},
		{Title: "read why the connection broke", Command: "crictl logs --tail 2000 $(crictl ps -q --name etcd) 2>&1 | grep -E 'peer|stream' | tail -20", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{unsentWarnAt},
	Run:        peerFailures,
}

const (
	// Source: etcd-mixin, etcdMemberCommunicationSlow's neighbour
	// etcdMembersDown, which takes 0.01 failed sends a second for a sign that a
	// member is down; that is 1 in 100 s.
	unsentWarn   = 0.01
	unsentSource = "etcd-mixin etcdMembersDown: sends that fail, over 0.01/s"
	// unsentFew is how many it takes, be the window ever so short [exp].
	unsentFew = 3
)

var unsentWarnAt = checks.NewThreshold("warn", checks.InRate, unsentWarn, "messages that could not be sent to a peer", unsentSource)

func peerFailures(p *checks.Pass) {
	who, _ := checks.One(p, etcd.WhoIsWho)
	for m, failures := range checks.Each(p, etcd.PeerFailures) {
		peers, _ := checks.Of(p, etcd.PeerMetrics, m)
		name := func(id uint64) string {
			if n := who.Name(id); n != "" {
				return n
			}
			if id == 0 {
				return "a peer without an ID"
			}
			return fmt.Sprintf("%x", id)
		}
		var worst uint64
		var unsent, lost, ever float64
		watched, why, elapsed := true, "", 0.0
		for _, id := range slices.Sorted(maps.Keys(failures)) {
			f := failures[id]
			g := f.Unsent
			if g.Total == 0 && f.Disconnected.Total > 0 {
				g = f.Disconnected
			}
			watched, why, elapsed = g.Watched, g.Why, g.Elapsed
			ever += f.Unsent.Total + f.Disconnected.Total
			if n := f.Unsent.Delta + f.Disconnected.Delta; n > unsent+lost {
				worst, unsent, lost = id, f.Unsent.Delta, f.Disconnected.Delta
			}
		}
		switch {
		case len(failures) == 0:
			p.OK(m, "nothing that was sent to %s failed since it started", checks.Count(len(peers.RTT), "peer"))
		case !watched:
			p.Unknown(m, collectors.Gapf(collectors.NotAsked, "%.0f failures since it started; whether it goes on is not known: %s", ever, why))
		case unsent >= unsentFew && unsent/elapsed > p.At(unsentWarnAt) || lost >= unsentFew:
			p.Warn(m, "%.0f messages to %s could not be sent in %s, and the connection was lost %s", unsent, name(worst), checks.Seconds(elapsed), times(lost)).
				Saw(etcd.PeerFailures, "not sent", fmt.Sprintf("%.2f/s", unsent/elapsed), fmt.Sprintf("%g/s", p.At(unsentWarnAt)), unsentSource).
				Number("unsent", unsent).Number("lost", lost).Mark("peer=" + name(worst))
		case unsent+lost > 0:
			p.OK(m, "%s to %s failed in %s, %.0f since it started", checks.Count(unsent+lost, "message"), name(worst), checks.Seconds(elapsed), ever).TooFew()
		default:
			p.OK(m, "nothing that was sent failed in %s; %.0f did since it started", checks.Seconds(elapsed), ever)
		}
	}
}
