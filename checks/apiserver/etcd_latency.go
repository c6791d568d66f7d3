package apiserver

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed etcd_latency.md
var etcdLatencyDoc string

// EtcdLatency looks for instances whose calls to etcd take too long, as they
// themselves see it: etcd, or the way to it, or the instance's own CPU.
var EtcdLatency = &checks.Check{
	ID:        "apiserver-etcd-latency",
	Component: collectors.APIServer,
	Title:     "API servers get quick answers from etcd",
	Doc:       etcdLatencyDoc,
	Needs:     []collectors.Any{apiserver.StoreLatency, apiserver.StoreDemand},
	Remedies: []checks.Remedy{
		{Title: "see whether etcd itself is slow, or only the way to it", Command: "kubectl -n kube-system exec etcd-{node} -- etcdctl --endpoints=https://127.0.0.1:2379 --cacert=/etc/kubernetes/pki/etcd/ca.crt --cert=/etc/kubernetes/pki/etcd/server.crt --key=/etc/kubernetes/pki/etcd/server.key endpoint status --cluster -w table", Risk: checks.ReadOnly},
		{Title: "see whether the API server lacks CPU", Command: "kubectl -n kube-system top pod -l component=kube-apiserver", Risk: checks.ReadOnly},
	},
	Run: etcdLatency,
}

var (
	// The budget of a whole request is 1 s. No public source tells a limit for
	// the part of etcd in it.
	storeWarn = checks.Limit{Seconds: 1, Share: 0.01, Status: checks.Warning, Source: "expert heuristic: the whole budget of a request"}
	// Scheduler and controller manager give each request for their lease half
	// of the renew deadline of 10 s. Source: client-go leaderelection defaults
	// as set by kube-scheduler and kube-controller-manager.
	storeCritical = checks.Limit{Seconds: 5, Share: 0.01, Status: checks.Critical, Source: "leader election: requests for a lease are cut off after 5 s"}
	// A list takes as long as it is large.
	storeListWarn = checks.Limit{Seconds: 5, Share: 0.01, Status: checks.Warning, Source: "expert heuristic"}
)

func etcdLatency(p *checks.Pass) {
	for t, s := range checks.Each(p, apiserver.StoreLatency) {
		v := checks.JudgeLatency(s.Point(), storeCritical, storeWarn)
		lists := checks.JudgeLatency(s.Lists(), storeListWarn)
		if lists.Basis == checks.OverLifetime {
			lists = checks.LatencyVerdict{} // mostly those of the instance's start
		}
		switch {
		case v.Status == checks.Unknown && lists.Status == checks.Unknown:
			p.Nothing(t, "no call to etcd in the window")
			continue
		case lists.Status > v.Status:
			f := p.Judge(t, lists.Status, "lists from etcd: %s; calls for one key: %s", lists, v).
				Saw(apiserver.StoreLatency, "lists above "+checks.Seconds(lists.Edge), checks.Percent(lists.Above/lists.Count), checks.Percent(lists.Limit.Share), lists.Limit.Source).
				Number("p99", v.P99.Value).Number("p99 lists", lists.P99.Value)
			if lists.Status != checks.OK {
				f.Mark("lists")
			}
			wanted(p, f, lists)
			continue
		}
		f := p.Judge(t, v.Status, "calls to etcd: %s%s", v, slowOp(s, v)).
			Saw(apiserver.StoreLatency, "get, create, update, delete above "+checks.Seconds(v.Edge), checks.Percent(v.Above/v.Count), checks.Percent(v.Limit.Share), v.Limit.Source).
			Number("p99", v.P99.Value).Number("count", v.Count)
		wanted(p, f, v)
		if v.TooFew || lists.TooFew {
			f.TooFew()
		}
	}
}

// wanted adds to a finding about a slow store what is wanted of it. That it is
// much is not said to be why.
func wanted(p *checks.Pass, f *checks.Verdict, l checks.LatencyVerdict) {
	if !l.Status.Bad() || l.Basis != checks.OverWindow {
		return
	}
	if d, gap := checks.One(p, apiserver.StoreDemand); gap == nil {
		for _, x := range d.Tell() {
			f.Saw(apiserver.StoreDemand, x[0], x[1], "", "")
		}
	}
}

// slowOp names the operation with most of the slow calls, if there are any.
func slowOp(s apiserver.Store, v checks.LatencyVerdict) string {
	worst, most, of := "", 0.0, 0.0
	for _, op := range slices.Sorted(maps.Keys(s)) {
		h := s[op].Window
		if v.Basis == checks.OverLifetime {
			h = s[op].Lifetime
		}
		if n, _ := h.Above(v.Edge); n > most && apiserver.PointOp(op) {
			worst, most, of = op, n, h.Count
		}
	}
	if worst == "" || v.Above == 0 {
		return ""
	}
	return fmt.Sprintf("; most: %s (%.0f of %.0f)", worst, most, of)
}
