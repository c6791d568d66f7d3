package leases

import (
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// A Health is an instance's answer to /healthz, a path that needs no rights.
type Health struct {
	Status  int      // HTTP status
	Failing []string // names of the checks that fail; at most maxFailing
}

// OK reports whether the instance finds itself healthy.
func (h Health) OK() bool { return h.Status >= 200 && h.Status < 300 }

const maxFailing = 8

// health asks /healthz rather than /livez, which the components have only
// since 1.29 and 1.31 and which leaves out the election.
func (e *Elected) health() *collectors.Fact[Health] {
	return &collectors.Fact[Health]{
		ID:      string(e.Component) + ".health",
		Doc:     "the answer of each " + string(e.Role) + " to /healthz",
		Needs:   []collectors.Any{cluster.WhatKind, cluster.Instances},
		Targets: e.targets,
		Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
			return []collectors.Request{{Verb: collectors.Get, URL: t.Addr + "/healthz"}}
		},
		Read: func(rs []collectors.Answered) (Health, error) {
			return Health{Status: rs[0].Status, Failing: failing(string(rs[0].Body))}, nil
		},
	}
}

// failing reads the names of failed checks out of a health endpoint's body:
// lines such as "[-]leaderElection failed: reason withheld".
func failing(body string) []string {
	const longest = 80
	var out []string
	for line := range strings.SplitSeq(body, "\n") {
		name, ok := strings.CutPrefix(line, "[-]")
		if !ok || len(out) == maxFailing {
			continue
		}
		name, _, _ = strings.Cut(name, " ")
		out = append(out, strings.ToValidUTF8(name[:min(len(name), longest)], ""))
	}
	return out
}
