package apiserver

import (
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Row counts the requests of one operation that got one answer.
type Row struct {
	Operation
	Code string // HTTP status; "0" of a connection that was taken over
	metrics.Growth
}

// Failed reports whether the answer was a server error.
func (r Row) Failed() bool { return len(r.Code) == 3 && r.Code[0] == '5' }

// Throttled reports whether the client was told to come back later by the API
// server's own protection. An eviction that a PodDisruptionBudget forbids is
// answered 429 too.
func (r Row) Throttled() bool { return r.Code == "429" && r.Subresource != "eviction" }

// Ordinary reports whether the request is one by which an API server is
// judged: not long-running, not for a health endpoint, not passed on to another
// API server.
func (r Row) Ordinary() bool { return !r.LongRunning() && !r.Health() && !r.Aggregated() }

// A Traffic is what one instance was asked.
type Traffic struct {
	Rows    []Row
	Elapsed time.Duration // of the window; zero if the two looks cannot be compared
	Broken  string        // why they cannot
	Uptime  time.Duration // of the process; zero if it does not say
}

// Sum adds up the requests that match.
func (t Traffic) Sum(match func(Row) bool) metrics.Growth {
	var g metrics.Growth
	for _, r := range t.Rows {
		if match(r) {
			g.Window += r.Window
			g.Lifetime += r.Lifetime
		}
	}
	return g
}

// Rate is how many requests a second match, in the window.
func (t Traffic) Rate(match func(Row) bool) float64 {
	if t.Elapsed <= 0 {
		return 0
	}
	return t.Sum(match).Window / t.Elapsed.Seconds()
}

// Requests counts the requests to each instance.
var Requests = windowFact("apiserver.requests", "the requests to each instance, by operation and status",
	func(w metrics.Window) (Traffic, error) {
		name := w.Last.First("apiserver_request_total", "apiserver_request_count")
		if !w.Has(name) {
			return Traffic{}, absent(w, 14, "apiserver_request_total")
		}
		type key struct {
			Operation
			code string
		}
		t := Traffic{Elapsed: w.Elapsed(), Broken: w.Broken, Uptime: w.Uptime()}
		for k, g := range metrics.Growths(w, name, func(x metrics.Series) (key, bool) { return key{operationOf(x), x.Get("code")}, true }) {
			t.Rows = append(t.Rows, Row{k.Operation, k.code, g})
		}
		return t, nil
	},
	selects(append([]string{"code"}, operationLabels...), "apiserver_request_total", "apiserver_request_count")...)

// Terminations counts the requests that the API server itself cut short: over
// its limits (429), over their time (504). What it could not pass on to another
// API server is counted in the same family and left out here.
var Terminations = windowFact("apiserver.terminations", "the requests that each instance cut short to protect itself, by operation and status",
	func(w metrics.Window) (Traffic, error) {
		t := Traffic{Elapsed: w.Elapsed(), Broken: w.Broken, Uptime: w.Uptime()}
		if !w.Has("apiserver_request_terminations_total") && !w.Has("apiserver_request_total") {
			return t, absent(w, 17, "apiserver_request_terminations_total")
		}
		// A counter with labels is not served before it counts something. Of an
		// API server that serves its other counters its absence means none.
		if m := minor(w); m != 0 && m < 17 {
			return t, absent(w, 17, "apiserver_request_terminations_total")
		}
		type key struct {
			Operation
			code string
		}
		for k, g := range metrics.Growths(w, "apiserver_request_terminations_total", func(x metrics.Series) (key, bool) {
			return key{operationOf(x), x.Get("code")}, x.Get("component") != "aggregator"
		}) {
			t.Rows = append(t.Rows, Row{k.Operation, k.code, g})
		}
		return t, nil
	},
	append(selects(append([]string{"code", "component"}, operationLabels...), "apiserver_request_terminations_total"),
		metrics.Select{Name: "apiserver_request_total"})...)
