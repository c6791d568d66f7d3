package controllers

import (
	"slices"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Tally is what a controller manager counts of its controllers' work, apart
// from their queues.
type Tally struct {
	Elapsed time.Duration
	Uptime  time.Duration
	Broken  string // why the looks cannot be compared; empty if they can

	GC        Counted // attempts of the garbage collector to follow all kinds of objects that failed
	Forced    Counted // pods that were deleted by force, their nodes being gone
	Detached  Counted // volumes that were detached by force
	Evictions Counted // nodes whose pods were evicted
	Zones     []ZoneHealth
	CIDRs     []CIDRs
	Informers []Informer // those with the longest queues; from 1.36 on
}

// A Counted is a counter.
type Counted struct {
	Served   bool
	Window   float64
	Lifetime float64
}

// A ZoneHealth is the share of a zone's nodes that are ready, as the node
// lifecycle controller counts them.
type ZoneHealth struct {
	Name  string
	Nodes float64
	Ready float64 // percent
}

// A CIDRs is how much of a range for pods is given to nodes.
type CIDRs struct {
	Range string
	Used  float64 // a share
}

// An Informer is what waits to be handled of one kind of object.
type Informer struct {
	Resource string
	Queued   float64
	Before   float64 // at the look before
}

// maxSeries bounds what is kept of each family.
const maxSeries = 100

// Tallies are what each controller manager counts. Those of one that does not
// lead are zero.
var Tallies = leases.WindowFact(Elected, "tally", "what each controller manager counts of evictions, garbage collection, ranges for pods and its informers",
	func(w metrics.Window) (Tally, error) {
		if !w.Has("node_collector_zone_health") && !w.Has("workqueue_depth") {
			return Tally{}, collectors.AbsentMetric("workqueue_depth")
		}
		t := Tally{Elapsed: w.Elapsed(), Uptime: w.Uptime(), Broken: w.Broken}
		t.GC = counted(w, "garbagecollector_controller_resources_sync_error_total")
		t.Forced = counted(w, "pod_gc_collector_force_delete_pods_total")
		t.Detached = counted(w, "attachdetach_controller_forced_detaches")
		t.Evictions = counted(w, w.Last.First("node_collector_evictions_total", "node_collector_evictions_number"))
		for _, zone := range first100(w.Last.Values("node_collector_zone_health", "zone")) {
			z := ZoneHealth{Name: zone}
			z.Ready, _ = w.Last.Sum("node_collector_zone_health", metrics.Eq("zone", zone))
			z.Nodes, _ = w.Last.Sum("node_collector_zone_size", metrics.Eq("zone", zone))
			t.Zones = append(t.Zones, z)
		}
		for _, r := range first100(w.Last.Values("node_ipam_controller_cidrset_usage_cidrs", "clusterCIDR")) {
			used, _ := w.Last.Max("node_ipam_controller_cidrset_usage_cidrs", metrics.Eq("clusterCIDR", r))
			t.CIDRs = append(t.CIDRs, CIDRs{r, used})
		}
		for _, r := range first100(w.Last.Values("informer_queued_items", "resource")) {
			i := Informer{Resource: r}
			i.Queued, _ = w.Last.Max("informer_queued_items", metrics.Eq("resource", r))
			if w.OK() {
				i.Before, _ = w.First.Max("informer_queued_items", metrics.Eq("resource", r))
			}
			t.Informers = append(t.Informers, i)
		}
		slices.SortStableFunc(t.Informers, func(a, b Informer) int { return int(b.Queued - a.Queued) })
		return t, nil
	},
	metrics.Select{Name: "workqueue_depth", By: []string{"name"}},
	metrics.Select{Name: "garbagecollector_controller_resources_sync_error_total"},
	metrics.Select{Name: "pod_gc_collector_force_delete_pods_total"},
	metrics.Select{Name: "attachdetach_controller_forced_detaches"},
	metrics.Select{Name: "node_collector_evictions_total"},
	metrics.Select{Name: "node_collector_evictions_number"},
	metrics.Select{Name: "node_collector_zone_health", By: []string{"zone"}},
	metrics.Select{Name: "node_collector_zone_size", By: []string{"zone"}},
	metrics.Select{Name: "node_ipam_controller_cidrset_usage_cidrs", By: []string{"clusterCIDR"}},
	metrics.Select{Name: "informer_queued_items", By: []string{"resource"}})

func counted(w metrics.Window, name string) Counted {
	c := Counted{Served: w.Has(name)}
	c.Lifetime, _ = w.Last.Sum(name)
	c.Window, _ = w.Delta(name)
	return c
}

func first100(xs []string) []string { return xs[:min(len(xs), maxSeries)] }
