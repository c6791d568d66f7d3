// Package leases holds the checks on leader election, and the judgement of
// components that elect a leader. Each check is one file, with its page beside
// it and its cases below testdata.
package leases

import (
	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	Expired,
	RenewSlow,
	Flapping,
	MassLoss,
	HolderMissing,
	ClockSkew,
	Split,
	ElectionOff,
	IdentityStale,
}
