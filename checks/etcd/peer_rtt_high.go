package etcd

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed peer_rtt_high.md
var peerRTTHighDoc string

// PeerRTTHigh looks for members that are far from each other.
var PeerRTTHigh = &checks.Check{
	ID:        "etcd-peer-rtt-high",
	Component: collectors.Etcd,
	Title:     "etcd members are near each other",
	Doc:       peerRTTHighDoc,
	Needs:     []collectors.Any{etcd.PeerMetrics, etcd.WhoIsWho},
	Remedies: []checks.Remedy{
		{Title: "on the node, measure the way to the peer", Command: "ping -c 50 -i 0.2 PEER && mtr -rwc 50 PEER", Risk: checks.ReadOnly},
		{Title: "if it is the distance, set on all members --heartbeat-interval to the largest round trip and --election-timeout to ten times that", Command: "grep -E 'heartbeat-interval|election-timeout' /etc/kubernetes/manifests/etcd.yaml", Risk: checks.ReadOnly},
	},
	Run: peerRTTHigh,
}

const (
	rttWarn       = 0.15
	rttSource     = "etcd-mixin etcdMemberCommunicationSlow"
	rttNote       = 0.05 // half of the default heartbeat interval of 100 ms [exp]
	rttNoteSource = "heuristic"
)

// rttLimits holds no critical one: 500 ms, half of the election timeout, has
// no public source.
var rttLimits = []checks.Limit{
	{Seconds: rttWarn, Share: 0.01, Status: checks.Warning, Source: rttSource},
	{Seconds: rttNote, Share: 0.01, Status: checks.Info, Source: rttNoteSource},
}

// rttAlways are limits of what a peer's round trip usually is: of the past, a
// p99 may be one bad day.
var rttAlways = []checks.Limit{
	{Seconds: rttWarn, Share: 0.5, Status: checks.Warning, Source: rttSource},
	{Seconds: rttNote, Share: 0.5, Status: checks.Info, Source: rttNoteSource},
}

// judgeRTT holds the round trips against the limits. etcd notes them twice
// every 30 s, so that a window may hold none.
func judgeRTT(l metrics.Latency) judged {
	if l.Window.Count > 0 {
		return judge(l, rttLimits)
	}
	l.Elapsed = 0
	return judge(l, rttAlways)
}

func peerRTTHigh(p *checks.Pass) {
	who, _ := checks.One(p, etcd.WhoIsWho)
	for m, peers := range checks.Each(p, etcd.PeerMetrics) {
		var worst judged
		var peer string
		for _, id := range slices.Sorted(maps.Keys(peers.RTT)) {
			if active, ever := peers.Active[id]; ever && !active {
				continue // the prober goes on noting the last round trip of a peer that is gone
			}
			j := judgeRTT(peers.RTT[id])
			if j.Status == checks.Unknown {
				continue
			}
			if peer == "" || cmp.Or(cmp.Compare(j.Status.Severity(), worst.Status.Severity()), cmp.Compare(j.P99.Value, worst.P99.Value)) > 0 {
				worst, peer = j, cmp.Or(who.Name(id), fmt.Sprintf("%x", id))
			}
		}
		if peer == "" {
			p.Nothing(m, "it measured no round trip to a peer")
			continue
		}
		what := "p99 " + checks.Quantile(worst.P99)
		if worst.Basis == checks.OverLifetime {
			median, _ := worst.Lifetime.Quantile(0.5)
			what = "median " + checks.Quantile(median)
		}
		v := p.Judge(m, worst.Status, "round trips to %s take %s %s: %.0f of %.0f took over %s",
			peer, what, worst.during(), worst.Above, worst.Count, checks.Seconds(worst.Edge)).
			Mark("peer=" + peer)
		worst.evidence(v, etcd.PeerMetrics)
	}
}
