package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed write_latency_slo.md
var writeLatencySLODoc string

// WriteLatencySLO looks for writes that take longer than Kubernetes' SLO allows.
var WriteLatencySLO = &checks.Check{
	ID:        "apiserver-write-latency-slo",
	Component: collectors.APIServer,
	Title:     "writes take less than a second",
	Doc:       writeLatencySLODoc,
	Needs:     []collectors.Any{apiserver.Latency},
	Remedies: []checks.Remedy{
		{Title: "see whether etcd takes as long: compare etcd_request_duration_seconds", Command: "kubectl get --raw /metrics | grep -E '^etcd_request_duration_seconds_(sum|count)'", Risk: checks.ReadOnly},
		{Title: "find which step of a slow request takes the time", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -A10 'Trace\\['", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{writeSLOAt},
	Run:        writeLatencySLO,
}

const (
	// Source: Kubernetes SLO "API call latency": p99 of writes of one object
	// at most 1 s.
	writeSLO       = 1.0
	singleReadSLO  = 1.0
	listSLO        = 30.0 // over a namespace or the cluster
	sloShare       = 0.01
	sloSource      = "Kubernetes SLO, API call latency"
	burnShare      = 0.144 // as errorsCritical: slow requests burn the same budget
	burnSource     = errorsCriticalSource
	withWaitRemark = ", webhooks and queueing included"
)

var writeSLOAt = checks.NewThreshold("write", checks.InSeconds, writeSLO, "a write, which 99 of 100 must not exceed", sloSource)

// sloLimits are the limits of one SLO.
func sloLimits(seconds float64) []checks.Limit {
	return []checks.Limit{
		{Seconds: seconds, Share: burnShare, Status: checks.Critical, Source: burnSource},
		{Seconds: seconds, Share: sloShare, Status: checks.Warning, Source: sloSource},
	}
}

func writeLatencySLO(p *checks.Pass) {
	for t, l := range checks.Each(p, apiserver.Latency) {
		v := checks.JudgeLatency(l.Writes.All, sloLimits(p.At(writeSLOAt))...)
		if v.Status == checks.Unknown {
			p.Nothing(t, "no write request in the window")
			continue
		}
		f := p.Judge(t, v.Status, "writes: %s%s", v, slowest(l, l.Writes, v)).
			Saw(apiserver.Latency, "writes above "+checks.Seconds(v.Edge), checks.Percent(v.Above/v.Count), checks.Percent(v.Limit.Share), v.Limit.Source).
			Saw(apiserver.Latency, "read from", l.Family, "", "").
			Number("p99", v.P99.Value).Number("share", v.Above/v.Count).Number("count", v.Count)
		if v.TooFew {
			f.TooFew()
		}
		if op, _, _, ok := l.Writes.Worst(v.Edge, v.Basis == checks.OverWindow); ok && v.Status != checks.OK {
			f.Mark("resource="+op.Resource, "verb="+op.Verb)
		}
	}
}

// slowest names the operation that has most of the slow requests, if there are
// any, and says what the durations include.
func slowest(l apiserver.Latencies, d apiserver.Durations, v checks.LatencyVerdict) string {
	s := ""
	if op, above, x, ok := d.Worst(v.Edge, v.Basis == checks.OverWindow); ok && v.Above > 0 {
		n := x.Window.Count
		if v.Basis == checks.OverLifetime {
			n = x.Lifetime.Count
		}
		s = fmt.Sprintf("; most: %s (%.0f of %.0f)", op, above, n)
	}
	if l.Whole {
		s += withWaitRemark
	}
	return s
}
