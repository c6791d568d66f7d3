package webhooks

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed slow.md
var slowDoc string

// Slow looks for admission webhooks that hold requests up.
var Slow = &checks.Check{
	ID:        "webhook-slow",
	Component: collectors.Webhooks,
	Title:     "admission webhooks answer within half a second",
	Doc:       slowDoc,
	Needs:     append([]collectors.Any{apiserver.HookCalls, controllers.Refused}, configNeeds...),
	Remedies: []checks.Remedy{
		{Title: "see how long its calls take", Command: "kubectl get --raw /metrics | grep -E '^apiserver_admission_webhook_admission_duration_seconds_(sum|count)'", Risk: checks.ReadOnly},
		{Title: "see which Service it calls, what it takes in, and its timeout", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{slowWarnAt},
	Run:        slow,
}

const (
	// slowWarn is experience: no number is published. It ends at a warning; what
	// runs into the timeout is refused, which is no matter of experience.
	slowWarn   = 0.5
	slowShare  = 0.01
	slowSource = "experience; no public source"
)

// edges are the bounds of the metric's buckets, seconds. Source:
// k8s.io/apiserver/pkg/admission/metrics.
var edges = []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25}

var slowWarnAt = checks.NewThreshold("warn", checks.InSeconds, slowWarn, "a call of the webhook, which 99 of 100 must not exceed", slowSource)

// untilTimeout is the largest edge that a call which timed out is above.
func (h hook) untilTimeout() float64 {
	out := edges[0]
	for _, e := range edges {
		if e <= h.Wait.Seconds() {
			out = e
		}
	}
	return out
}

func slow(p *checks.Pass) {
	calls := readCalls(p)
	for c := range each(p) {
		t := c.target()
		worst := checks.OutOfScope
		var said string
		var bad []hook
		tooFew := false
		for _, h := range c {
			s, words, few := latency(p, calls, h)
			if s == checks.OutOfScope {
				continue
			}
			tooFew = tooFew || few
			if s.Bad() {
				bad = append(bad, h)
			}
			if s > worst || worst == checks.OutOfScope {
				worst, said = s, c.name(h)+words
			}
		}
		switch {
		case worst != checks.OutOfScope:
			v := p.Judge(t, worst, "%s", said)
			for _, h := range c {
				l := calls.of(h).Calls
				if q, ok := l.Window.Quantile(0.99); ok {
					v.Saw(apiserver.HookCalls, h.Name+" p99", checks.Quantile(q), checks.Seconds(p.At(slowWarnAt)), slowSource).Number("p99", q.Value)
				}
			}
			for _, h := range bad {
				h.marks(v, h.Vital())
			}
			if tooFew {
				v.TooFew()
			}
		case calls.gap != nil:
			p.Unknown(t, calls.gap)
		default:
			p.Nothing(t, "was not called in the window")
		}
	}
}

// latency judges one webhook. It is out of scope where nothing was seen of it.
func latency(p *checks.Pass, calls calls, h hook) (s checks.Status, words string, tooFew bool) {
	tr := calls.of(h)
	timedOut, edge := tr.Calls.Window.Above(h.untilTimeout())
	timedOut = min(timedOut, tr.Failed.Window+tr.Opened.Window)
	// A call that failed and took as long as its timeout has run into it. Where
	// most do, that is no chance, however few were seen. That requests are
	// refused for it is webhook-failing-closed's to say.
	if n := tr.Calls.Window.Count; timedOut > n/2 {
		return checks.Warning, fmt.Sprintf("%.0f of %s took above %s %s, and failed: its timeout is %s", timedOut, checks.Count(n, "call"), checks.Seconds(edge), calls.span(), checks.Seconds(h.Wait.Seconds())), false
	}
	if r, ok := refusedBy(p, h); ok {
		if class, _ := why(r.Message); class == "timeout" && tr.Calls.Window.Count == 0 {
			return checks.Warning, fmt.Sprintf("did not answer within %s when the pods of %s were to be created; %s missing for up to %s",
				checks.Seconds(h.Wait.Seconds()), checks.Count(r.Objects, "ReplicaSet"), areMissing(r.Missing), checks.Span(r.Oldest)), false
		}
	}
	v := checks.JudgeLatency(tr.Calls, p.Limits([]checks.Limit{{At: slowWarnAt, Share: slowShare, Status: checks.Warning, Source: slowSource}})...)
	switch {
	case v.Status == checks.Unknown:
		return checks.OutOfScope, "", false
	case v.Basis == checks.OverLifetime && v.Status.Bad():
		v.Status = checks.Info // it may be long over
	}
	l, since := tr.Calls.Window, ""
	if v.Basis == checks.OverLifetime {
		l, since = tr.Calls.Lifetime, ", since the API server started"
	}
	// The buckets are wide: from 2.5 s to 10 s is one, and no quantile means
	// anything there. The average does.
	return v.Status, fmt.Sprintf("calls take %s on average, %.0f of %.0f above %s%s", checks.Seconds(l.Sum/l.Count), v.Above, v.Count, checks.Seconds(v.Edge), since), v.TooFew
}

func areMissing(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}
