// Package nodes holds the checks on nodes as the control plane sees them. Each
// check is one file, with its page beside it and its cases below testdata.
package nodes

import (
	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	MassNotReady,
	NotReady,
	LeaseStale,
	Pressure,
	VersionSkew,
	CSRPending,
	Uninitialized,
	Routes,
	Flapping,
}
