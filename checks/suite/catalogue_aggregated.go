package suite

import "github.com/ktriage/ktriage/checks"

// aggregatedRules tells of the rules of section 2.12, aggregated APIs and CRDs, that have no
// check of their own.
var aggregatedRules = decisions{
	section: "2.12",
	open: []checks.ID{
		"apiservice-flapping",
		"apiservice-orphan",
		"apiservice-cert",
		"apiservice-slow",
		"front-proxy-ca-broken",
		"discovery-partial",
		"crd-not-established",
		"crd-nonstructural",
		"crd-terminating-stuck",
		"crd-stored-versions",
		"crd-count-high",
		"crd-openapi-churn",
		"crd-registration-stuck",
	},
}
