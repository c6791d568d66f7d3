package metrics

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// A Key tells to which group a series belongs; false leaves it out.
type Key[K comparable] func(Series) (K, bool)

// A Growth is a counter over the window and over the process's lifetime.
type Growth struct {
	Window   float64 // 0 if the looks cannot be compared
	Lifetime float64
}

// Growths adds up the counters of a sample name by group, in one pass: asking
// for each group by itself would read a large family as often as it has groups.
func Growths[K comparable](w Window, name string, key Key[K]) map[K]Growth {
	out := map[K]Growth{}
	for _, x := range w.Last.Series(name) {
		if k, ok := key(x); ok {
			g := out[k]
			g.Lifetime += x.Value
			out[k] = g
		}
	}
	if !w.OK() {
		return out
	}
	before := map[K]float64{}
	for _, x := range w.First.Series(name) {
		if k, ok := key(x); ok {
			before[k] += x.Value
		}
	}
	for k, g := range out {
		g.Window = g.Lifetime - before[k]
		out[k] = g
	}
	return out
}

// Latencies adds up the histograms of a family by group, in one pass.
func Latencies[K comparable](w Window, name string, key Key[K]) map[K]Latency {
	out := map[K]Latency{}
	last := histograms(w.Last, name, key)
	var first map[K]Histogram
	if w.OK() {
		first = histograms(w.First, name, key)
	}
	for k, h := range last {
		l := Latency{Lifetime: h, Elapsed: w.Elapsed(), Uptime: w.Uptime()}
		if w.OK() {
			l.Window = h.Sub(first[k])
		}
		out[k] = l
	}
	return out
}

func histograms[K comparable](s *Set, name string, key Key[K]) map[K]Histogram {
	buckets := map[K]map[float64]float64{}
	for _, x := range s.Series(name + "_bucket") {
		le, err := strconv.ParseFloat(x.Get("le"), 64)
		if err != nil {
			continue
		}
		k, ok := key(x)
		if !ok {
			continue
		}
		if buckets[k] == nil {
			buckets[k] = map[float64]float64{}
		}
		buckets[k][le] += x.Value
	}
	sums, counts := totals(s, name+"_sum", key), totals(s, name+"_count", key)
	out := map[K]Histogram{}
	for k, by := range buckets {
		h := Histogram{Buckets: sorted(by), Sum: sums[k]}
		n, whole := counts[k]
		if h.end(n, whole) {
			out[k] = h
		}
	}
	return out
}

// cutShare is what may lie in the last bucket of a histogram that was cut off:
// a tenth of the share that a p99 is about.
const cutShare = 0.001

// end adds the bucket +Inf, if it is missing, and the count. It is false for a
// histogram of which it cannot be told how much lies beyond its last bucket.
func (h *Histogram) end(count float64, whole bool) bool {
	last := h.Buckets[len(h.Buckets)-1]
	if math.IsInf(last.LE, 1) {
		h.Count = last.Count
		return true
	}
	if !whole {
		// It was cut off, as when somebody copies it by hand. Where the last
		// buckets hardly differ the rest is not missed; elsewhere there is no
		// telling how much lies beyond.
		before := len(h.Buckets) - 2
		if before < 0 || h.Buckets[before].Count < (1-cutShare)*last.Count {
			return false
		}
		count = last.Count
	}
	h.Count = count
	h.Buckets = append(h.Buckets, Bucket{math.Inf(1), h.Count})
	return true
}

// sorted makes buckets of counts by edge.
func sorted(by map[float64]float64) []Bucket {
	out := make([]Bucket, 0, len(by))
	for le, n := range by {
		out = append(out, Bucket{le, n})
	}
	slices.SortFunc(out, func(a, b Bucket) int { return cmp.Compare(a.LE, b.LE) })
	return out
}

func totals[K comparable](s *Set, name string, key Key[K]) map[K]float64 {
	out := map[K]float64{}
	for _, x := range s.Series(name) {
		if k, ok := key(x); ok {
			out[k] += x.Value
		}
	}
	return out
}

// Add returns the latencies of two groups as one.
func (l Latency) Add(o Latency) Latency {
	return Latency{
		Window: l.Window.Add(o.Window), Lifetime: l.Lifetime.Add(o.Lifetime),
		Elapsed: max(l.Elapsed, o.Elapsed), Uptime: max(l.Uptime, o.Uptime),
	}
}

// Add returns the observations of two histograms of the same family as one.
func (h Histogram) Add(o Histogram) Histogram {
	if len(h.Buckets) == 0 {
		return o
	}
	if len(o.Buckets) == 0 {
		return h
	}
	by := map[float64]float64{}
	for _, b := range slices.Concat(h.Buckets, o.Buckets) {
		by[b.LE] += b.Count
	}
	return Histogram{Buckets: sorted(by), Count: h.Count + o.Count, Sum: h.Sum + o.Sum}
}
