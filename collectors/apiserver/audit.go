package apiserver

import (
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// An Audit counts what became of an instance's audit events.
type Audit struct {
	Events   metrics.Growth
	Errors   map[string]metrics.Growth // events that were lost, by the plugin that lost them
	Rejected metrics.Growth            // requests refused because their event could not be written
	Broken   string                    // why there is no window
	Elapsed  time.Duration
}

// Lost adds up the events that were lost.
func (a Audit) Lost() metrics.Growth {
	var g metrics.Growth
	for _, e := range a.Errors {
		g.Window += e.Window
		g.Lifetime += e.Lifetime
	}
	return g
}

// Audits counts each instance's audit events and those that were lost.
var Audits = windowFact("apiserver.audit", "each instance's audit events, those that were lost, and requests refused for that",
	func(w metrics.Window) (Audit, error) {
		a := Audit{Broken: w.Broken, Elapsed: w.Elapsed()}
		if !w.Has("apiserver_audit_event_total") {
			return a, absent(w, 14, "apiserver_audit_event_total")
		}
		all := func(metrics.Series) (bool, bool) { return true, true }
		a.Events = metrics.Growths(w, "apiserver_audit_event_total", all)[true]
		a.Rejected = metrics.Growths(w, "apiserver_audit_requests_rejected_total", all)[true]
		// The counter of errors is not served before there is one.
		a.Errors = metrics.Growths(w, "apiserver_audit_error_total", func(x metrics.Series) (string, bool) { return x.Get("plugin"), true })
		return a, nil
	},
	append(selects(nil, "apiserver_audit_event_total", "apiserver_audit_requests_rejected_total"),
		metrics.Select{Name: "apiserver_audit_error_total", By: []string{"plugin"}})...)

// ClientCertificates is how long the client certificates that each instance was
// shown were still valid, in seconds. One that has expired counts at 0; the API
// server observes it before it refuses it. Which client it is, is not told.
var ClientCertificates = windowFact("apiserver.client-certificates", "how long the client certificates that each instance was shown were still valid",
	func(w metrics.Window) (metrics.Latency, error) {
		const family = "apiserver_client_certificate_expiration_seconds"
		l, ok := w.Latency(family)
		if !ok {
			return l, absent(w, 14, family)
		}
		return l, nil
	},
	metrics.Select{Name: "apiserver_client_certificate_expiration_seconds"})
