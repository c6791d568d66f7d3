package etcd

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed grpc_failures.md
var grpcFailuresDoc string

// GRPCFailures looks for members that fail their clients' calls.
var GRPCFailures = &checks.Check{
	ID:        "etcd-grpc-failures",
	Component: collectors.Etcd,
	Title:     "etcd does what its clients ask for",
	Doc:       grpcFailuresDoc,
	Needs:     []collectors.Any{etcd.AnswerMetrics, etcd.ServerMetrics},
	Remedies: []checks.Remedy{
		{Title: "read what it says of them", Command: "crictl logs --tail 2000 $(crictl ps -q --name etcd) 2>&1 | grep -E '\"level\":\"(warn|error)\"' | tail -20", Risk: checks.ReadOnly},
		{Title: "see whether it has a leader, space and no alarm", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{failuresWarnAt, failuresCriticalAt},
	Run:        grpcFailures,
}

const (
	// etcd-mixin warns from 1% and calls 5% critical, each for minutes. Of a few
	// seconds, in which a leader may just have changed, OpenShift's half is taken.
	failuresWarn           = 0.01
	failuresSource         = "etcd-mixin etcdHighNumberOfFailedGRPCRequests"
	failuresCritical       = 0.50
	failuresCriticalSource = "cluster-etcd-operator etcdHighNumberOfFailedGRPCRequests"
	// failuresRate is below how many calls a second a share says nothing.
	// Source: openshift/cluster-etcd-operator.
	failuresRate = 2
)

// learnerRefuses is how a learner answers all but serializable reads: from 3.6
// on the first, before the second. Source: ErrGRPCNotSupportedForLearner of
// etcd/api/v3rpc/rpctypes.
var learnerRefuses = []string{"FailedPrecondition", "Unavailable"}

var (
	failuresWarnAt     = checks.NewThreshold("warn", checks.InRatio, failuresWarn, "of the calls of a method that fail", failuresSource)
	failuresCriticalAt = checks.NewThreshold("critical", checks.InRatio, failuresCritical, "of the calls of a method that fail", failuresCriticalSource)
)

func grpcFailures(p *checks.Pass) {
	for m, a := range checks.Each(p, etcd.AnswerMetrics) {
		// Each method by itself: among many reads no failed write would show.
		all, failed := map[string]float64{}, map[string]float64{}
		codes := map[string]etcd.Answer{}
		var total, bad, refused float64
		server, _ := checks.Of(p, etcd.ServerMetrics, m)
		for k, g := range a.By {
			n := g.Window
			if a.Elapsed == 0 {
				n = g.Lifetime
			}
			if server.Learner && slices.Contains(learnerRefuses, k.Code) {
				refused += n
				continue
			}
			all[k.Method] += n
			total += n
			if k.Failed() && n > 0 {
				failed[k.Method] += n
				bad += n
				if old, ok := codes[k.Method]; !ok || n > a.By[old].Window || n == a.By[old].Window && k.Code < old.Code {
					codes[k.Method] = k
				}
			}
		}
		seconds := cmp.Or(a.Elapsed, a.Uptime).Seconds()
		during := "in " + checks.Span(a.Elapsed)
		if a.Elapsed == 0 {
			during = "since it started"
		}
		if total == 0 && refused > 0 {
			p.Nothing(m, "it is a learner, and refused %s %s as it must", checks.Count(refused, "call"), during)
			continue
		}
		if total == 0 {
			p.Nothing(m, "it answered no call %s", during)
			continue
		}
		status, worst := checks.OK, ""
		for method, k := range failed {
			s := checks.OK
			switch n := all[method]; {
			case seconds <= 0 || n/seconds < failuresRate:
			case a.Elapsed > 0 && metrics.Exceeds(n, k, p.At(failuresCriticalAt)):
				s = checks.Critical
			case metrics.Exceeds(n, k, p.At(failuresWarnAt)):
				s = checks.Warning
			}
			if s.Severity() > status.Severity() || worst == "" || s == status && (k > failed[worst] || k == failed[worst] && method < worst) {
				status, worst = s, method
			}
		}
		if worst == "" {
			p.OK(m, "none of %s failed %s", checks.Count(total, "call"), during)
			continue
		}
		k, n, code := failed[worst], all[worst], codes[worst].Code
		v := p.Judge(m, status, "%.0f of %s failed %s (%s), most with %s", k, checks.Count(n, worst+" call"), during, checks.Percent(k/n), code)
		limit, source := p.At(failuresWarnAt), failuresSource
		if status == checks.Critical {
			limit, source = p.At(failuresCriticalAt), failuresCriticalSource
		}
		v.Saw(etcd.AnswerMetrics, worst+" failed", fmt.Sprintf("%.0f of %.0f", k, n), checks.Percent(limit), source).
			Number("failed", bad).Mark("code="+code, "method="+worst)
		if status == checks.OK && a.Elapsed > 0 && n/seconds >= failuresRate && !metrics.Excludes(n, k, p.At(failuresWarnAt)) {
			v.TooFew()
		}
	}
}
