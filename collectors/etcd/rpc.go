package etcd

import (
	"cmp"
	"slices"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Call is how long one kind of request takes in a member.
type Call struct {
	Method  string // "Range", "Txn"
	Latency metrics.Latency
}

// Calls is how long the requests of clients take, by method.
type Calls struct {
	Family string // that tells; each sees another part of a request's way
	By     []Call
}

// A callFamily is a histogram of how long requests take.
type callFamily struct {
	name, label string
	match       []metrics.Match
	method      string // of a family without a label for it
}

// callFamilies lists what tells how long requests take, the families that see
// most of the way first; those of one row see different requests. The first is
// served with --metrics=extensive only, the second from 3.7, the third from
// 3.6 and 3.5 on. A defragmentation, snapshot or compaction is slow by nature.
// Source: etcd-mixin, where etcdGRPCRequestsSlow leaves out Defragment.
var callFamilies = [][]callFamily{
	{{"grpc_server_handling_seconds", "grpc_method", []metrics.Match{
		metrics.Eq("grpc_type", "unary"), metrics.Not("grpc_method", "Defragment", "Snapshot", "Compact", "Hash", "HashKV"),
	}, ""}},
	{{"etcd_server_request_duration_seconds", "type", []metrics.Match{metrics.Eq("success", "true"), metrics.Not("type", "Compaction")}, ""}},
	{
		{"etcd_server_range_duration_seconds", "", nil, "Range"},
		{"etcd_server_apply_duration_seconds", "op", []metrics.Match{metrics.Not("op", "Compaction")}, ""},
	},
}

// CallMetrics is how long clients' requests take in each member.
var CallMetrics = windowFact("etcd.calls", "how long the requests of clients take in each member, by method, in seconds", readCalls,
	metrics.Select{Name: "grpc_server_handling_seconds", By: []string{"grpc_method", "grpc_type"}},
	metrics.Select{Name: "etcd_server_request_duration_seconds", By: []string{"type", "success"}},
	metrics.Select{Name: "etcd_server_range_duration_seconds"},
	metrics.Select{Name: "etcd_server_apply_duration_seconds", By: []string{"op"}},
	metrics.Select{Name: "etcd_server_version", By: []string{"server_version"}},
)

func readCalls(w metrics.Window) (Calls, error) {
	var tried []string
	for _, row := range callFamilies {
		var c Calls
		for _, f := range row {
			tried = append(tried, f.name)
			if by := f.read(w); len(by) > 0 {
				c.Family, c.By = f.name, append(c.By, by...)
			}
		}
		if len(c.By) > 0 {
			slices.SortFunc(c.By, func(a, b Call) int { return cmp.Compare(a.Method, b.Method) })
			return c, nil
		}
	}
	return Calls{}, missing(w, 5, tried...)
}

func (f callFamily) read(w metrics.Window) []Call {
	methods := []string{f.method}
	if f.label != "" {
		methods = w.Last.Values(f.name+"_bucket", f.label, f.match...)
	}
	var out []Call
	for _, m := range methods {
		match := slices.Clone(f.match)
		if f.label != "" {
			match = append(match, metrics.Eq(f.label, m))
		}
		if l, ok := w.Latency(f.name, match...); ok {
			out = append(out, Call{m, l})
		}
	}
	return out
}
