package apiserver

import (
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Tally is how often things happened to named ones at an instance.
type Tally struct {
	By      map[string]metrics.Growth
	Elapsed time.Duration // of the window; zero if there is none
	Uptime  time.Duration
}

func tally(w metrics.Window, name string, key metrics.Key[string]) Tally {
	return Tally{By: metrics.Growths(w, name, key), Elapsed: w.Elapsed(), Uptime: w.Uptime()}
}

const (
	vapChecks    = "apiserver_validating_admission_policy_check_total"
	mapChecks    = "apiserver_mutating_admission_policy_check_total"
	matchErrors  = "apiserver_admission_match_condition_evaluation_errors_total"
	unavailable  = "aggregator_unavailable_apiservice_total"
	openapiV2    = "apiextensions_openapi_v2_regeneration_count"
	podSecurity  = "pod_security_evaluations_total"
	webhookSAN   = "apiserver_webhooks_x509_missing_san_total"
	aggregateSAN = "apiserver_kube_aggregator_x509_missing_san_total"
)

// PolicyErrors is how often each admission policy, or a webhook's match
// conditions, could not be evaluated: "policy NAME", "match conditions of NAME". A
// policy that was never checked is in none of the families, and without one the
// families are not served.
var PolicyErrors = windowFact("apiserver.policy-errors", "how often expressions of admission policies and match conditions could not be evaluated at each instance",
	func(w metrics.Window) (Tally, error) {
		failed := func(x metrics.Series) (string, bool) {
			e := x.Get("error_type")
			return "policy " + x.Get("policy"), e != "" && e != "no_error"
		}
		t := tally(w, vapChecks, failed)
		for k, g := range metrics.Growths(w, mapChecks, failed) {
			o := t.By[k]
			o.Window, o.Lifetime = o.Window+g.Window, o.Lifetime+g.Lifetime
			t.By[k] = o
		}
		for k, g := range metrics.Growths(w, matchErrors, func(x metrics.Series) (string, bool) { return "match conditions of " + x.Get("name"), true }) {
			t.By[k] = g
		}
		return t, nil
	},
	metrics.Select{Name: vapChecks, By: []string{"policy", "error_type"}},
	metrics.Select{Name: mapChecks, By: []string{"policy", "error_type"}},
	metrics.Select{Name: matchErrors, By: []string{"name"}})

// Unavailables is how often each instance found an APIService unavailable. One
// that never was is not in the family.
var Unavailables = windowFact("apiserver.unavailable-apiservices", "how often each instance found an APIService unavailable",
	func(w metrics.Window) (Tally, error) {
		return tally(w, unavailable, func(x metrics.Series) (string, bool) { return x.Get("name"), true }), nil
	},
	metrics.Select{Name: unavailable, By: []string{"name"}})

// Republished is how often each instance made its OpenAPI document anew for a
// CustomResourceDefinition.
var Republished = windowFact("apiserver.openapi-updates", "how often each instance made its OpenAPI document anew for a CustomResourceDefinition",
	func(w metrics.Window) (Tally, error) {
		return tally(w, openapiV2, func(x metrics.Series) (string, bool) { return x.Get("crd"), x.Get("reason") == "update" }), nil
	},
	metrics.Select{Name: openapiV2, By: []string{"crd", "reason"}})

// SecurityDenials is how many pods, or objects that make pods, pod security
// refused at each instance.
var SecurityDenials = windowFact("apiserver.pod-security", "how many objects pod security refused at each instance",
	func(w metrics.Window) (Tally, error) {
		return tally(w, podSecurity, func(x metrics.Series) (string, bool) {
			return "denied", x.Get("decision") == "deny" && x.Get("mode") == "enforce"
		}), nil
	},
	metrics.Select{Name: podSecurity, By: []string{"decision", "mode"}})

// MissingNames is how many certificates of webhooks and of extension API servers
// each instance refused or met that have no name but the old common one.
var MissingNames = windowFact("apiserver.missing-names", "how often each instance met a webhook's or extension's certificate without any subject alternative name",
	func(w metrics.Window) (Tally, error) {
		t := tally(w, webhookSAN, func(metrics.Series) (string, bool) { return "webhooks", true })
		for k, g := range metrics.Growths(w, aggregateSAN, func(metrics.Series) (string, bool) { return "APIServices", true }) {
			t.By[k] = g
		}
		return t, nil
	},
	metrics.Select{Name: webhookSAN}, metrics.Select{Name: aggregateSAN})
