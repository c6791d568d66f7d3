package etcd

import (
	"cmp"
	_ "embed"
	"strconv"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed cpu_high.md
var cpuHighDoc string

// CPUHigh looks for members that use all the processor time that they can get.
var CPUHigh = &checks.Check{
	ID:        "etcd-cpu-high",
	Component: collectors.Etcd,
	Title:     "every etcd member has processor time to spare",
	Doc:       cpuHighDoc,
	Needs:     append([]collectors.Any{etcd.ProcessMetrics, cluster.Machines}, load...),
	Remedies: []checks.Remedy{
		{Title: "see which requests are many: lists of whole prefixes cost the most", Command: "crictl logs --tail 2000 $(crictl ps -q --name etcd) 2>&1 | grep 'took too long' | grep -o 'key:\"[^\"]*\"' | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
		{Title: "see whether a CPU limit holds it back", Command: "kubectl -n kube-system get pods -l component=etcd -o custom-columns=POD:.metadata.name,LIMITS:.spec.containers[*].resources.limits", Risk: checks.ReadOnly},
	},
	Run: cpuHigh,
}

const (
	// Source: node-mixin, NodeCPUHighUsage, which has 90% of a node for 15
	// minutes; here it is the one process.
	cpuSource = "node-mixin NodeCPUHighUsage"
)

func cpuHigh(p *checks.Pass) {
	for m, x := range checks.Each(p, etcd.ProcessMetrics) {
		used, of, ok := processors(p, m)
		switch {
		case !x.CPU.Watched:
			p.Unknown(m, collectors.Gapf(collectors.NotAsked, "how much processor time it uses now is not known: %s", x.CPU.Why))
			continue
		case !ok && m.Node == "":
			p.Nothing(m, "it uses the time of %s processors, on a machine that is no node of this cluster, or is not known", cores(used))
			continue
		case !ok:
			p.Unknown(m, collectors.Gapf(collectors.Absent, "it uses the time of %s processors; how many it has neither its metrics tell nor its node", cores(used)))
			continue
		}
		s := checks.OK
		if used >= fullShare*of {
			s = checks.Warning
		}
		v := p.Judge(m, s, "uses %s of %s processors in %s", cores(used), cores(of), checks.Seconds(x.CPU.Elapsed)).
			Saw(etcd.ProcessMetrics, "processor time", cores(used), checks.Percent(fullShare)+" of "+cores(of), cpuSource).
			Number("used", used/of)
		if s.Bad() {
			loaded(p, v, m)
		}
	}
}

// processors is how many a member uses, of how many.
func processors(p *checks.Pass, m collectors.Target) (used, of float64, ok bool) {
	x, gap := checks.Of(p, etcd.ProcessMetrics, m)
	if gap != nil {
		return 0, 0, false
	}
	used, watched := x.Busy()
	machines, _ := checks.One(p, cluster.Machines)
	of = cmp.Or(x.Processors, machines[m.Node].Processors)
	return used, of, watched && of > 0
}

// cores writes a number of processors: "0.05", "1.9", "2".
func cores(n float64) string {
	switch {
	case n == float64(int(n)):
		return strconv.Itoa(int(n))
	case n < 0.1:
		return strconv.FormatFloat(n, 'f', 2, 64)
	}
	return strconv.FormatFloat(n, 'f', 1, 64)
}
