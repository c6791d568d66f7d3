// Package webhooks holds the checks on admission and conversion webhooks and
// on the API servers behind APIServices. Each check is one file, with its page
// beside it and its cases below testdata.
package webhooks

import (
	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	BackendMissing,
	FailingClosed,
	Slow,
	CABundleBad,
	FailOpen,
	SelfDeadlock,
	InterceptsCritical,
	TimeoutLong,
	ConversionFailing,
	APIServiceUnavailable,
	ServingCert,
	InternalError,
	RejectionsPolicy,
	TimeoutSum,
	VAPErrors,
	PodSecurityDenies,
	APIServiceFlapping,
	APIServiceCert,
	FrontProxyCA,
	CRDNotEstablished,
	CRDNonstructural,
	CRDTerminatingStuck,
	CRDStoredVersions,
	CRDCountHigh,
	CRDOpenAPIChurn,
	CRDRegistrationStuck,
}
