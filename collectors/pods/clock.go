package pods

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// serverNow is the API server's clock when the run began. Ages by it are short
// by as long as the run took to come to the list, which errs on the safe side.
// A fold needs it before the reply is there.
func serverNow(s *collectors.Snapshot) (time.Time, *collectors.Gap) {
	skew, gap := cluster.Clock.One(s)
	if gap != nil {
		return time.Time{}, &collectors.Gap{Reason: gap.Reason, Detail: "the API server's clock is not known, so neither is the age of anything: " + gap.Detail, Remedy: gap.Remedy}
	}
	return s.At.Add(skew), nil
}
