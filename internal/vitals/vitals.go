// Package vitals says what each component is doing, well or ill: the numbers
// an operator asks for first. It judges nothing; checks do.
package vitals

import (
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

// A Vital is one number.
type Vital struct {
	Component collectors.Component `json:"component"`
	Target    collectors.Target    `json:"target"`
	Name      string               `json:"name"`         // "fsync p99", "qps"
	Of        string               `json:"of,omitempty"` // the part of the target that it is of: a queue, a verb
	Value     float64              `json:"value"`
	Unit      string               `json:"unit"` // "s", "B", "1/s", "%", or "" for a count
	Basis     checks.Basis         `json:"basis"`
	// AtLeast says that the number is a lower bound: a quantile beyond the
	// last bucket.
	AtLeast bool `json:"atLeast,omitempty"`
	// Buckets is, of a quantile, how the observations are spread that it was
	// taken from, over what Basis names: from the first bucket that holds one to
	// the last.
	Buckets []Bucket `json:"buckets,omitempty"`
	// Text goes with the number where one is not enough: who holds a lease.
	Text string `json:"text,omitempty"`
}

// A Bucket counts the observations of a histogram above the bucket before it,
// and up to a limit in the unit of the vital.
type Bucket struct {
	Over  float64 `json:"over"`
	UpTo  float64 `json:"upTo,omitempty"` // left out of the last, which has no limit
	Count float64 `json:"count"`
}

// A Group reads the vitals of one component. What a fact does not know is left
// out: the checks say why.
type Group struct {
	Component collectors.Component
	Needs     []collectors.Any
	Read      func(s *collectors.Snapshot, add func(Vital))
}

// groups lists the vitals of all components, in the order of a report.
var groups = []Group{etcdGroup, apiserverGroup, schedulerGroup, controllersGroup, leasesGroup}

// Facts returns the facts that the vitals need.
func Facts() []collectors.Any {
	var out []collectors.Any
	for _, g := range groups {
		out = append(out, g.Needs...)
	}
	return out
}

// Read returns the vitals of a snapshot, by component, in the order in which
// each group gives them. A group that panics gives none.
func Read(s *collectors.Snapshot) []Vital {
	var out []Vital
	for _, g := range groups {
		out = append(out, read(g, s)...)
	}
	return out
}

func read(g Group, s *collectors.Snapshot) (out []Vital) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	g.Read(s, func(v Vital) {
		v.Component = g.Component
		out = append(out, v)
	})
	return slices.Clip(out)
}
