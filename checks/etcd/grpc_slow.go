package etcd

import (
	_ "embed"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed grpc_slow.md
var grpcSlowDoc string

// GRPCSlow looks for kinds of requests that clients of etcd wait for.
var GRPCSlow = &checks.Check{
	ID:        "etcd-grpc-slow",
	Component: collectors.Etcd,
	Title:     "etcd answers its clients quickly",
	Doc:       grpcSlowDoc,
	Needs:     slices.Concat([]collectors.Any{etcd.CallMetrics}, suspects, load),
	Remedies: []checks.Remedy{
		{Title: "see which requests were slow", Command: "crictl logs --tail 2000 $(crictl ps -q --name etcd) 2>&1 | grep 'took too long' | tail -20", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{callWarnAt, rangeCriticalAt, txnCriticalAt},
	Run:        grpcSlow,
}

const (
	callWarn       = 0.15
	callWarnSource = "etcd-mixin etcdGRPCRequestsSlow"
	rangeCritical  = 3.0
	txnCritical    = 5.0
	callCritSource = "cluster-etcd-operator etcdGRPCRequestsSlow"
)

var (
	callWarnAt      = checks.NewThreshold("warn", checks.InSeconds, callWarn, "a call of any method, which 99 of 100 must not exceed", callWarnSource)
	rangeCriticalAt = checks.NewThreshold("range-critical", checks.InSeconds, rangeCritical, "a read, which 99 of 100 must not exceed", callCritSource)
	txnCriticalAt   = checks.NewThreshold("txn-critical", checks.InSeconds, txnCritical, "a write, which 99 of 100 must not exceed", callCritSource)
)

// callLimits are those of a method, worst first. Only for the two by which a
// Kubernetes control plane lives is there a limit at which it fails.
func callLimits(method string) []checks.Limit {
	warn := checks.Limit{At: callWarnAt, Seconds: callWarn, Share: 0.01, Status: checks.Warning, Source: callWarnSource}
	switch method {
	case "Range":
		return []checks.Limit{{At: rangeCriticalAt, Seconds: rangeCritical, Share: 0.01, Status: checks.Critical, Source: callCritSource}, warn}
	case "Txn":
		return []checks.Limit{{At: txnCriticalAt, Seconds: txnCritical, Share: 0.01, Status: checks.Critical, Source: callCritSource}, warn}
	}
	return []checks.Limit{warn}
}

func grpcSlow(p *checks.Pass) {
	for m, c := range checks.Each(p, etcd.CallMetrics) {
		var worst judged
		var method string
		for _, call := range c.By {
			j := judge(call.Latency, p.Limits(callLimits(call.Method)))
			if j.Status == checks.Unknown {
				continue
			}
			switch {
			case method == "", j.Status.Severity() > worst.Status.Severity(),
				j.Status == worst.Status && j.P99.Value > worst.P99.Value:
				worst, method = j, call.Method
			}
		}
		if method == "" {
			p.Nothing(m, "it answered no request in the window")
			continue
		}
		why, mark := "", ""
		if worst.Status.Bad() && worst.Basis == checks.OverWindow {
			why, mark = short(p, m)
		}
		v := marked(p.Judge(m, worst.Status, "%s requests take %s%s", method, worst, why), mark).Mark("method=" + method)
		v.Saw(etcd.CallMetrics, "told by", c.Family, "", "")
		worst.evidence(v, etcd.CallMetrics)
		if worst.Status.Bad() && worst.Basis == checks.OverWindow {
			loaded(p, v, m)
		}
	}
}
