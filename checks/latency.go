package checks

import (
	"fmt"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Limit is a latency that at most a share of all observations may exceed.
//
// Its number is that of a threshold, which Pass.Limits fills in, or its own.
type Limit struct {
	At      *Threshold
	Seconds float64
	Share   float64 // 0.01 makes it a limit of the p99
	Status  Status  // what it is if they do
	Source  string
}

// A Basis says what a number was taken from.
type Basis string

// The bases.
const (
	OverWindow   Basis = "window"   // what happened while ktriage watched
	OverLifetime Basis = "lifetime" // since the process started: old trouble shows, new trouble hides
	AtInstant    Basis = "instant"
)

// A LatencyVerdict is what a histogram says against limits.
type LatencyVerdict struct {
	Status Status // OK, or the status of the worst limit that is exceeded; Unknown if there is nothing to judge
	Limit  Limit  // the one exceeded; else the mildest
	P99    metrics.Quantile
	Above  float64 // observations above the limit's bucket
	Edge   float64 // that bucket's edge, seconds
	Count  float64 // observations judged
	Basis  Basis
	TooFew bool // more observations could turn the verdict
}

// JudgeLatency holds a histogram against limits, worst first, by the share of
// observations above a bucket's edge rather than by an interpolated quantile.
//
// What the window holds decides, by an exact binomial test, so that few
// observations do not pass for proof. Where the window holds none, or there is
// none, the lifetime decides, and no verdict on it goes beyond a warning: it
// may be about trouble that is long over.
func JudgeLatency(l metrics.Latency, limits ...Limit) LatencyVerdict {
	h, v := l.Window, LatencyVerdict{Basis: OverWindow}
	if l.Window.Count == 0 {
		if l.Elapsed > 0 || l.Lifetime.Count == 0 {
			return LatencyVerdict{Basis: OverWindow} // it was watched, and nothing happened
		}
		h, v.Basis = l.Lifetime, OverLifetime
	}
	v.Count = h.Count
	v.P99, _ = h.Quantile(0.99)
	for _, lim := range limits {
		n, edge := h.Above(lim.Seconds)
		if metrics.Exceeds(h.Count, n, lim.Share) {
			v.Status, v.Limit, v.Above, v.Edge = lim.Status, lim, n, edge
			if v.Basis == OverLifetime && v.Status == Critical {
				v.Status = Warning
			}
			return v
		}
		if n > 0 && !metrics.Excludes(h.Count, n, lim.Share) {
			v.TooFew = true
		}
		v.Limit, v.Above, v.Edge = lim, n, edge
	}
	v.Status = OK
	return v
}

// String writes what was judged: "p99 3.1 ms, 0 of 412 above 16 ms".
func (v LatencyVerdict) String() string {
	if v.Status == Unknown {
		return "nothing to measure in the window"
	}
	s := fmt.Sprintf("p99 %s, %.0f of %.0f above %s", Quantile(v.P99), v.Above, v.Count, Seconds(v.Edge))
	if v.Basis == OverLifetime {
		s += ", since the process started"
	}
	return s
}
