package apiserver

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// The families of request durations. The SLI leaves out what a request waited
// for admission webhooks and for a seat; it was called SLO before 1.26. Older
// API servers have the whole duration only.
const (
	sliFamily      = "apiserver_request_sli_duration_seconds" // 1.26 and later
	sloFamily      = "apiserver_request_slo_duration_seconds" // 1.23 to 1.26
	durationFamily = "apiserver_request_duration_seconds"
)

// A Durations is how long one class of requests took.
type Durations struct {
	All metrics.Latency
	By  map[Operation]metrics.Latency
}

// Worst is the operation with the most requests above a limit, in the window
// or, where there is none, over the lifetime. It is false if no request was.
func (d Durations) Worst(limit float64, window bool) (op Operation, above float64, l metrics.Latency, ok bool) {
	for o, x := range d.By {
		h := x.Lifetime
		if window {
			h = x.Window
		}
		n, _ := h.Above(limit)
		if n > above || n > 0 && n == above && o.String() < op.String() {
			op, above, l, ok = o, n, x, true
		}
	}
	return op, above, l, ok
}

func (d *Durations) add(o Operation, l metrics.Latency) {
	if d.By == nil {
		d.By = map[Operation]metrics.Latency{}
	}
	d.All = d.All.Add(l)
	d.By[o] = d.By[o].Add(l)
}

// A Latencies is how long the requests took that Kubernetes' SLOs are about.
type Latencies struct {
	Writes Durations
	// Single is reads of one object, Many are lists over a namespace or the
	// cluster: the SLO gives them more time.
	Single, Many Durations
	Family       string // the metric
	Whole        bool   // Family includes the wait for webhooks and for a seat
}

// Latency is how long requests took, without the wait for webhooks and for a
// seat where the version tells.
var Latency = windowFactOf("apiserver.latency", "how long the requests to each instance took, for the resources that Kubernetes' SLOs are about",
	func(w metrics.Window) (Latencies, error) {
		l := Latencies{Family: w.Last.First(sliFamily, sloFamily, durationFamily)}
		if !w.Has(l.Family) {
			return l, collectors.AbsentMetric(sliFamily, sloFamily, durationFamily)
		}
		l.Whole = l.Family == durationFamily
		type key struct {
			Operation
			scope string
		}
		for k, x := range metrics.Latencies(w, l.Family, func(x metrics.Series) (key, bool) {
			o := operationOf(x)
			return key{o, x.Get("scope")}, o.InSLO() && (o.Read() || o.Write())
		}) {
			switch {
			case k.Write():
				l.Writes.add(k.Operation, x)
			case k.Verb == "GET" || k.scope == "resource":
				l.Single.add(k.Operation, x)
			default:
				l.Many.add(k.Operation, x)
			}
		}
		return l, nil
	},
	func(s *collectors.Snapshot) []metrics.Select {
		by := append([]string{"scope"}, operationLabels...)
		switch v := versionKnown(s); {
		case v >= 26:
			return selects(by, sliFamily)
		case v >= 23:
			return selects(by, sloFamily)
		case v > 0:
			return selects(by, durationFamily)
		}
		return selects(by, sliFamily, sloFamily, durationFamily)
	})

// A Wait is how long writes took as their clients see it, and without the wait
// for webhooks and for a seat.
type Wait struct {
	Whole   metrics.Latency
	Without metrics.Latency
}

// WriteWait compares the two. Dry runs are in neither: the API server leaves
// them out of the second.
var WriteWait = windowFactOf("apiserver.write-wait", "how long writes took with and without the wait for webhooks and for a seat",
	func(w metrics.Window) (Wait, error) {
		short := w.Last.First(sliFamily, sloFamily)
		if !w.Has(short) {
			return Wait{}, absent(w, 23, sliFamily, sloFamily)
		}
		write := func(x metrics.Series) bool {
			o := operationOf(x)
			return o.Write() && !o.LongRunning() && x.Get("dry_run") == ""
		}
		whole, ok := w.Latency(durationFamily, write)
		without, ok2 := w.Latency(short, write)
		switch {
		case !w.Has(durationFamily):
			return Wait{}, collectors.AbsentMetric(durationFamily)
		case !ok || !ok2:
			return Wait{}, collectors.Gapf(collectors.OutOfScope, "the instance has had no write request yet")
		}
		return Wait{whole, without}, nil
	},
	func(s *collectors.Snapshot) []metrics.Select {
		by := []string{"verb", "subresource"}
		return append(selects(append([]string{"dry_run"}, by...), durationFamily), selects(by, sliFamily, sloFamily)...)
	})
