package metrics

import (
	"fmt"
	"time"
)

// StartTime is the metric by which a change of instance, behind a load
// balancer or by a restart, is noticed. Every scrape wants it.
const StartTime = "process_start_time_seconds"

// A Window is two looks at one endpoint, or one where the second failed.
type Window struct {
	First, Last *Set // First is nil where there is only one look
	From, To    time.Time
	Broken      string // why First and Last cannot be compared; empty if they can
}

// NewWindow compares two looks. It finds restarts and a change of instance by
// the process's start time, and counters that went backwards.
func NewWindow(first, last *Set, from, to time.Time) Window {
	w := Window{First: first, Last: last, From: from, To: to}
	if first == nil {
		w.Broken = "there was only one look"
		return w
	}
	a, okA := first.Sum(StartTime)
	b, okB := last.Sum(StartTime)
	switch {
	case okA && okB && a != b:
		w.Broken = "another instance answered the second time, or it restarted"
	case !to.After(from):
		w.Broken = "no time passed between the looks"
	default:
		w.Broken = backwards(first, last)
	}
	return w
}

func backwards(first, last *Set) string {
	for family, typ := range last.types {
		if typ != "counter" && typ != "histogram" {
			continue
		}
		for _, name := range [...]string{family, family + "_count"} {
			a, okA := first.Sum(name)
			b, okB := last.Sum(name)
			if okA && okB && b < a {
				return fmt.Sprintf("%s went backwards: another instance answered the second time, or it restarted", name)
			}
		}
	}
	return ""
}

// OK reports whether the two looks can be compared.
func (w Window) OK() bool { return w.Broken == "" }

// Elapsed is the time between the looks; zero if they cannot be compared.
func (w Window) Elapsed() time.Duration {
	if !w.OK() {
		return 0
	}
	return w.To.Sub(w.From)
}

// Uptime is how long the process had been running at the last look. It is
// zero if the endpoint does not say.
func (w Window) Uptime() time.Duration {
	t, ok := w.Last.Sum(StartTime)
	if !ok || w.To.IsZero() {
		return 0
	}
	return max(0, w.To.Sub(time.UnixMilli(int64(t*1000))))
}

// Has reports whether the last look has the family.
func (w Window) Has(name string) bool { return w.Last.Has(name) }

// Delta is by how much the counters that match grew. It is false if the looks
// cannot be compared or the last has none. A counter that is new was zero.
func (w Window) Delta(name string, ms ...Match) (float64, bool) {
	if !w.OK() {
		return 0, false
	}
	b, ok := w.Last.Sum(name, ms...)
	if !ok {
		return 0, false
	}
	a, _ := w.First.Sum(name, ms...)
	return b - a, true
}

// Rate is Delta a second.
func (w Window) Rate(name string, ms ...Match) (float64, bool) {
	d, ok := w.Delta(name, ms...)
	if !ok {
		return 0, false
	}
	return d / w.Elapsed().Seconds(), true
}

// A Latency is a histogram over the window and over the process's lifetime.
type Latency struct {
	Window   Histogram // empty if the looks cannot be compared
	Lifetime Histogram
	Elapsed  time.Duration // of the window; zero if there is none
	Uptime   time.Duration // of the process; zero if unknown
}

// Latency adds up the histograms of a family that match. It is false if the
// last look has none.
func (w Window) Latency(name string, ms ...Match) (Latency, bool) {
	l, ok := Latencies(w, name, together(ms))[struct{}{}]
	return l, ok
}
