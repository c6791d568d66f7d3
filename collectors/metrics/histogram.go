package metrics

import (
	"math"
)

// A Bucket counts the observations of at most LE.
type Bucket struct{ LE, Count float64 }

// A Histogram is a cumulative histogram, sorted, that ends with the bucket
// +Inf. Values are in the unit of its metric, which is seconds for all that
// ktriage reads.
type Histogram struct {
	Buckets    []Bucket
	Count, Sum float64
}

// Sub returns what was observed in h after an earlier look at the same
// histogram.
func (h Histogram) Sub(earlier Histogram) Histogram {
	before := map[float64]float64{}
	for _, b := range earlier.Buckets {
		before[b.LE] = b.Count
	}
	out := Histogram{Count: h.Count - earlier.Count, Sum: h.Sum - earlier.Sum}
	for _, b := range h.Buckets {
		out.Buckets = append(out.Buckets, Bucket{b.LE, b.Count - before[b.LE]})
	}
	return out
}

// Above returns how many observations were above a limit, and the limit that
// could be used: a bucket's edge, the smallest that is not below the one
// asked for. Rather than an interpolated quantile, "more than 1% above the
// edge" is what a histogram knows for certain.
func (h Histogram) Above(limit float64) (n, edge float64) {
	edge, below := math.Inf(1), h.Count
	for _, b := range h.Buckets {
		if b.LE >= limit*(1-1e-9) && !math.IsInf(b.LE, 1) {
			edge, below = b.LE, b.Count
			break
		}
	}
	if math.IsInf(edge, 1) && len(h.Buckets) > 1 { // the limit is beyond the last edge: that edge is the best there is
		last := h.Buckets[len(h.Buckets)-2]
		edge, below = last.LE, last.Count
	}
	return max(0, h.Count-below), edge
}

// A Quantile is an estimate by linear interpolation within a bucket. Beyond is
// set if it lies above the last finite edge: it is then at least Value.
type Quantile struct {
	Value  float64
	Beyond bool
}

// Quantile estimates the q-quantile, 0 < q < 1. It is false without observations.
func (h Histogram) Quantile(q float64) (Quantile, bool) {
	if h.Count <= 0 || len(h.Buckets) == 0 {
		return Quantile{}, false
	}
	rank := q * h.Count
	var lowLE, lowCount float64
	for _, b := range h.Buckets {
		if b.Count >= rank {
			if math.IsInf(b.LE, 1) {
				return Quantile{lowLE, true}, true
			}
			if n := b.Count - lowCount; n > 0 {
				return Quantile{lowLE + (b.LE-lowLE)*(rank-lowCount)/n, false}, true
			}
			return Quantile{b.LE, false}, true
		}
		lowLE, lowCount = b.LE, b.Count
	}
	return Quantile{lowLE, true}, true
}

// significance is the chance at which a test calls luck trouble. A run makes
// some hundred tests on a healthy cluster, and must not cry wolf every other
// night.
const significance = 0.001

// fewest is how many bad observations it takes to call a latency high, whatever
// the test says: of two slow pings in a window nobody should be woken.
const fewest = 3

// Exceeds reports whether k of n observations above a limit show that more
// than a share of all are: whether so many would be seen by chance, were the
// true share no larger, in less than one case of a thousand (an exact binomial
// test). A p99 read off fewer than a hundred observations means nothing
// without it: of 100 observations, 6 must be above the limit; of 10, 3.
func Exceeds(n, k, share float64) bool {
	if n <= 0 || k <= share*n || k < fewest {
		return false
	}
	if n > 1e5 { // the test would agree with the ratio
		return true
	}
	// P(X >= k) = 1 - sum over i < k of C(n,i) p^i (1-p)^(n-i)
	lp, lq := math.Log(share), math.Log1p(-share)
	lgn, _ := math.Lgamma(n + 1)
	var below float64
	for i := 0.0; i < k; i++ {
		lgi, _ := math.Lgamma(i + 1)
		lgr, _ := math.Lgamma(n - i + 1)
		below += math.Exp(lgn - lgi - lgr + i*lp + (n-i)*lq)
	}
	return 1-below < significance
}

// Excludes reports whether n observations of which k are above a limit show
// that the share above it is no larger than the given one, as Exceeds shows
// the contrary. Between the two, more observations are needed.
func Excludes(n, k, share float64) bool {
	if n <= 0 {
		return false
	}
	if n > 1e5 {
		return k <= share*n
	}
	// P(X <= k) at the true share
	lp, lq := math.Log(share), math.Log1p(-share)
	lgn, _ := math.Lgamma(n + 1)
	var upTo float64
	for i := 0.0; i <= k; i++ {
		lgi, _ := math.Lgamma(i + 1)
		lgr, _ := math.Lgamma(n - i + 1)
		upTo += math.Exp(lgn - lgi - lgr + i*lp + (n-i)*lq)
	}
	return upTo < 0.05 // to call it good takes no more than to doubt that it is bad
}
