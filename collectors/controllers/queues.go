package controllers

import (
	"cmp"
	"slices"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Queue is one controller's queue of objects to look at.
type Queue struct {
	Name          string // "replicaset"
	Depth         float64
	DepthBefore   float64       // at the look before
	Adds          float64       // over the window
	Retries       float64       // over the window; puts-off are counted among them
	Longest       time.Duration // how long the longest of the running workers has been at one object
	LongestBefore time.Duration
	Wait          metrics.Latency // how long objects waited in the queue
	Work          metrics.Latency // how long a worker was at one
}

// Queues are the work queues of one controller manager.
type Queues struct {
	By      []Queue // sorted by name
	Elapsed time.Duration
	Broken  string // why the looks cannot be compared; empty if they can
}

// Rate is a number over the window, a second.
func (q Queues) Rate(n float64) float64 {
	if q.Elapsed <= 0 {
		return 0
	}
	return n / q.Elapsed.Seconds()
}

// Busiest returns the queues that were added to most over the window, at most n.
func (q Queues) Busiest(n int) []Queue {
	out := slices.Clone(q.By)
	slices.SortStableFunc(out, func(a, b Queue) int { return cmp.Compare(b.Adds, a.Adds) })
	out = slices.DeleteFunc(out, func(x Queue) bool { return x.Adds == 0 })
	return out[:min(n, len(out))]
}

// maxQueues bounds what is kept of a broken endpoint; 1.37 has about 60 queues.
const maxQueues = 500

// WorkQueues are the queues of each controller manager. Those of one that does
// not lead are empty.
var WorkQueues = leases.WindowFact(Elected, "queues", "the depth, the adds, the retries and the waiting times of each controller's queue",
	func(w metrics.Window) (Queues, error) {
		if !w.Has("workqueue_depth") {
			return Queues{}, collectors.AbsentMetric("workqueue_depth")
		}
		out := Queues{Elapsed: w.Elapsed(), Broken: w.Broken}
		names := w.Last.Values("workqueue_depth", "name")
		for _, name := range names[:min(len(names), maxQueues)] {
			out.By = append(out.By, readQueue(w, name))
		}
		return out, nil
	},
	queueFamilies...)

var queueFamilies = []metrics.Select{
	{Name: "workqueue_depth", By: []string{"name"}},
	{Name: "workqueue_adds_total", By: []string{"name"}},
	{Name: "workqueue_retries_total", By: []string{"name"}},
	{Name: "workqueue_longest_running_processor_seconds", By: []string{"name"}},
	{Name: "workqueue_queue_duration_seconds", By: []string{"name"}},
	{Name: "workqueue_work_duration_seconds", By: []string{"name"}},
}

func readQueue(w metrics.Window, name string) Queue {
	mine := metrics.Eq("name", name)
	q := Queue{Name: name}
	q.Depth, _ = w.Last.Sum("workqueue_depth", mine)
	q.Longest = longest(w.Last, mine)
	q.Wait, _ = w.Latency("workqueue_queue_duration_seconds", mine)
	q.Work, _ = w.Latency("workqueue_work_duration_seconds", mine)
	if w.OK() {
		q.DepthBefore, _ = w.First.Sum("workqueue_depth", mine)
		q.LongestBefore = longest(w.First, mine)
		q.Adds, _ = w.Delta("workqueue_adds_total", mine)
		q.Retries, _ = w.Delta("workqueue_retries_total", mine)
	}
	return q
}

func longest(s *metrics.Set, m metrics.Match) time.Duration {
	v, _ := s.Max("workqueue_longest_running_processor_seconds", m)
	return time.Duration(v * float64(time.Second))
}
