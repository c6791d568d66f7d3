package apiserver

import (
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Footprint is what one resource takes of the store, and how much is written
// to it, as one API server knows it.
type Footprint struct {
	Objects int64 // −1 if it could not count
	Grown   int64 // how many more there are than at the first look
	Bytes   int64 // −1 if it does not tell: estimates came with 1.34
	Created float64
	Updated float64
	Deleted float64 // requests over the window that were done; 0 unless Watched
}

// Writes is how many requests changed the resource.
func (f Footprint) Writes() float64 { return f.Created + f.Updated + f.Deleted }

// Footprints are those of all resources, by "pods", "deployments.apps".
type Footprints struct {
	By      map[string]Footprint
	Sizes   bool          // sizes are told
	Watched time.Duration // between the looks; 0 if they cannot be compared
	Why     string        // why they cannot
}

// ResourceFootprints is what each resource takes of the store. Objects and
// their sizes are what an instance learned within the last minute, so that
// growth over a shorter time may not show.
var ResourceFootprints = windowFact("apiserver.footprint", "how many objects of each resource are stored, how large they are, and how often they are written",
	func(w metrics.Window) (Footprints, error) {
		counts := []string{"apiserver_resource_objects", "apiserver_storage_objects", "etcd_object_counts"}
		name := w.Last.First(counts...)
		if !w.Has(name) {
			return Footprints{}, absent(w, 14, counts...)
		}
		const sizes = "apiserver_resource_size_estimate_bytes"
		out := Footprints{By: map[string]Footprint{}, Sizes: w.Has(sizes), Watched: w.Elapsed(), Why: w.Broken}
		before := map[string]float64{}
		if w.OK() {
			for _, x := range w.First.Series(name) {
				before[resourceOf(x)] = x.Value
			}
		}
		for _, x := range w.Last.Series(name) {
			r := resourceOf(x)
			f := Footprint{Objects: int64(x.Value), Bytes: -1}
			if was, ok := before[r]; ok && was >= 0 && x.Value >= 0 {
				f.Grown = int64(x.Value - was)
			}
			out.By[r] = f
		}
		for _, x := range w.Last.Series(sizes) {
			r := resourceOf(x)
			f, ok := out.By[r]
			if !ok {
				f = Footprint{Objects: -1}
			}
			f.Bytes = int64(x.Value)
			out.By[r] = f
		}
		if !w.OK() {
			return out, nil
		}
		type kind struct{ resource, verb string }
		done := metrics.Growths(w, "apiserver_request_total", func(x metrics.Series) (kind, bool) {
			verb := x.Get("verb")
			switch verb {
			case "POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION":
				return kind{resourceOf(x), verb}, strings.HasPrefix(x.Get("code"), "2")
			}
			return kind{}, false
		})
		for k, g := range done {
			f, ok := out.By[k.resource]
			if !ok {
				continue // reviews and other things that are not stored
			}
			switch k.verb {
			case "POST":
				f.Created += g.Window
			case "DELETE", "DELETECOLLECTION":
				f.Deleted += g.Window
			default:
				f.Updated += g.Window
			}
			out.By[k.resource] = f
		}
		return out, nil
	},
	append(selects([]string{"group", "resource"}, "apiserver_resource_objects", "apiserver_storage_objects", "etcd_object_counts", "apiserver_resource_size_estimate_bytes"),
		metrics.Select{Name: "apiserver_request_total", By: []string{"group", "resource", "verb", "code"}})...)
