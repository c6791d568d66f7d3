package vitals

import (
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

var apiserverGroup = Group{
	Component: collectors.APIServer,
	Needs: []collectors.Any{
		apiserver.Requests, apiserver.Latency, apiserver.StoreLatency, apiserver.Fairness, apiserver.Processes, apiserver.StorageSize,
	},
	Read: readAPIServer,
}

// readAPIServer gives the vitals instance by instance, so that in a table each
// is a column.
func readAPIServer(s *collectors.Snapshot, add func(Vital)) {
	answers, _ := apiserver.Requests.Answers(s)
	for _, a := range answers {
		t := a.Target
		if a.Gap == nil {
			addTraffic(t, a.Value, add)
		}
		if l, gap := apiserver.Latency.Of(s, t); gap == nil {
			addP99(t, "write p99", l.Writes.All, add)
			addP99(t, "read p99", l.Single.All, add)
			addP99(t, "list p99", l.Many.All, add)
		}
		if l, gap := apiserver.StoreLatency.Of(s, t); gap == nil {
			addP99(t, "etcd p99", l.Point(), add)
		}
		if f, gap := apiserver.Fairness.Of(s, t); gap == nil {
			add(Vital{Target: t, Name: "in flight", Value: f.Inflight.Reading + f.Inflight.Mutating, Basis: checks.AtInstant})
			if seats := f.Seats(); seats > 0 {
				add(Vital{Target: t, Name: "seats", Value: seats, Basis: checks.AtInstant})
			}
		}
		if size, gap := apiserver.StorageSize.Of(s, t); gap == nil {
			if _, n := size.Largest(); n > 0 {
				add(Vital{Target: t, Name: "storage size", Value: float64(n), Unit: "B", Basis: checks.AtInstant})
			}
		}
		if p, gap := apiserver.Processes.Of(s, t); gap == nil {
			if p.Memory > 0 {
				add(Vital{Target: t, Name: "memory", Value: p.Memory, Unit: "B", Basis: checks.AtInstant})
			}
			if p.Uptime > 0 {
				add(Vital{Target: t, Name: "uptime", Value: p.Uptime.Seconds(), Unit: "s", Basis: checks.AtInstant})
			}
		}
	}
}

// addTraffic gives the rates of one instance. There are none without a window:
// since the process started they would say nothing about now.
func addTraffic(t collectors.Target, tr apiserver.Traffic, add func(Vital)) {
	if tr.Elapsed <= 0 {
		return
	}
	rateOf := func(name, of string, match func(apiserver.Row) bool) {
		add(Vital{Target: t, Name: name, Of: of, Value: tr.Rate(match), Unit: "1/s", Basis: checks.OverWindow})
	}
	rate := func(name string, match func(apiserver.Row) bool) { rateOf(name, "", match) }
	watches := func(r apiserver.Row) bool { return r.Verb == "WATCH" || r.Verb == "WATCHLIST" }
	asked := func(r apiserver.Row) bool { return !r.Health() }
	rate("qps", asked)
	rate("qps read", func(r apiserver.Row) bool { return r.Read() && !r.LongRunning() && asked(r) })
	rate("qps write", func(r apiserver.Row) bool { return r.Changes() && !r.LongRunning() })
	rate("qps watch", watches)
	verbs := map[string]bool{}
	for _, r := range tr.Rows {
		if asked(r) && r.Window > 0 && !watches(r) {
			verbs[r.Verb] = true
		}
	}
	for _, v := range slices.Sorted(maps.Keys(verbs)) {
		rateOf("qps", v, func(r apiserver.Row) bool { return asked(r) && r.Verb == v })
	}
	failed := func(r apiserver.Row) bool { return r.Ordinary() && r.Failed() }
	rate("errors 5xx", failed)
	if all := tr.Sum(apiserver.Row.Ordinary).Window; all > 0 {
		add(Vital{Target: t, Name: "error ratio", Value: tr.Sum(failed).Window / all, Unit: "%", Basis: checks.OverWindow})
	}
	rate("throttled 429", apiserver.Row.Throttled)
}
