package apiserver

import (
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// An Access is how an instance let its clients in.
type Access struct {
	Attempts   metrics.Growth // to authenticate
	Refused    metrics.Growth // of them, with credentials that were not accepted, or could not be checked
	Handshakes metrics.Growth // of TLS that failed; none before 1.17
	Webhooks   map[string]Authorizer
	Elapsed    time.Duration
	Uptime     time.Duration
	Broken     string
}

// An Authorizer is what an instance asks a webhook that decides on rights.
type Authorizer struct {
	Calls  metrics.Latency
	Failed metrics.Growth // calls without a verdict
	Opened metrics.Growth // requests that passed for want of a verdict
}

// Accesses is how each instance let its clients in.
var Accesses = windowFact("apiserver.access", "how each instance's clients came past TLS, authentication and authorization webhooks",
	func(w metrics.Window) (Access, error) {
		a := Access{Elapsed: w.Elapsed(), Uptime: w.Uptime(), Broken: w.Broken, Webhooks: map[string]Authorizer{}}
		if !w.Has("authentication_attempts") {
			return a, absent(w, 15, "authentication_attempts")
		}
		all := func(metrics.Series) (bool, bool) { return true, true }
		a.Attempts = metrics.Growths(w, "authentication_attempts", all)[true]
		a.Refused = metrics.Growths(w, "authentication_attempts", func(x metrics.Series) (bool, bool) { return true, x.Get("result") != "success" })[true]
		a.Handshakes = metrics.Growths(w, "apiserver_tls_handshake_errors_total", all)[true]
		// Of 1.31 and later. Without such a webhook nothing is served.
		name := func(x metrics.Series) (string, bool) { return x.Get("name"), true }
		for n, l := range metrics.Latencies(w, "apiserver_authorization_webhook_duration_seconds", name) {
			a.Webhooks[n] = Authorizer{Calls: l}
		}
		for n, g := range metrics.Growths(w, "apiserver_authorization_webhook_evaluations_total", func(x metrics.Series) (string, bool) {
			return x.Get("name"), x.Get("result") != "success" && x.Get("result") != "canceled"
		}) {
			x := a.Webhooks[n]
			x.Failed = g
			a.Webhooks[n] = x
		}
		for n, g := range metrics.Growths(w, "apiserver_authorization_webhook_evaluations_fail_open_total", name) {
			x := a.Webhooks[n]
			x.Opened = g
			a.Webhooks[n] = x
		}
		return a, nil
	},
	metrics.Select{Name: "authentication_attempts", By: []string{"result"}},
	metrics.Select{Name: "apiserver_tls_handshake_errors_total"},
	metrics.Select{Name: "apiserver_authorization_webhook_duration_seconds", By: []string{"name"}},
	metrics.Select{Name: "apiserver_authorization_webhook_evaluations_total", By: []string{"name", "result"}},
	metrics.Select{Name: "apiserver_authorization_webhook_evaluations_fail_open_total", By: []string{"name"}})

// An Encryption is how an instance's key service does.
type Encryption struct {
	Calls   metrics.Latency
	Failed  map[string]metrics.Growth // calls that failed, by gRPC code
	Done    metrics.Growth            // calls that did not
	Reloads metrics.Growth            // of the encryption configuration, that failed
	Used    bool                      // a key service was called at all
	Elapsed time.Duration
	Broken  string
}

const kmsFamily = "apiserver_envelope_encryption_kms_operations_latency_seconds"

// Encryptions is how each instance's key service does.
var Encryptions = windowFact("apiserver.encryption", "how each instance's calls to a key management service went",
	func(w metrics.Window) (Encryption, error) {
		e := Encryption{Elapsed: w.Elapsed(), Broken: w.Broken, Used: w.Has(kmsFamily)}
		if !w.Has("apiserver_request_total") {
			return e, absent(w, 14, "apiserver_request_total")
		}
		e.Calls, _ = w.Latency(kmsFamily)
		e.Failed = metrics.Growths(w, kmsFamily+"_count", func(x metrics.Series) (string, bool) {
			return x.Get("grpc_status_code"), x.Get("grpc_status_code") != "OK"
		})
		e.Done = metrics.Growths(w, kmsFamily+"_count", func(x metrics.Series) (bool, bool) { return true, x.Get("grpc_status_code") == "OK" })[true]
		e.Reloads = metrics.Growths(w, "apiserver_encryption_config_controller_automatic_reloads_total", func(x metrics.Series) (bool, bool) {
			return true, x.Get("status") == "failure"
		})[true]
		return e, nil
	},
	metrics.Select{Name: kmsFamily, By: []string{"grpc_status_code"}},
	metrics.Select{Name: "apiserver_encryption_config_controller_automatic_reloads_total", By: []string{"status"}},
	metrics.Select{Name: "apiserver_request_total"})
