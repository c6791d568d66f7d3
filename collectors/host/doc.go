// Package host has the facts of one control-plane node, as the node itself shows
// them: its load, its disks, the manifests of its static pods, their processes,
// what these answer on loopback and what they wrote last. All of it is known
// without the Kubernetes API.
//
// The package is pure. What touches the machine is collectors/live/machine,
// which reads texts of the kernel with the readers of this package and answers
// the requests of its facts, host:/…, with the types below as JSON.
package host

import (
	"encoding/json"

	"github.com/ktriage/ktriage/collectors"
)

// Self is the node that a run looks at from within.
var Self = collectors.Target{Component: collectors.Host}

// The requests, each a Get.
const (
	LoadURL   = "host:/load"   // Load, twice
	NodeURL   = "host:/node"   // Node
	DisksURL  = "host:/disks"  // Disks
	FilesURL  = "host:/files"  // Files
	HealthURL = "host:/health" // []Endpoint
	TailsURL  = "host:/tails"  // Tails
	KernelURL = "host:/kernel" // Kernel
)

// elsewhere is the gap of a run that does not look at the node, or of a
// recording of one.
func elsewhere() *collectors.Gap {
	return collectors.Gapf(collectors.OutOfScope, "the node itself was not looked at").With("run on it: ktriage doctor --node")
}

// answer reads the reply to a single request.
func answer[T any](rs []collectors.Answered) (v T, err error) {
	if g := rs[0].Gap; g != nil {
		if g.Reason == collectors.NotAsked {
			return v, elsewhere()
		}
		return v, g
	}
	err = json.Unmarshal(rs[0].Body, &v)
	return v, err
}

// fact is one that a single request answers.
func fact[T any](id, doc, url string) *collectors.Fact[T] {
	return &collectors.Fact[T]{
		ID: id, Doc: doc, Targets: collectors.Single(Self), Partial: true,
		Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
			return []collectors.Request{{Verb: collectors.Get, URL: url}}
		},
		Read: answer[T],
	}
}

// A Missed is something that was to be read, and was not.
type Missed struct {
	What   string            `json:"what"` // a file, or what it would have told
	Reason collectors.Reason `json:"reason"`
	Detail string            `json:"detail"`
}

// Gap is the gap that stands for it.
func (m Missed) Gap() *collectors.Gap {
	g := collectors.Gapf(m.Reason, "%s: %s", m.What, m.Detail)
	if m.Reason == collectors.Forbidden {
		g = g.With("run ktriage as root")
	}
	return g
}

// missing finds what was missed of a kind.
func missing(ms []Missed, what string) *collectors.Gap {
	for _, m := range ms {
		if m.What == what {
			return m.Gap()
		}
	}
	return nil
}
