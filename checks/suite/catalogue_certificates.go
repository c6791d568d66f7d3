package suite

import "github.com/ktriage/ktriage/checks"

// certificatesRules tells of the rules of section 2.13, certificates, that have no
// check of their own.
var certificatesRules = decisions{
	section: "2.13",
	open: []checks.ID{
		"cert-files-expiring",
		"cert-file-vs-served",
		"cert-san-mismatch",
		"cert-not-yet-valid",
		"sa-signing-key-mismatch",
	},
}
