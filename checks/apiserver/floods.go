package apiserver

import (
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

// watched is the requests over the window of each instance of which they are
// known, and words for how many of all that are. Each instance counts what went
// through it, so that the fleet's are their sum. If none is known it says why, of
// t, and returns nothing.
func watched(p *checks.Pass, t collectors.Target) (known []apiserver.Traffic, of string) {
	answers, gap := checks.All(p, apiserver.Requests)
	broken := ""
	for _, a := range answers {
		switch {
		case a.Gap != nil:
			gap = a.Gap
		case a.Value.Elapsed == 0:
			broken = a.Value.Broken
		default:
			known = append(known, a.Value)
		}
	}
	switch {
	case len(known) == 0 && broken != "":
		// Whoever looks once asks for no rate; a look that failed leaves one unknown.
		if gap := collectors.Gapf(collectors.NotAsked, "how much is asked now is not known: %s", broken); gap.FailedLook() != nil {
			p.Unknown(t, gap)
			return nil, ""
		}
		p.Nothing(t, "a rate needs two looks that can be compared: %s", broken)
	case len(known) == 0:
		p.Unknown(t, gap)
	case len(known) < len(answers):
		of = fmt.Sprintf(", at %d of %d instances", len(known), len(answers))
	}
	return known, of
}
