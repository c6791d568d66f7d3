package apiserver

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// Flags is an instance's command line.
type Flags struct {
	Set map[string]string
	By  string // "its pod" or "/flagz"
}

// Get returns a flag, or what the API server takes without it.
func (f Flags) Get(name, otherwise string) string {
	if v, ok := f.Set[name]; ok {
		return v
	}
	return otherwise
}

// flagz is what each instance whose pod is not seen says of its flags itself;
// few serve it.
var flagz = &collectors.Fact[map[string]string]{
	ID:    "apiserver.flagz",
	Doc:   "the flags of each instance whose pod is not seen, as it tells them itself",
	Needs: []collectors.Any{Ways, Instances},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		seen := withPods(s)
		ways, err := targets(s)
		return slices.DeleteFunc(ways, func(t collectors.Target) bool {
			return slices.ContainsFunc(seen, t.Is) || t.Name == "" && len(seen) > 0
		}), err
	},
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: t.Addr + "/flagz"}}
	},
	Read: func(rs []collectors.Answered) (map[string]string, error) {
		f := readFlagz(string(rs[0].Body))
		if rs[0].Status == 404 || len(f) == 0 {
			return nil, collectors.Gapf(collectors.Absent, "it does not serve /flagz")
		}
		return f, nil
	},
}

// flagLine is a flag as the endpoint writes it. Which sign stands between name
// and value it draws by lot, so that nobody reads it by a program.
// Source: k8s.io/component-base 0.34, zpages/flagz; k8s.io/apiserver 0.37,
// server/flagz.
var flagLine = regexp.MustCompile(`^([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?:=|: ?| )(.*)$`)

func readFlagz(body string) map[string]string {
	title, rest, _ := strings.Cut(strings.TrimLeft(body, "\r\n"), "\n")
	if title = strings.TrimSpace(title); !strings.HasSuffix(title, " flags") && !strings.HasSuffix(title, " flagz") {
		return nil
	}
	out := map[string]string{}
	for line := range strings.Lines(rest) {
		if m := flagLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			out[m[1]] = strings.TrimSpace(m[2])
		}
	}
	return out
}

// CommandLines is the flags of each instance: by its pod, or by what it says
// itself. Only those of the pod are what somebody chose; the other has defaults
// too. Its targets are all that pods show, whether they can be asked or not.
var CommandLines = &collectors.Fact[Flags]{
	ID:    "apiserver.flags",
	Doc:   "the flags that each instance was started with",
	Needs: []collectors.Any{Ways, Instances, flagz, cluster.Instances, cluster.WhatKind},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		others, gap := flagz.Answers(s)
		if gap != nil {
			return nil, gap
		}
		out := withPods(s)
		for _, a := range others {
			out = append(out, a.Target)
		}
		return out, nil
	},
	Derive: func(s *collectors.Snapshot, t collectors.Target) (Flags, error) {
		fleet, _ := Instances.One(s)
		for _, i := range fleet.Known {
			if i.Name == t.Name && len(i.Pod.Flags) > 0 {
				return Flags{i.Pod.Flags, "its pod"}, nil
			}
		}
		f, gap := flagz.Of(s, t)
		switch {
		case gap == nil:
			return Flags{f, "/flagz"}, nil
		case fleet.Hidden != nil:
			return Flags{}, fleet.Hidden
		case gap.Reason != collectors.Absent:
			return Flags{}, gap
		}
		if _, hidden := cluster.InRole(s, cluster.RoleAPIServer); hidden != nil && hidden.Reason != collectors.OutOfScope && hidden.Reason != collectors.Absent {
			return Flags{}, hidden
		}
		return Flags{}, collectors.Gapf(collectors.OutOfScope, "it runs as no pod and does not serve /flagz: nothing tells its command line")
	},
}

// withPods are the instances whose pods tell their command line.
func withPods(s *collectors.Snapshot) []collectors.Target {
	fleet, _ := Instances.One(s)
	var out []collectors.Target
	for _, i := range fleet.Known {
		if len(i.Pod.Flags) > 0 {
			out = append(out, i.target(""))
		}
	}
	return out
}
