package apiserver

import (
	"maps"
	"slices"
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Store is how long an instance's calls to etcd took, by operation: "get",
// "create", "update", "delete", "list", "listWithCount", "listStream", …
type Store map[string]metrics.Latency

// pointOps touch one key, so that how long they take depends on etcd and the
// way to it. What lists take depends on how much they list.
var pointOps = []string{"get", "create", "update", "delete"}

// PointOp reports whether an operation touches one key.
func PointOp(op string) bool { return slices.Contains(pointOps, op) }

// Point is all calls that touch one key.
func (s Store) Point() metrics.Latency {
	var l metrics.Latency
	for _, op := range pointOps {
		l = l.Add(s[op])
	}
	return l
}

// Lists is all other calls.
func (s Store) Lists() metrics.Latency {
	var l metrics.Latency
	for op, x := range s {
		if !PointOp(op) {
			l = l.Add(x)
		}
	}
	return l
}

// StoreLatency is how long each instance's calls to etcd took, as it sees them.
// They are told apart by operation alone: what else the metric tells changed
// its meaning with 1.34.
var StoreLatency = windowFact("apiserver.store-latency", "how long each instance's calls to etcd took, by operation",
	func(w metrics.Window) (Store, error) {
		const family = "etcd_request_duration_seconds"
		if !w.Has(family) { // 1.14 declares it and does not serve it
			return nil, absent(w, 15, family)
		}
		return metrics.Latencies(w, family, func(x metrics.Series) (string, bool) { return x.Get("operation"), true }), nil
	},
	metrics.Select{Name: "etcd_request_duration_seconds", By: []string{"operation"}})

// A StoreCount is an instance's calls to etcd and how many of them failed.
type StoreCount struct {
	Calls  metrics.Growth
	Errors map[string]metrics.Growth // by operation
	Broken string                    // why there is no window
	Window time.Duration
}

// Failed adds up the calls that failed.
func (c StoreCount) Failed() metrics.Growth {
	var g metrics.Growth
	for _, e := range c.Errors {
		g.Window += e.Window
		g.Lifetime += e.Lifetime
	}
	return g
}

// StoreErrors counts each instance's calls to etcd that failed.
var StoreErrors = windowFact("apiserver.store-errors", "how many of each instance's calls to etcd failed",
	func(w metrics.Window) (StoreCount, error) {
		c := StoreCount{Broken: w.Broken, Window: w.Elapsed()}
		if !w.Has("etcd_requests_total") {
			return c, absent(w, 28, "etcd_requests_total")
		}
		c.Calls = metrics.Growths(w, "etcd_requests_total", func(metrics.Series) (bool, bool) { return true, true })[true]
		// The counter of errors is not served before there is one.
		c.Errors = metrics.Growths(w, "etcd_request_errors_total", func(x metrics.Series) (string, bool) { return x.Get("operation"), true })
		return c, nil
	},
	selects([]string{"operation"}, "etcd_requests_total", "etcd_request_errors_total")...)

// A Size is how large the API server's stores are, as it learned from etcd
// within the last half minute.
type Size struct {
	Bytes map[string]int64 // by the store's name or endpoint
}

// Largest is the largest of the stores: quotas hold for each of them.
func (s Size) Largest() (name string, bytes int64) {
	for n, b := range s.Bytes {
		if b > bytes || b == bytes && n < name {
			name, bytes = n, b
		}
	}
	return name, bytes
}

// Main is the store that has all resources but those with one of their own,
// which are told apart from 1.28 on. Source: the API server numbers its stores
// and begins with the one of --etcd-servers.
func (s Size) Main() (name string, bytes int64) {
	if b, ok := s.Bytes["etcd-0"]; ok {
		return "etcd-0", b
	}
	return s.Largest()
}

// Others are the stores beside the main one, of --etcd-servers-overrides, by
// name. Each is an etcd cluster of its own, with a quota of its own.
func (s Size) Others() []string {
	if _, ok := s.Bytes["etcd-0"]; !ok {
		return nil // endpoints, which may be members of one cluster
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Bytes)), func(n string) bool { return n == "etcd-0" })
}

// StorageSize is the size of the database as each instance knows it.
var StorageSize = windowFact("apiserver.storage-size", "the size of the API server's database, as it asks etcd for it",
	func(w metrics.Window) (Size, error) {
		names := []string{"apiserver_storage_size_bytes", "apiserver_storage_db_total_size_in_bytes", "etcd_db_total_size_in_bytes"}
		name := w.Last.First(names...)
		if !w.Has(name) {
			return Size{}, absent(w, 19, names...)
		}
		s := Size{Bytes: map[string]int64{}}
		for _, x := range w.Last.Series(name) {
			s.Bytes[either(x, "storage_cluster_id", "endpoint")] += int64(x.Value)
		}
		return s, nil
	},
	selects([]string{"storage_cluster_id", "endpoint"}, "apiserver_storage_size_bytes", "apiserver_storage_db_total_size_in_bytes", "etcd_db_total_size_in_bytes")...)

// Objects is how many objects of each resource are stored, as each instance
// counted them within the last minute. The API server says −1 where it could
// not count; such resources are left out of Counts and named in Uncounted.
type Objects struct {
	Counts    map[string]int64 // by "pods", "deployments.apps"
	Uncounted []string
}

// ObjectCounts counts the stored objects by resource.
var ObjectCounts = windowFact("apiserver.objects", "how many objects of each resource are stored",
	func(w metrics.Window) (Objects, error) {
		names := []string{"apiserver_resource_objects", "apiserver_storage_objects", "etcd_object_counts"}
		name := w.Last.First(names...)
		if !w.Has(name) {
			return Objects{}, absent(w, 14, names...)
		}
		o := Objects{Counts: map[string]int64{}}
		for _, x := range w.Last.Series(name) {
			r := resourceOf(x)
			if x.Value < 0 {
				o.Uncounted = append(o.Uncounted, r)
				continue
			}
			o.Counts[r] += int64(x.Value)
		}
		return o, nil
	},
	selects([]string{"group", "resource"}, "apiserver_resource_objects", "apiserver_storage_objects", "etcd_object_counts")...)

// An Integrity counts what should never happen to what is stored.
type Integrity struct {
	Undecodable   map[string]metrics.Growth // reads of objects that could not be decoded, by resource
	Untransformed map[string]metrics.Growth // failed encryptions and decryptions, by status
	Inconsistent  map[string]metrics.Growth // checks that found a cache to differ from etcd, by resource
	Checked       metrics.Growth            // consistency checks that came to a result; none before 1.33
	Checks        bool                      // whether the instance makes consistency checks
	Broken        string                    // why there is no window
}

// StoreIntegrity counts objects that cannot be read and caches that differ.
var StoreIntegrity = windowFact("apiserver.store-integrity", "objects that an instance could not decode or decrypt, and caches that it found to differ from etcd",
	func(w metrics.Window) (Integrity, error) {
		if !w.Has("apiserver_request_total") {
			return Integrity{}, absent(w, 14, "apiserver_request_total")
		}
		resource := func(x metrics.Series) (string, bool) {
			return resourceOf(x), true
		}
		i := Integrity{
			Undecodable: metrics.Growths(w, "apiserver_storage_decode_errors_total", resource),
			Untransformed: metrics.Growths(w, "apiserver_storage_transformation_operations_total", func(x metrics.Series) (string, bool) {
				return x.Get("status"), x.Get("status") != "OK"
			}),
			Inconsistent: metrics.Growths(w, "apiserver_storage_consistency_checks_total", func(x metrics.Series) (string, bool) {
				r, _ := resource(x)
				return r, x.Get("status") == "failure"
			}),
			Checks: w.Has("apiserver_storage_consistency_checks_total"),
			Broken: w.Broken,
		}
		i.Checked = metrics.Growths(w, "apiserver_storage_consistency_checks_total", func(x metrics.Series) (bool, bool) {
			return true, x.Get("status") != "error"
		})[true]
		return i, nil
	},
	metrics.Select{Name: "apiserver_storage_decode_errors_total", By: []string{"group", "resource"}},
	metrics.Select{Name: "apiserver_storage_transformation_operations_total", By: []string{"status"}},
	metrics.Select{Name: "apiserver_storage_consistency_checks_total", By: []string{"group", "resource", "status"}},
	metrics.Select{Name: "apiserver_request_total"})

// ResourceBytes is how large all objects of each resource are together, in
// etcd, as each instance estimates it.
var ResourceBytes = windowFact("apiserver.resource-bytes", "how many bytes the objects of each resource take in etcd, by each instance's estimate",
	func(w metrics.Window) (map[string]int64, error) {
		const family = "apiserver_resource_size_estimate_bytes"
		if !w.Has(family) {
			return nil, absent(w, 34, family)
		}
		out := map[string]int64{}
		for _, x := range w.Last.Series(family) {
			if x.Value >= 0 { // negative: it could not be estimated
				out[resourceOf(x)] += int64(x.Value)
			}
		}
		return out, nil
	},
	selects([]string{"group", "resource"}, "apiserver_resource_size_estimate_bytes")...)
