package apiserver

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed instance_skew.md
var instanceSkewDoc string

// InstanceSkew looks for an instance that is much worse than the others: its node,
// or the member of etcd that it uses, is.
var InstanceSkew = &checks.Check{
	ID:        "apiserver-instance-skew",
	Component: collectors.APIServer,
	Title:     "API servers are as quick as each other",
	Doc:       instanceSkewDoc,
	Needs:     []collectors.Any{apiserver.Latency, apiserver.Requests},
	Remedies: []checks.Remedy{
		{Title: "see which member of etcd it uses, and how that does", Command: "kubectl -n kube-system get pod kube-apiserver-{node} -o yaml | grep etcd-servers", Risk: checks.ReadOnly},
		{Title: "on its node, see whether disk or processor is short", Command: "iostat -x 1 5 && top -b -n 1 | head -20", Risk: checks.ReadOnly},
	},
	Run: instanceSkew,
}

const (
	// No public source: the check ends at warning.
	skewTimes  = 3.0  // the share of the others
	skewLeast  = 0.01 // where the others have none
	skewSource = "heuristic"
	skewSlow   = 1.0 // seconds, the objective of writes and single reads
)

// bad is how many of an instance's requests failed or were slow.
type bad struct{ n, total float64 }

func (b bad) share() float64 { return b.n / max(1, b.total) }

func instanceSkew(p *checks.Pass) {
	by := map[string]bad{}
	var all bad
	traffic, _ := checks.All(p, apiserver.Requests)
	for _, a := range traffic {
		if a.Gap != nil || a.Value.Elapsed == 0 {
			continue
		}
		x := by[a.Target.Name]
		x.total, _ = count(a.Value, apiserver.Row.Ordinary)
		x.n, _ = count(a.Value, func(r apiserver.Row) bool { return r.Ordinary() && r.Failed() })
		if l, gap := checks.Of(p, apiserver.Latency, a.Target); gap == nil && l.Writes.All.Elapsed+l.Single.All.Elapsed > 0 {
			x.n += late(l.Writes.All, skewSlow) + late(l.Single.All, skewSlow)
		}
		by[a.Target.Name] = x
		all.n += x.n
		all.total += x.total
	}
	if len(by) < 2 && len(traffic) < 2 {
		p.Nothing(collectors.Target{Component: collectors.APIServer}, "one API server alone can be asked from here")
		return
	}
	for t, x := range checks.Each(p, apiserver.Requests) {
		own := by[t.Name]
		others := bad{all.n - own.n, all.total - own.total}
		switch {
		case x.Elapsed == 0:
			p.Unknown(t, collectors.Gapf(collectors.NotAsked, "how it does now is not known: %s", x.Broken))
			continue
		case own.total == 0 || others.total == 0:
			p.Nothing(t, "it or all the others answered nothing in the window")
			continue
		}
		limit := max(skewLeast, skewTimes*others.share())
		s := checks.OK
		if limit < 1 && metrics.Exceeds(own.total, own.n, limit) {
			s = checks.Warning
		}
		p.Judge(t, s, "%s failed or were slow; of the others' %s", shareOf(own.n, own.total, "request"), percent(others.share())).
			Saw(apiserver.Requests, "failed or over 1 s", percent(own.share()), percent(limit), skewSource).
			Number("share", own.share()).Number("others", others.share())
	}
}
