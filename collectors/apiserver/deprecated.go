package apiserver

import (
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Deprecated is an API that somebody asked for and that will go, or went.
type Deprecated struct {
	Group, Version, Resource, Subresource string
	Removed                               int            // with which minor version, 1.Removed; 0 if that is not decided
	Requests                              metrics.Growth // of that version of it
}

// String names the API: "policy/v1beta1 podsecuritypolicies".
func (d Deprecated) String() string {
	name := d.Version + " " + d.Resource
	if d.Group != "" {
		name = d.Group + "/" + name
	}
	if d.Subresource != "" {
		name += "/" + d.Subresource
	}
	return name
}

// A DeprecatedUse is the deprecated APIs that an instance was asked for.
type DeprecatedUse struct {
	APIs    []Deprecated
	Minor   int // of the instance; 0 if it does not say
	Elapsed time.Duration
}

// DeprecatedAPIs is the deprecated APIs that each instance was asked for since
// it started.
var DeprecatedAPIs = windowFact("apiserver.deprecated", "the deprecated APIs that each instance was asked for, and how often",
	func(w metrics.Window) (DeprecatedUse, error) {
		out := DeprecatedUse{Minor: minor(w), Elapsed: w.Elapsed()}
		if m := minor(w); !w.Has("apiserver_request_total") || m != 0 && m < 19 {
			return out, absent(w, 19, "apiserver_requested_deprecated_apis")
		}
		type api struct{ group, version, resource, subresource string }
		of := func(x metrics.Series) api {
			return api{x.Get("group"), x.Get("version"), x.Get("resource"), x.Get("subresource")}
		}
		requests := metrics.Growths(w, "apiserver_request_total", func(x metrics.Series) (api, bool) { return of(x), true })
		for _, x := range w.Last.Series("apiserver_requested_deprecated_apis") {
			if x.Value != 1 {
				continue
			}
			a := of(x)
			d := Deprecated{Group: a.group, Version: a.version, Resource: a.resource, Subresource: a.subresource, Requests: requests[a]}
			if n, err := strconv.Atoi(strings.TrimPrefix(x.Get("removed_release"), "1.")); err == nil && n > 0 {
				d.Removed = n
			}
			out.APIs = append(out.APIs, d)
		}
		return out, nil
	},
	metrics.Select{Name: "apiserver_requested_deprecated_apis", By: []string{"group", "version", "resource", "subresource", "removed_release"}},
	metrics.Select{Name: "apiserver_request_total", By: []string{"group", "version", "resource", "subresource"}})
