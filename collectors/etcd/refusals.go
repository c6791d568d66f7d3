package etcd

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// InvalidWrites counts the writes that a member refused before it proposed them
// to the others: larger than --max-request-bytes, or of more than
// --max-txn-ops operations. Kubernetes writes one object at a time, so of its
// writes it is those that are too large.
var InvalidWrites = windowFact("etcd.invalid-writes", "how many writes each member refused as too large or of too many operations",
	func(w metrics.Window) (Growth, error) {
		const family = "grpc_server_handled_total"
		if !w.Has(family) {
			return Growth{}, collectors.AbsentMetric(family)
		}
		// A combination that never was may not be served: none.
		g, ok := growth(w, family, metrics.Eq("grpc_method", "Txn", "Put"), metrics.Eq("grpc_code", "InvalidArgument"))
		if !ok {
			g = Growth{Elapsed: w.Elapsed().Seconds(), Uptime: w.Uptime().Seconds(), Watched: w.OK(), Why: w.Broken}
		}
		return g, nil
	}, metrics.Select{Name: "grpc_server_handled_total", By: []string{"grpc_method", "grpc_code"}})
