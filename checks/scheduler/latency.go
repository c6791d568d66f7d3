package scheduler

import (
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

// several slow ones are needed, however few there are in all: one that waits
// for a volume is no trouble of the scheduler.
const several = 3

func latency(p *checks.Pass, f *collectors.Fact[metrics.Latency], what string, limit checks.Limit) {
	for t, l := range leases.EachLeader(p, scheduler.Elected, f) {
		v := checks.JudgeLatency(l, limit)
		if v.Status == checks.Unknown {
			p.Nothing(t, "placed no %s in the window", map[string]string{"attempt": "pod", "pod": "pod at the first attempt"}[what])
			continue
		}
		if v.Status.Bad() && v.Above < several {
			v.Status, v.TooFew = checks.OK, true
		}
		out := p.Judge(t, v.Status, "%s", v).
			Saw(f, "p99", checks.Quantile(v.P99), checks.Seconds(limit.Seconds), limit.Source).
			Saw(f, "above the limit", fmt.Sprintf("%.0f of %.0f", v.Above, v.Count), checks.Percent(limit.Share), "").
			Number("p99", v.P99.Value).Mark(string(v.Basis))
		if v.TooFew {
			out.TooFew()
		}
	}
}
