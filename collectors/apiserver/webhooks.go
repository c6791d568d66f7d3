package apiserver

import (
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Hook is an admission webhook as the API server's metrics name it.
type Hook struct {
	Name string
	Type string // "admit" or "validating"
}

// A HookTraffic is what an instance says of its calls to one webhook.
type HookTraffic struct {
	Failed   metrics.Growth  // requests refused because the webhook could not be called
	Internal metrics.Growth  // requests refused because its answer was of no use
	Denied   metrics.Growth  // requests that the webhook refused itself
	Opened   metrics.Growth  // requests let through although it could not be called
	Calls    metrics.Latency // how long calls took, those that failed included
}

// HookTraffics is that of each webhook that an instance has called.
type HookTraffics struct {
	By      map[Hook]HookTraffic
	Elapsed time.Duration // of the window; zero if there is none
	Uptime  time.Duration
}

const (
	hookDuration  = "apiserver_admission_webhook_admission_duration_seconds"
	hookRejection = "apiserver_admission_webhook_rejection_count"
	hookOpen      = "apiserver_admission_webhook_fail_open_count"
)

// HookCalls is what each instance says of its calls to admission webhooks. A
// webhook that was never called is in none of the families, and without one
// the families are not served.
var HookCalls = windowFact("apiserver.webhook-calls", "how each instance's calls to admission webhooks ended, and how long they took",
	func(w metrics.Window) (HookTraffics, error) {
		out := HookTraffics{By: map[Hook]HookTraffic{}, Elapsed: w.Elapsed(), Uptime: w.Uptime()}
		type ended struct {
			Hook
			how string
		}
		for k, g := range metrics.Growths(w, hookRejection, func(x metrics.Series) (ended, bool) { return ended{hookOf(x), x.Get("error_type")}, true }) {
			t := out.By[k.Hook]
			switch k.how {
			case "calling_webhook_error":
				t.Failed = g
			case "apiserver_internal_error":
				t.Internal = g
			case "no_error":
				t.Denied = g
			}
			out.By[k.Hook] = t
		}
		hook := func(x metrics.Series) (Hook, bool) { return hookOf(x), true }
		for k, g := range metrics.Growths(w, hookOpen, hook) {
			t := out.By[k]
			t.Opened = g
			out.By[k] = t
		}
		for k, l := range metrics.Latencies(w, hookDuration, hook) {
			t := out.By[k]
			t.Calls = l
			out.By[k] = t
		}
		return out, nil
	},
	metrics.Select{Name: hookRejection, By: []string{"name", "type", "error_type"}},
	metrics.Select{Name: hookOpen, By: []string{"name", "type"}},
	metrics.Select{Name: hookDuration, By: []string{"name", "type"}})

func hookOf(x metrics.Series) Hook { return Hook{x.Get("name"), x.Get("type")} }

// A ConversionTraffic is what an instance says of its calls to the conversion
// webhooks of CustomResourceDefinitions.
type ConversionTraffic struct {
	Failed  map[string]metrics.Growth // by the definition's name
	Done    map[string]metrics.Growth
	Elapsed time.Duration
}

const conversionDuration = "apiserver_crd_conversion_webhook_duration_seconds"

// Conversions is what each instance says of its calls to conversion webhooks.
var Conversions = windowFact("apiserver.conversions", "how each instance's calls to conversion webhooks ended, by CustomResourceDefinition",
	func(w metrics.Window) (ConversionTraffic, error) {
		by := func(succeeded string) map[string]metrics.Growth {
			return metrics.Growths(w, conversionDuration+"_count", func(x metrics.Series) (string, bool) {
				return x.Get("crd_name"), x.Get("succeeded") == succeeded
			})
		}
		return ConversionTraffic{Failed: by("false"), Done: by("true"), Elapsed: w.Elapsed()}, nil
	},
	metrics.Select{Name: conversionDuration, By: []string{"crd_name", "succeeded"}})
