package etcd

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// windowFact makes a fact of what each member's metrics say over the window.
func windowFact[T any](id, doc string, read func(metrics.Window) (T, error), want ...metrics.Select) *collectors.Fact[T] {
	return collectors.WindowFact(id, doc, []collectors.Any{Members}, MemberTargets,
		func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
			var urls []string
			for _, u := range member(s, t).Metrics {
				urls = append(urls, u+"/metrics")
			}
			if len(urls) == 0 {
				urls = []string{"etcd://" + t.Name + "/metrics"}
			}
			return collectors.Scrapes(urls[0], urls[1:], want...)
		}, read)
}

// latencyFact makes a fact of one histogram.
func latencyFact(id, doc, family string) *collectors.Fact[metrics.Latency] {
	return windowFact(id, doc, func(w metrics.Window) (metrics.Latency, error) {
		l, ok := w.Latency(family)
		if !ok {
			return l, collectors.AbsentMetric(family)
		}
		return l, nil
	}, metrics.Select{Name: family})
}
