package suite

import "github.com/ktriage/ktriage/checks"

// aggregatedRules tells of the rules of section 2.12, aggregated APIs and CRDs, that have no
// check of their own.
var aggregatedRules = decisions{
	section: "2.12",
	merged: []Merged{
		{"apiservice-orphan", []checks.ID{"apiservice-unavailable"}, "tells the reason ServiceNotFound without waiting, and how to take the APIService away"},
		{"discovery-partial", []checks.ID{"apiservice-unavailable"}, "names each group that is not served, which is all that discovery lacks"},
		{"apiservice-slow", []checks.ID{"apiserver-5xx-ratio"}, "counts requests that were passed on to extension API servers with all others, and names the operation that fails most"},
	},
}
