// Package certificates holds the checks on certificates that end. Each check is
// one file, with its page beside it and its cases below testdata.
package certificates

import (
	"strings"

	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	ServingExpiring,
	KubeconfigSelf,
	CAExpiring,
	FilesExpiring,
	FileVsServed,
	NotYetValid,
	SANMismatch,
	SASigningKey,
}

// cut parts a certificate's target: "etcd-peer/cp-1".
func cut(name string) (kind, instance string, ok bool) { return strings.Cut(name, "/") }
