package apiserver

import (
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Listing is what lists of one resource cost etcd.
type Listing struct{ Lists, Fetched, Returned metrics.Growth }

// Listings is what the lists cost that an instance had from etcd.
type Listings struct {
	By      map[string]Listing // by "pods", "deployments.apps"
	Elapsed time.Duration
	Broken  string
}

// ListMetrics is what the lists cost that each instance had from etcd, and not
// from its cache.
var ListMetrics = windowFact("apiserver.lists", "objects that each instance read from etcd for lists, and that it returned, by resource",
	func(w metrics.Window) (Listings, error) {
		out := Listings{By: map[string]Listing{}, Elapsed: w.Elapsed(), Broken: w.Broken}
		if !w.Has("apiserver_storage_list_total") {
			return out, absent(w, 23, "apiserver_storage_list_total")
		}
		for _, m := range []struct {
			name string
			set  func(*Listing, metrics.Growth)
		}{
			{"apiserver_storage_list_total", func(l *Listing, g metrics.Growth) { l.Lists = g }},
			{"apiserver_storage_list_fetched_objects_total", func(l *Listing, g metrics.Growth) { l.Fetched = g }},
			{"apiserver_storage_list_returned_objects_total", func(l *Listing, g metrics.Growth) { l.Returned = g }},
		} {
			for r, g := range metrics.Growths(w, m.name, ofEtcd) {
				l := out.By[r]
				m.set(&l, g)
				out.By[r] = l
			}
		}
		return out, nil
	},
	selects([]string{"group", "resource", "storage"}, "apiserver_storage_list_total", "apiserver_storage_list_fetched_objects_total", "apiserver_storage_list_returned_objects_total")...)

// ofEtcd tells the resource of a list that came from etcd: from 1.37 on lists
// out of the cache are counted in the same family.
func ofEtcd(x metrics.Series) (string, bool) {
	return resourceOf(x), x.Get("storage") == "" || x.Get("storage") == "etcd"
}

// resourceOf names a resource: "pods", "deployments.apps". Before 1.34 the label
// resource held the group too.
func resourceOf(x metrics.Series) string {
	r := x.Get("resource")
	if g := x.Get("group"); g != "" {
		r += "." + g
	}
	return r
}
