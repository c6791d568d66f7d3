package apiserver

import (
	"slices"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// buildInfo tells an instance's own version, which may differ from that of the
// instance that answered /version.
const buildInfo = "kubernetes_build_info"

const inflight = "apiserver_current_inflight_requests"

// windowFact makes a fact of what the metrics of each instance that can be
// asked say over the window. All such facts share one scrape.
func windowFact[T any](id, doc string, read func(metrics.Window) (T, error), want ...metrics.Select) *collectors.Fact[T] {
	return windowFactOf(id, doc, read, func(*collectors.Snapshot) []metrics.Select { return want })
}

// windowFactOf is windowFact where what is wanted depends on the version.
func windowFactOf[T any](id, doc string, read func(metrics.Window) (T, error), want func(*collectors.Snapshot) []metrics.Select) *collectors.Fact[T] {
	f := collectors.WindowFact(id, doc, []collectors.Any{Ways, cluster.Version}, targets,
		func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
			all := append(slices.Clone(want(s)),
				metrics.Select{Name: buildInfo, By: []string{"git_version", "gitVersion"}},
				metrics.Select{Name: inflight, By: []string{"request_kind", "requestKind"}})
			return collectors.Scrapes(t.Addr+"/metrics", nil, all...)
		}, read)
	inner := f.Read
	f.Read = func(rs []collectors.Answered) (T, error) {
		v, err := inner(rs)
		if g := collectors.AsGap(err, collectors.Malformed); g != nil && g.Reason == collectors.Forbidden {
			return v, g.With("grant get on nonResourceURL /metrics: kubectl create clusterrolebinding ktriage-monitoring --clusterrole=system:monitoring --user=NAME")
		}
		return v, err
	}
	return f
}

// minor is the minor version of the instance that answered; 0 if it does not
// say. 1.15 to 1.18 do not serve the metric, but give themselves away by how
// they spell a label: for those it is 18, the newest that does.
func minor(w metrics.Window) int {
	for _, x := range w.Last.Series(buildInfo) {
		if r, err := cluster.ParseRelease(either(x, "git_version", "gitVersion")); err == nil {
			return r.Minor
		}
	}
	for _, x := range w.Last.Series(inflight) {
		if x.Get("requestKind") != "" {
			return 18
		}
	}
	return 0
}

// absent is the gap of families that an instance does not serve. One that is
// older than the minor version that brought them is out of scope: there is
// nothing to be had from it, whoever asks.
func absent(w metrics.Window, since int, names ...string) *collectors.Gap {
	if m := minor(w); m != 0 && m < since {
		return collectors.Gapf(collectors.OutOfScope, "this API server is too old to count it; versions from 1.%d on do", since)
	}
	return collectors.AbsentMetric(names...)
}

// versionKnown returns the minor version of the cluster, or 0.
func versionKnown(s *collectors.Snapshot) int {
	v, gap := cluster.Version.One(s)
	if gap != nil {
		return 0
	}
	return v.Minor
}

// either returns the value of the first of the labels that a series has: what
// a label was called over time.
func either(x metrics.Series, labels ...string) string {
	for _, l := range labels {
		if v := x.Get(l); v != "" {
			return v
		}
	}
	return ""
}

func selects(by []string, names ...string) []metrics.Select {
	var out []metrics.Select
	for _, n := range names {
		out = append(out, metrics.Select{Name: n, By: by})
	}
	return out
}
