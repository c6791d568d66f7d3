package suite

import "github.com/ktriage/ktriage/checks"

// logsClientsRules tells of the rules of section 3.3, clients' logs, that have no
// check of their own.
var logsClientsRules = decisions{
	section: "3.3",
	merged: []Merged{
		{"throttle", []checks.ID{"log-client-throttled"}, "has the same lines"},
		{"kcm-webhook", []checks.ID{"apiserver-log-webhook-closed"}, "finds them in any log"},
		{"conn-refused", []checks.ID{"log-api-unreachable"}, "has the same lines"},
		{"cert-expired", []checks.ID{"apiserver-log-cert"}, "finds them in any log"},
	},
	rejected: []Rejected{
		{"kcm-ssa-conflict", "a conflict is how two writers take turns: the one that lost tries again at once"},
	},
}
