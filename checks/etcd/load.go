package etcd

import (
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// load are the facts that tell what etcd has to do, and for whom.
var load = []collectors.Any{apiserver.StoreDemand, etcd.WriteMetrics, etcd.LeaseMetrics}

// loaded adds to a finding about a slow member what it had to do meanwhile, as
// far as that was measured: who writes most, what lists read, how many leases
// come and go. That much is written is not said to be why it is slow.
func loaded(p *checks.Pass, v *checks.Verdict, m collectors.Target) {
	if d, gap := checks.One(p, apiserver.StoreDemand); gap == nil {
		for _, x := range d.Tell() {
			v.Saw(apiserver.StoreDemand, x[0], x[1], "", "")
		}
	}
	if w, gap := checks.Of(p, etcd.WriteMetrics, m); gap == nil && w.Puts.Watched && w.Bytes.Watched && w.Puts.Elapsed > 0 {
		v.Saw(etcd.WriteMetrics, "keys written a second", fmt.Sprintf("%s, %s", apiserver.Rate(w.Puts.Delta/w.Puts.Elapsed), checks.Bytes(int64(w.Bytes.Delta/w.Bytes.Elapsed))), "", "")
	}
	if l, gap := checks.Of(p, etcd.LeaseMetrics, m); gap == nil && l.Granted.Watched && l.Granted.Elapsed > 0 && l.Granted.Delta+l.Revoked.Delta > 0 {
		v.Saw(etcd.LeaseMetrics, "leases of etcd a second", fmt.Sprintf("%s granted, %s revoked", apiserver.Rate(l.Granted.Delta/l.Granted.Elapsed), apiserver.Rate(l.Revoked.Delta/l.Granted.Elapsed)), "", "")
	}
}
