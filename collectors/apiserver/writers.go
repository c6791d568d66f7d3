package apiserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// A Part is what one resource has of something.
type Part struct {
	Of        string  // "pods", "leases.coordination.k8s.io"
	PerSecond float64 // on average over the window
}

// A Demand is what the API servers want of their store, by resource, the most
// first; at most maxParts of each.
type Demand struct {
	Written  []Part  // writes that were answered well
	Writes   float64 // a second, of all resources
	Listed   []Part  // objects read from etcd for lists; nil if it is not told
	Instance int     // how many API servers tell
	Of       int     // of so many
}

const maxParts = 3

// Tell says what is wanted, as pairs of what and how much; there are none where
// there is no demand.
func (d Demand) Tell() [][2]string {
	among := ""
	if d.Instance != d.Of {
		among = fmt.Sprintf(" (at %d of %d API servers)", d.Instance, d.Of)
	}
	var out [][2]string
	if d.Writes > 0 {
		out = append(out, [2]string{"writes a second", Rate(d.Writes) + ", most of " + parts(d.Written) + among})
	}
	if len(d.Listed) > 0 {
		out = append(out, [2]string{"objects a second read for lists", parts(d.Listed) + among})
	}
	return out
}

// Rate writes a number a second.
func Rate(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

// parts names the largest parts: "events (45), pods (2.1)".
func parts(ps []Part) string {
	var out []string
	for _, x := range ps {
		out = append(out, x.Of+" ("+Rate(x.PerSecond)+")")
	}
	return strings.Join(out, ", ")
}

// StoreDemand is what the API servers want of their store: each counts what went
// through it, so that it is their sum.
var StoreDemand = &collectors.Fact[Demand]{
	ID:      "apiserver.store-demand",
	Doc:     "of which resources the API servers write and list most, in the window",
	Needs:   []collectors.Any{Requests, ListMetrics},
	Targets: collectors.Single(collectors.Target{Component: collectors.APIServer}),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) (Demand, error) {
		var d Demand
		written, listed := map[string]float64{}, map[string]float64{}
		all, gap := Requests.Answers(s)
		if gap != nil {
			return d, gap
		}
		d.Of = len(all)
		for _, a := range all {
			switch {
			case a.Gap != nil:
				gap = a.Gap
				continue
			case a.Value.Elapsed <= 0:
				gap = collectors.Gapf(collectors.NotAsked, "a rate needs two looks that can be compared: %s", a.Value.Broken)
				continue
			}
			d.Instance++
			for _, r := range a.Value.Rows {
				if r.Write() && r.Stored() && strings.HasPrefix(r.Code, "2") && r.Window > 0 {
					rate := r.Window / a.Value.Elapsed.Seconds()
					written[r.Of()] += rate
					d.Writes += rate
				}
			}
			// What they list is told by fewer versions, and adds to the rest.
			l, gap := ListMetrics.Of(s, a.Target)
			if gap != nil || l.Elapsed <= 0 {
				continue
			}
			for name, g := range l.By {
				if g.Fetched.Window > 0 {
					listed[name] += g.Fetched.Window / l.Elapsed.Seconds()
				}
			}
		}
		if d.Instance == 0 {
			return d, cmp.Or(gap, collectors.Gapf(collectors.Absent, "no API server is known"))
		}
		d.Written, d.Listed = most(written), most(listed)
		return d, nil
	},
}

// most returns the largest parts, the same ones each time.
func most(by map[string]float64) []Part {
	var out []Part
	for of, rate := range by {
		out = append(out, Part{of, rate})
	}
	slices.SortFunc(out, func(a, b Part) int { return cmp.Or(-cmp.Compare(a.PerSecond, b.PerSecond), cmp.Compare(a.Of, b.Of)) })
	return out[:min(len(out), maxParts)]
}
