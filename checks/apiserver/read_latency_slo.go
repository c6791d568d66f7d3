package apiserver

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed read_latency_slo.md
var readLatencySLODoc string

// ReadLatencySLO looks for reads that take longer than Kubernetes' SLO allows.
var ReadLatencySLO = &checks.Check{
	ID:        "apiserver-read-latency-slo",
	Component: collectors.APIServer,
	Title:     "reads are within Kubernetes' latency objectives",
	Doc:       readLatencySLODoc,
	Needs:     []collectors.Any{apiserver.Latency},
	Remedies: []checks.Remedy{
		{Title: "see who lists what right now", Command: "kubectl get --raw /debug/api_priority_and_fairness/dump_requests", Risk: checks.ReadOnly},
		{Title: "find slow lists in the log", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep 'Trace\\[.*\"List\"'", Risk: checks.ReadOnly},
	},
	Run: readLatencySLO,
}

func readLatencySLO(p *checks.Pass) {
	for t, l := range checks.Each(p, apiserver.Latency) {
		single := checks.JudgeLatency(l.Single.All, sloLimits(singleReadSLO)...)
		many := checks.JudgeLatency(l.Many.All, sloLimits(listSLO)...)
		worst, of, what := single, l.Single, "single reads"
		if many.Status > single.Status {
			worst, of, what = many, l.Many, "lists"
		}
		if worst.Status == checks.Unknown {
			p.Nothing(t, "no read request in the window")
			continue
		}
		summary := what + ": " + worst.String() + slowest(l, of, worst)
		if worst.Status == checks.OK {
			summary = both(single, many)
			if l.Whole {
				summary += withWaitRemark
			}
		}
		f := p.Judge(t, worst.Status, "%s", summary).
			Saw(apiserver.Latency, "read from", l.Family, "", "").Number("count", single.Count+many.Count)
		for _, x := range []struct {
			name string
			v    checks.LatencyVerdict
		}{{"single reads", single}, {"lists", many}} {
			if x.v.Status == checks.Unknown {
				continue
			}
			f.Saw(apiserver.Latency, x.name+" above "+checks.Seconds(x.v.Edge), checks.Percent(x.v.Above/x.v.Count), checks.Percent(x.v.Limit.Share), x.v.Limit.Source).
				Number("p99 "+x.name, x.v.P99.Value)
			if x.v.TooFew {
				f.TooFew()
			}
		}
		f.Number("p99", worst.P99.Value)
		if op, _, _, ok := of.Worst(worst.Edge, worst.Basis == checks.OverWindow); ok && worst.Status != checks.OK {
			f.Mark("resource="+op.Resource, "verb="+op.Verb)
		}
	}
}

// both says how long the two kinds of reads took, neither too long.
func both(single, many checks.LatencyVerdict) string {
	switch {
	case many.Status == checks.Unknown:
		return "single reads: " + single.String() + "; no lists"
	case single.Status == checks.Unknown:
		return "lists: " + many.String() + "; no single reads"
	}
	return "single reads: " + single.String() + "; lists: " + many.String()
}
