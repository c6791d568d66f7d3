package etcd

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// Peers is what a member says of its connections to the others, by their ID.
type Peers struct {
	// Known holds the members that it believes in, itself among them; 3.6+.
	Known map[uint64]bool
	// Active says of each peer that it ever had a connection to whether it
	// has one now; 3.4+. Of one that was removed it may say so for ever, and
	// of one whose process hangs, or whose packets are dropped, for minutes.
	Active map[uint64]bool
	// Heard is how many bytes came from each peer over the window, which
	// Watched tells. Between a leader and each follower there are heartbeats
	// and answers ten times a second, between followers nothing.
	Heard   map[uint64]float64
	Watched time.Duration // 0 if the looks cannot be compared
	// RTT is the round trip to each peer in seconds, as etcd's prober smooths
	// it, noted twice every 30 s.
	RTT map[uint64]metrics.Latency
}

// PeerMetrics is what each member says of its peers.
var PeerMetrics = windowFact("etcd.peers", "which peers each member is connected to, and how long a round trip to them takes", readPeers,
	metrics.Select{Name: "etcd_network_known_peers", By: []string{"Remote"}},
	metrics.Select{Name: "etcd_network_active_peers", By: []string{"Remote"}},
	metrics.Select{Name: "etcd_network_peer_received_bytes_total", By: []string{"From"}},
	metrics.Select{Name: "etcd_network_peer_round_trip_time_seconds", By: []string{"To"}},
	metrics.Select{Name: "etcd_server_has_leader"},
)

func readPeers(w metrics.Window) (Peers, error) {
	if !w.Has("etcd_server_has_leader") && !w.Has("etcd_network_peer_round_trip_time_seconds") {
		return Peers{}, collectors.AbsentMetric("etcd_server_has_leader")
	}
	p := Peers{Known: map[uint64]bool{}, Active: map[uint64]bool{}, RTT: map[uint64]metrics.Latency{}}
	p.Heard, p.Watched = map[uint64]float64{}, w.Elapsed()
	for _, x := range w.Last.Series("etcd_network_known_peers") {
		if id := parseID(x.Get("Remote")); id != 0 && x.Value > 0 {
			p.Known[id] = true
		}
	}
	for _, x := range w.Last.Series("etcd_network_active_peers") {
		if id := parseID(x.Get("Remote")); id != 0 {
			p.Active[id] = x.Value > 0
		}
	}
	const bytes = "etcd_network_peer_received_bytes_total"
	for _, from := range w.Last.Values(bytes, "From") {
		if d, ok := w.Delta(bytes, metrics.Eq("From", from)); ok {
			p.Heard[parseID(from)] = d
		}
	}
	if !w.Has(bytes) {
		p.Watched = 0
	}
	const rtt = "etcd_network_peer_round_trip_time_seconds"
	for _, to := range w.Last.Values(rtt+"_bucket", "To") {
		if l, ok := w.Latency(rtt, metrics.Eq("To", to)); ok {
			p.RTT[parseID(to)] = l
		}
	}
	return p, nil
}
