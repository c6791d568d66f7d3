package apiserver

import (
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// Aborts counts requests that did not end as they should.
type Aborts struct {
	Aborted  metrics.Growth // cut off after the answer had begun, by operation in By
	By       map[Operation]metrics.Growth
	Late     map[string]metrics.Growth // handlers that outlived their request's time, by how they ended: "ok", "error", "pending", "panic"
	Requests metrics.Growth
	Elapsed  time.Duration
	Broken   string
}

// AbortMetrics counts the requests that each instance cut off, and handlers that
// went on after their time was over.
var AbortMetrics = windowFact("apiserver.aborts", "requests that each instance cut off, and handlers that went on after their time was over",
	func(w metrics.Window) (Aborts, error) {
		a := Aborts{Elapsed: w.Elapsed(), Broken: w.Broken}
		if m := minor(w); !w.Has("apiserver_request_total") || m != 0 && m < 20 {
			return a, absent(w, 20, "apiserver_request_total")
		}
		// Counters with labels are not served before they count something. Of an
		// API server that serves its other counters their absence means none.
		a.By = metrics.Growths(w, "apiserver_request_aborts_total", func(x metrics.Series) (Operation, bool) {
			o := operationOf(x)
			return o, !o.LongRunning()
		})
		for _, g := range a.By {
			a.Aborted.Window += g.Window
			a.Aborted.Lifetime += g.Lifetime
		}
		a.Late = metrics.Growths(w, "apiserver_request_post_timeout_total", func(x metrics.Series) (string, bool) {
			return x.Get("status"), true
		})
		a.Requests = metrics.Growths(w, "apiserver_request_total", func(x metrics.Series) (bool, bool) {
			o := operationOf(x)
			return true, !o.LongRunning()
		})[true]
		return a, nil
	},
	metrics.Select{Name: "apiserver_request_aborts_total", By: operationLabels},
	metrics.Select{Name: "apiserver_request_post_timeout_total", By: []string{"status"}},
	metrics.Select{Name: "apiserver_request_total", By: operationLabels})
