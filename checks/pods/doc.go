// Package pods holds the checks on pods that wait and on the control plane's
// own pods. Each check is one file, with its page beside it and its cases below
// testdata.
package pods

import (
	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	Unschedulable,
	NoCondition,
	Gated,
	BoundNotStarted,
	CreatingStuck,
	Crashloop,
}
