// Package certificates holds the checks on certificates that end. Each check is
// one file, with its page beside it and its cases below testdata.
package certificates

import (
	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	ServingExpiring,
	KubeconfigSelf,
	CAExpiring,
}
