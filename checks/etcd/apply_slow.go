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

//go:embed apply_slow.md
var applySlowDoc string

// ApplySlow looks for members that take over 100 ms for many requests.
var ApplySlow = &checks.Check{
	ID:        "etcd-apply-slow",
	Component: collectors.Etcd,
	Title:     "etcd members apply requests quickly",
	Doc:       applySlowDoc,
	Needs:     slices.Concat([]collectors.Any{etcd.ApplyMetrics}, suspects, load),
	Remedies: []checks.Remedy{
		{Title: "see which requests were slow", Command: "crictl logs --tail 2000 $(crictl ps -q --name etcd) 2>&1 | grep 'took too long' | tail -20", Risk: checks.ReadOnly},
		{Title: "on the node, see whether disk or processor is short", Command: "iostat -x 1 5 && top -b -n 1 | head -20", Risk: checks.ReadOnly},
	},
	Run: applySlow,
}

const (
	applySlowShare  = 0.01 // of the entries applied in the window [exp]
	applySlowSource = "heuristic; etcd's --warning-apply-duration is 100 ms"
)

func applySlow(p *checks.Pass) {
	for m, a := range checks.Each(p, etcd.ApplyMetrics) {
		if !a.Slow.Watched || !a.Done.Watched {
			p.Unknown(m, collectors.Gapf(collectors.NotAsked, "whether requests are slow now is not known: %s", cmp.Or(a.Slow.Why, a.Done.Why)))
			continue
		}
		slow, done, in := a.Slow.Delta, a.Done.Delta, "in "+checks.Seconds(a.Slow.Elapsed)
		if slow == 0 && done == 0 {
			p.Nothing(m, "nothing was applied %s", in)
			continue
		}
		var v *checks.Verdict
		switch {
		case metrics.Exceeds(done, slow, applySlowShare):
			why, mark := short(p, m)
			v = marked(p.Warn(m, "%s took over 100 ms %s, beside %s applied%s", checks.Count(slow, "request"), in, checks.Count(done, "entry"), why), mark)
		case slow > 0:
			v = p.Info(m, "%s took over 100 ms %s, beside %s applied", checks.Count(slow, "request"), in, checks.Count(done, "entry"))
			if !metrics.Excludes(done, slow, applySlowShare) {
				v.TooFew()
			}
		default:
			v = p.OK(m, "no request took over 100 ms %s; %s applied", in, checks.Count(done, "entry"))
		}
		v.Saw(etcd.ApplyMetrics, "over 100 ms", fmt.Sprintf("%.0f of %.0f", slow, done), checks.Percent(applySlowShare), applySlowSource).
			Number("slow", slow).Number("applied", done)
		if q, ok := a.Duration.Window.Quantile(0.99); ok {
			v.Saw(etcd.ApplyMetrics, "apply p99", checks.Quantile(q), "", "").Number("p99", q.Value)
		}
		if v.Status.Bad() {
			loaded(p, v, m)
		}
	}
}
