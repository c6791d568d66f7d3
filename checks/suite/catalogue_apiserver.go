package suite

import "github.com/ktriage/ktriage/checks"

// apiserverRules tells of the rules of section 2.1, API server, that have no
// check of their own.
var apiserverRules = decisions{
	section: "2.1",
	open: []checks.ID{
		"apiserver-error-budget-burn",
		"apiserver-aborts",
		"apiserver-panic",
		"apiserver-memory-high",
		"apiserver-goroutines-high",
		"apiserver-instance-skew",
		"apiserver-resource-bytes-high",
		"apiserver-expensive-lists",
		"apiserver-watch-cache-lag",
		"apiserver-consistent-read-fallback",
		"apiserver-watch-cache-reinit",
		"apiserver-terminated-watchers",
		"apiserver-encryption-kms",
		"apiserver-deprecated-api-in-use",
		"apiserver-auth-failures",
		"apiserver-authz-webhook-slow",
		"apiserver-tls-handshake-errors",
		"apiserver-service-ip-exhausted",
		"apiserver-cpu-throttled",
	},
}
