package apiserver

import (
	"maps"
	"slices"
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Level is one priority level of API Priority and Fairness.
type Level struct {
	Name string
	// Seats is its limit at the last look, with what it borrowed; a level that
	// is exempt has none that holds. Nominal is what it owns.
	Seats, Nominal float64
	// Executing and Queued are at the first look and at the last: seats taken,
	// requests waiting. Where the looks cannot be
	// compared both are the last.
	Executing, Queued [2]float64
	Wait              metrics.Latency // of requests that were executed in the end
	Dispatched        metrics.Growth  // requests that were executed
	Rejected          map[Rejection]metrics.Growth
}

// Exempt reports whether the level is not limited at all.
func (l Level) Exempt() bool { return l.Name == "exempt" }

// System reports whether the level carries the control plane's own requests:
// nodes, leader election, the cluster's own components.
func (l Level) System() bool {
	return slices.Contains([]string{"system", "node-high", "leader-election"}, l.Name)
}

// Refused adds up the level's rejected requests.
func (l Level) Refused() metrics.Growth {
	var g metrics.Growth
	for _, r := range l.Rejected {
		g.Window += r.Window
		g.Lifetime += r.Lifetime
	}
	return g
}

// A Rejection is by which flow schema, and why, requests were answered 429:
// "queue-full", "concurrency-limit", "time-out"; older versions also "cancelled",
// which is the client's doing.
type Rejection struct{ Schema, Reason string }

// A FlowControl is the state of API Priority and Fairness in one instance.
type FlowControl struct {
	Levels   []Level // by name
	Elapsed  time.Duration
	Broken   string // why there is no window
	Inflight Inflight
}

// Level returns a level by name.
func (f FlowControl) Level(name string) (Level, bool) {
	i := slices.IndexFunc(f.Levels, func(l Level) bool { return l.Name == name })
	if i < 0 {
		return Level{}, false
	}
	return f.Levels[i], true
}

// Seats is the server's whole limit: the sum of what the levels own. It is 0
// without flow control.
func (f FlowControl) Seats() float64 {
	var n float64
	for _, l := range f.Levels {
		if !l.Exempt() {
			n += l.Nominal
		}
	}
	return n
}

// Inflight is the most requests that were executed at one time within the last
// second.
type Inflight struct{ Reading, Mutating float64 }

// Fairness is the state of API Priority and Fairness in each instance. Without
// it, before 1.20 or switched off, it has no levels.
var Fairness = windowFact("apiserver.flow-control", "seats, queues, waits and rejections of each priority level, and requests in flight",
	func(w metrics.Window) (FlowControl, error) {
		f := FlowControl{Elapsed: w.Elapsed(), Broken: w.Broken}
		if !w.Has(inflight) {
			return f, absent(w, 14, inflight)
		}
		for _, x := range w.Last.Series(inflight) {
			switch either(x, "request_kind", "requestKind") {
			case "readOnly":
				f.Inflight.Reading += x.Value
			case "mutating":
				f.Inflight.Mutating += x.Value
			}
		}
		f.Levels = levels(w)
		return f, nil
	},
	slices.Concat(
		selects([]string{"request_kind", "requestKind"}, inflight),
		selects(levelLabels, seatLimits...), selects(levelLabels, ownLimits...), selects(levelLabels, executing...),
		selects(levelLabels, queued, dispatched), selects(append([]string{"execute"}, levelLabels...), waits),
		selects(append([]string{"reason", "flow_schema", "flowSchema"}, levelLabels...), rejected),
	)...)

// The names over time, the newest first. Requests in use are seats where every
// request took one.
var (
	levelLabels = []string{"priority_level", "priorityLevel"}
	seatLimits  = []string{"apiserver_flowcontrol_current_limit_seats", "apiserver_flowcontrol_request_concurrency_limit"}
	ownLimits   = []string{"apiserver_flowcontrol_nominal_limit_seats", "apiserver_flowcontrol_request_concurrency_limit"}
	executing   = []string{"apiserver_flowcontrol_current_executing_seats", "apiserver_flowcontrol_request_concurrency_in_use", "apiserver_flowcontrol_current_executing_requests"}
)

const (
	queued     = "apiserver_flowcontrol_current_inqueue_requests"
	dispatched = "apiserver_flowcontrol_dispatched_requests_total"
	waits      = "apiserver_flowcontrol_request_wait_duration_seconds"
	rejected   = "apiserver_flowcontrol_rejected_requests_total"
)

func levels(w metrics.Window) []Level {
	level := func(x metrics.Series) (string, bool) { return either(x, levelLabels...), true }
	by := map[string]*Level{}
	gauge := func(s *metrics.Set, names []string, set func(*Level, float64)) {
		for _, x := range s.Series(s.First(names...)) {
			name, _ := level(x)
			if by[name] == nil {
				by[name] = &Level{Name: name, Rejected: map[Rejection]metrics.Growth{}}
			}
			set(by[name], x.Value)
		}
	}
	gauge(w.Last, ownLimits, func(l *Level, v float64) { l.Nominal = v })
	gauge(w.Last, seatLimits, func(l *Level, v float64) { l.Seats = v })
	if len(by) == 0 {
		return nil // flow control is off, or the version has none
	}
	gauge(w.Last, executing, func(l *Level, v float64) { l.Executing[1] += v })
	gauge(w.Last, []string{queued}, func(l *Level, v float64) { l.Queued[1] += v })
	if w.OK() {
		gauge(w.First, executing, func(l *Level, v float64) { l.Executing[0] += v })
		gauge(w.First, []string{queued}, func(l *Level, v float64) { l.Queued[0] += v })
	} else {
		for _, l := range by {
			l.Executing[0], l.Queued[0] = l.Executing[1], l.Queued[1]
		}
	}
	for name, l := range metrics.Latencies(w, waits, func(x metrics.Series) (string, bool) {
		name, _ := level(x)
		return name, x.Get("execute") != "false"
	}) {
		if by[name] != nil {
			by[name].Wait = l
		}
	}
	for name, g := range metrics.Growths(w, dispatched, level) {
		if by[name] != nil {
			by[name].Dispatched = g
		}
	}
	type key struct {
		level string
		Rejection
	}
	// The counter of rejections is not served before there is one.
	for k, g := range metrics.Growths(w, rejected, func(x metrics.Series) (key, bool) {
		name, _ := level(x)
		return key{name, Rejection{either(x, "flow_schema", "flowSchema"), x.Get("reason")}}, true
	}) {
		if by[k.level] != nil {
			by[k.level].Rejected[k.Rejection] = g
		}
	}
	out := make([]Level, 0, len(by))
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[name])
	}
	return out
}
