package etcd

import (
	"cmp"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// Writes is what comes into a member's database.
type Writes struct {
	Puts  Growth // keys written
	Bytes Growth // of them
	Keys  Gauge  // that there are
}

// New is by how many keys the database grew over the window.
func (w Writes) New() float64 { return w.Keys.Last - w.Keys.First }

// WriteMetrics is what comes into each member's database.
var WriteMetrics = windowFact("etcd.writes", "how many keys and bytes are written to each member's database, and how many keys it holds", func(w metrics.Window) (Writes, error) {
	var out Writes
	var ok bool
	if out.Bytes, ok = growth(w, "etcd_debugging_mvcc_total_put_size_in_bytes"); !ok {
		return out, missing(w, 5, "etcd_debugging_mvcc_total_put_size_in_bytes")
	}
	if out.Puts, ok = growth(w, w.Last.First("etcd_mvcc_put_total", "etcd_debugging_mvcc_put_total")); !ok {
		return out, collectors.AbsentMetric("etcd_mvcc_put_total")
	}
	if out.Keys, ok = gauge(w, "etcd_debugging_mvcc_keys_total"); !ok {
		return out, collectors.AbsentMetric("etcd_debugging_mvcc_keys_total")
	}
	return out, nil
},
	metrics.Select{Name: "etcd_debugging_mvcc_total_put_size_in_bytes"},
	metrics.Select{Name: "etcd_mvcc_put_total"}, metrics.Select{Name: "etcd_debugging_mvcc_put_total"},
	metrics.Select{Name: "etcd_debugging_mvcc_keys_total"},
	metrics.Select{Name: "etcd_server_version", By: []string{"server_version"}},
)

// Leases is how many of etcd's own leases come and go. The API servers attach
// what expires by itself to them, events above all.
type Leases struct{ Granted, Revoked Growth }

// LeaseMetrics is how many leases of etcd's own come and go, as each member
// counts them.
var LeaseMetrics = windowFact("etcd.leases", "how many of etcd's own leases were granted and revoked, as each member counts", func(w metrics.Window) (Leases, error) {
	var l Leases
	var ok bool
	if l.Granted, ok = growth(w, "etcd_debugging_lease_granted_total"); !ok {
		return l, collectors.AbsentMetric("etcd_debugging_lease_granted_total")
	}
	l.Revoked, _ = growth(w, "etcd_debugging_lease_revoked_total")
	return l, nil
},
	metrics.Select{Name: "etcd_debugging_lease_granted_total"}, metrics.Select{Name: "etcd_debugging_lease_revoked_total"},
)

// A Process is what a member's process uses of its machine.
type Process struct {
	Memory     float64 // resident, bytes
	CPU        Growth  // seconds of processor time
	Processors float64 // that it may use at a time; 0 if it does not say (before Go 1.23)
}

// Busy is how many processors it used, on average over the window.
func (p Process) Busy() (float64, bool) {
	if !p.CPU.Watched || p.CPU.Elapsed <= 0 {
		return 0, false
	}
	return p.CPU.Delta / p.CPU.Elapsed, true
}

// ProcessMetrics is what each member's process uses of its machine.
var ProcessMetrics = windowFact("etcd.process", "memory and processor time that each member's process uses", func(w metrics.Window) (Process, error) {
	var p Process
	var ok bool
	if p.Memory, ok = w.Last.Sum("process_resident_memory_bytes"); !ok {
		return p, collectors.AbsentMetric("process_resident_memory_bytes")
	}
	if p.CPU, ok = growth(w, "process_cpu_seconds_total"); !ok {
		return p, collectors.AbsentMetric("process_cpu_seconds_total")
	}
	p.Processors, _ = w.Last.Sum("go_sched_gomaxprocs_threads")
	return p, nil
},
	metrics.Select{Name: "process_resident_memory_bytes"}, metrics.Select{Name: "process_cpu_seconds_total"},
	metrics.Select{Name: "go_sched_gomaxprocs_threads"},
)

// A PeerFailure is what went wrong on a member's way to one peer.
type PeerFailure struct {
	Unsent       Growth // messages that could not be sent
	Disconnected Growth // times that the connection was lost
}

// PeerFailures is what went wrong on each member's ways to its peers, by their ID.
var PeerFailures = windowFact("etcd.peer-failures", "messages that each member could not send to its peers, and connections to them that it lost", func(w metrics.Window) (map[uint64]PeerFailure, error) {
	if !w.Has("etcd_server_has_leader") {
		return nil, collectors.AbsentMetric("etcd_server_has_leader")
	}
	out := map[uint64]PeerFailure{}
	read := func(family, label string, set func(*PeerFailure, Growth)) {
		for _, x := range w.Last.Series(family) {
			id := parseID(cmp.Or(x.Get(label), "0"))
			g := Growth{Total: x.Value, Watched: w.OK(), Why: w.Broken, Elapsed: w.Elapsed().Seconds(), Uptime: w.Uptime().Seconds()}
			if w.OK() {
				g.Delta, _ = w.Delta(family, metrics.Eq(label, x.Get(label)))
			}
			f := out[id]
			set(&f, g)
			out[id] = f
		}
	}
	read("etcd_network_peer_sent_failures_total", "To", func(f *PeerFailure, g Growth) { f.Unsent = g })
	read("etcd_network_disconnected_peers_total", "Remote", func(f *PeerFailure, g Growth) { f.Disconnected = g })
	return out, nil
},
	metrics.Select{Name: "etcd_network_peer_sent_failures_total", By: []string{"To"}},
	metrics.Select{Name: "etcd_network_disconnected_peers_total", By: []string{"Remote"}},
	metrics.Select{Name: "etcd_server_has_leader"},
)
