package pending

import (
	"slices"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/nodes"
	"github.com/ktriage/ktriage/collectors/placement"
	"github.com/ktriage/ktriage/collectors/pods"
)

// Facts returns the facts that Read needs. Most of them are asked for only where
// something waits.
func Facts() []collectors.Any {
	return []collectors.Any{
		pods.Waiting, pods.Starts, placement.Seen, nodes.Conditions, cluster.Instances,
		controllers.Lacking, controllers.RefusedPods, controllers.QuotaNumbers,
	}
}

// Read makes the table of a snapshot. What the schedulers do is read apart, as it
// takes a window: see SchedulerFacts.
func Read(s *collectors.Snapshot, sched Schedulers, keep func(namespace, name string, labels map[string]string) bool, most int) Table {
	in, unseen := input(s)
	in.Schedulers, in.Keep, in.Most = sched, keep, most
	t := Table{At: s.At.UTC(), Groups: Groups(in), Unseen: unseen, NotListed: in.Waiters.Over}
	for _, g := range t.Groups {
		t.Pending += g.Pods
	}
	refused := NotCreatedGroups(in)
	for _, g := range refused {
		t.NotCreated += g.Pods
	}
	t.Groups = append(refused, t.Groups...)
	if t.Groups == nil {
		t.Groups = []Group{}
	}
	for _, g := range t.Groups {
		if g.Verdict == nil {
			continue
		}
		for _, what := range g.Verdict.NotModelled {
			if !slices.Contains(t.NotModelled, what) {
				t.NotModelled = append(t.NotModelled, what)
			}
		}
	}
	slices.Sort(t.NotModelled)
	return t
}

// input takes out of a snapshot what bears on pods that wait. What is not known is
// in the second result.
func input(s *collectors.Snapshot) (Input, []Unseen) {
	var in Input
	unseen := []Unseen{}
	miss := func(what string, g *collectors.Gap) bool {
		if g != nil && g.Reason != collectors.OutOfScope {
			unseen = append(unseen, Unseen{what, g.Reason, g.Detail, g.Remedy})
		}
		return g != nil
	}
	var gap *collectors.Gap
	in.Configured, gap = placement.Configured(s)
	miss("the configuration of the scheduler", gap)
	in.Waiters, gap = pods.Waiting.One(s)
	if miss("pending pods", gap) {
		in.Waiters = pods.Waiters{At: s.At}
	} else {
		w, gap := placement.Seen.One(s)
		if !miss("what the scheduler looks at", gap) {
			in.World = &w
			for _, g := range w.Gaps {
				if g.Gap.Reason != collectors.Absent {
					miss(string(g.Kind), g.Gap)
				}
			}
		}
		in.Starts, gap = pods.Starts.One(s)
		miss("events of pods that start", gap)
	}
	if h, gap := nodes.Conditions.One(s); gap == nil {
		in.NotReady = h.NotReady
	}
	in.Shortage, gap = controllers.Lacking.One(s)
	if miss("workloads that lack pods", gap) {
		in.Shortage = controllers.Shortage{At: s.At}
	} else {
		in.Refused, gap = controllers.RefusedPods.One(s)
		miss("events of pods that were refused", gap)
	}
	in.Quotas, gap = controllers.QuotaNumbers.One(s)
	miss("resource quotas", gap)
	return in, unseen
}
