package apiserver

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed consistent_read_fallback.md
var consistentReadFallbackDoc string

// ConsistentReadFallback looks for reads that the cache should serve and etcd has to.
var ConsistentReadFallback = &checks.Check{
	ID:        "apiserver-consistent-read-fallback",
	Component: collectors.APIServer,
	Title:     "API servers' caches can serve reads that must be current",
	Doc:       consistentReadFallbackDoc,
	Needs:     []collectors.Any{apiserver.WatchCaches},
	Remedies: []checks.Remedy{
		{Title: "see etcd's version, and how often it tells progress", Command: "kubectl -n kube-system get pods -l component=etcd -o yaml | grep -E 'image:|progress-notify'", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{fallbackShareAt},
	Run:        consistentReadFallback,
}

const (
	// No public source: the check ends at warning.
	fallbackShare  = 0.01
	fallbackSource = "heuristic"
)

var fallbackShareAt = checks.NewThreshold("warn", checks.InRatio, fallbackShare, "of the consistent reads that go to etcd", fallbackSource)

func consistentReadFallback(p *checks.Pass) {
	for t, c := range checks.Each(p, apiserver.WatchCaches) {
		n, k, when := c.Consistent.Window, c.Fallback.Window, "in "+checks.Span(c.Elapsed)
		if c.Elapsed == 0 {
			n, k, when = c.Consistent.Lifetime, c.Fallback.Lifetime, "since it started"
		}
		if n == 0 {
			p.Nothing(t, "no consistent read %s that the cache could have served; it does so from 1.31 on", when)
			continue
		}
		s := checks.OK
		if metrics.Exceeds(n, k, p.At(fallbackShareAt)) {
			s = checks.Warning
			if c.Elapsed == 0 {
				s = checks.Info
			}
		}
		p.Judge(t, s, "%s went to etcd %s, for want of a fresh cache", shareOf(k, n, "consistent read"), when).
			Saw(apiserver.WatchCaches, "to etcd", percent(k/n), percent(p.At(fallbackShareAt)), fallbackSource).Number("share", k/n)
	}
}
