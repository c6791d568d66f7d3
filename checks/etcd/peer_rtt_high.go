package etcd

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

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
	Needs:     []collectors.Any{etcd.PeerMetrics, etcd.ServerMetrics, etcd.WhoIsWho},
	Remedies: []checks.Remedy{
		{Title: "on the node, measure the way to the peer", Command: "ping -c 50 -i 0.2 PEER && mtr -rwc 50 PEER", Risk: checks.ReadOnly},
		{Title: "if it is the distance, set on all members --heartbeat-interval to the largest round trip and --election-timeout to ten times that", Command: "grep -E 'heartbeat-interval|election-timeout' /etc/kubernetes/manifests/etcd.yaml", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{rttNoteAt, rttWarnAt},
	Run:        peerRTTHigh,
}

const (
	rttWarn       = 0.15
	rttSource     = "etcd-mixin etcdMemberCommunicationSlow"
	rttNote       = 0.05 // half of the default heartbeat interval of 100 ms [exp]
	rttNoteSource = "heuristic"
)

// What etcd notes of a peer is smoothed: the first probe sets it, and each later
// one, every 4 s, takes an eighth of it away. The first, to a member that is not
// quite up, may take until it fails, 5 s. (github.com/xiang90/probing, status.record;
// server/etcdserver/api/rafthttp, addPeerToProber.) It is noted 5 s after the start
// and every 30 s from then on.
const (
	probeEvery  = 4 * time.Second
	probeAtMost = 5 * time.Second
	probeStays  = 0.875
	notedFirst  = 5 * time.Second
	notedEvery  = 30 * time.Second
)

var (
	rttNoteAt = checks.NewThreshold("info", checks.InSeconds, rttNote, "a round trip to a peer", rttNoteSource)
	rttWarnAt = checks.NewThreshold("warn", checks.InSeconds, rttWarn, "a round trip to a peer", rttSource)
)

// ofTheStart is how much of the last round trip noted, in seconds, may be left of
// the first one, when the two processes have been up for so long.
func ofTheStart(own, peer time.Duration) float64 {
	if own < notedFirst {
		return probeAtMost.Seconds()
	}
	noted := notedFirst + (own - notedFirst).Truncate(notedEvery)
	since := noted - max(0, own-peer) - probeEvery
	return probeAtMost.Seconds() * math.Pow(probeStays, max(0, since.Seconds()/probeEvery.Seconds()))
}

// rttFewest is how many round trips of a window suffice. Each that etcd notes
// is smoothed over the last minute, so two say what a hundred bare ones would.
const rttFewest = 2

// rttLimits holds no critical one: 500 ms, half of the election timeout, has
// no public source.
var rttLimits = []checks.Limit{
	{At: rttWarnAt, Seconds: rttWarn, Share: 0.5, Status: checks.Warning, Source: rttSource},
	{At: rttNoteAt, Seconds: rttNote, Share: 0.5, Status: checks.Info, Source: rttNoteSource},
}

// A trip is what the round trips to one peer usually take.
type trip struct {
	peer   string
	status checks.Status
	limit  checks.Limit
	median metrics.Quantile
	above  float64 // of count, above the edge of a bucket
	edge   float64
	young  time.Duration // how long the younger of the two is up, if its start may be all there is to it; else 0
	judged
}

// newTrip judges the round trips of the window, or, as etcd notes two every
// 30 s, of the lifetime. By the median: a p99 may be one bad day.
func newTrip(peer string, l metrics.Latency, limits []checks.Limit) (trip, bool) {
	t := trip{peer: peer, status: checks.OK, judged: judged{Latency: l}}
	h := l.Window
	t.Basis = checks.OverWindow
	if h.Count < rttFewest {
		h, t.Basis = l.Lifetime, checks.OverLifetime
	}
	var ok bool
	if t.median, ok = h.Quantile(0.5); !ok {
		return t, false
	}
	t.Count = h.Count
	for _, lim := range limits {
		t.limit = lim
		if t.above, t.edge = h.Above(lim.Seconds); t.above > lim.Share*h.Count {
			t.status = lim.Status
			break
		}
	}
	return t, true
}

// settle takes a verdict back that may be one on the start of a process.
func (t *trip) settle(own, peer time.Duration) {
	if own == 0 || t.status == checks.OK {
		return
	}
	if peer == 0 {
		peer = own
	}
	if t.median.Value <= ofTheStart(own, peer) {
		t.status, t.young = checks.Info, min(own, peer)
	}
}

func peerRTTHigh(p *checks.Pass) {
	who, _ := checks.One(p, etcd.WhoIsWho)
	up := map[string]time.Duration{} // only of those that tell
	servers, _ := checks.All(p, etcd.ServerMetrics)
	for _, s := range servers {
		if s.Gap == nil && s.Value.Uptime > 0 {
			up[s.Target.Name] = s.Value.Uptime
		}
	}
	for m, peers := range checks.Each(p, etcd.PeerMetrics) {
		var all []trip
		for _, id := range slices.Sorted(maps.Keys(peers.RTT)) {
			if active, ever := peers.Active[id]; ever && !active {
				continue // the prober goes on noting the last round trip of a peer that is gone
			}
			if t, ok := newTrip(cmp.Or(who.Name(id), fmt.Sprintf("%x", id)), peers.RTT[id], p.Limits(rttLimits)); ok {
				t.settle(up[m.Name], up[t.peer])
				all = append(all, t)
			}
		}
		if len(all) == 0 {
			p.Nothing(m, "it measured no round trip to a peer")
			continue
		}
		t := slices.MaxFunc(all, func(a, b trip) int {
			return cmp.Or(cmp.Compare(a.status.Severity(), b.status.Severity()), cmp.Compare(a.median.Value, b.median.Value))
		})
		but := ""
		if t.young > 0 {
			but = fmt.Sprintf("; one of the two started %s ago, and its slow first probe may still be in that", checks.Span(t.young))
		}
		v := p.Judge(m, t.status, "round trips to %s take %s, the median of %.0f %s%s", t.peer, checks.Quantile(t.median), t.Count, t.during(), but).
			Saw(etcd.PeerMetrics, "to "+t.peer, checks.Quantile(t.median), checks.Seconds(t.limit.Seconds), t.limit.Source).
			Saw(etcd.PeerMetrics, "above "+checks.Seconds(t.edge), fmt.Sprintf("%.0f of %.0f", t.above, t.Count), checks.Percent(t.limit.Share), t.limit.Source).
			Number("median", t.median.Value)
		for _, x := range all {
			if x.status != checks.OK {
				v.Mark("peer=" + x.peer)
			}
		}
		if t.status != checks.OK && (t.Basis == checks.OverLifetime || t.young > 0) {
			v.TooFew() // a longer window has round trips of its own
		}
	}
}
