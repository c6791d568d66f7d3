// Package namespaces holds the checks on namespaces. Each check is one file,
// with its page beside it and its cases below testdata.
package namespaces

import (
	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	Stuck,
}
