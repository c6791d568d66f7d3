package leases

import (
	"errors"
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// A Refusal is how the API server refuses a component.
type Refusal int

// The refusals.
const (
	None      Refusal = iota
	Unknown           // it does not know who asks: 401
	Forbidden         // it knows, and does not allow it: 403
)

// RefusalOf reads, from the answer that a component gives when it is asked for
// its metrics, that the API server refuses the component itself. Each asks the
// API server whether whoever wants metrics may have them, and answers 500 with
// that reply when it gets no yes or no.
func RefusalOf(err error) Refusal {
	var gap *collectors.Gap
	if !errors.As(err, &gap) || gap.Reason != collectors.ServerError {
		return None
	}
	switch {
	case strings.Contains(gap.Detail, `"/metrics": Unauthorized`):
		return Unknown
	case strings.Contains(gap.Detail, "reviews.auth") && strings.Contains(gap.Detail, `is forbidden: User "system:kube-`):
		return Forbidden
	}
	return None
}
