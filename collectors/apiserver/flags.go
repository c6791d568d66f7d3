package apiserver

import (
	"regexp"
	"strings"

	"github.com/ktriage/ktriage/collectors"
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

// flagz is what each instance itself says of its flags; few serve it.
var flagz = &collectors.Fact[map[string]string]{
	ID:      "apiserver.flagz",
	Doc:     "the flags of each instance, as it tells them itself",
	Needs:   []collectors.Any{Ways},
	Targets: targets,
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: t.Addr + "/flagz"}}
	},
	Read: func(rs []collectors.Answered) (map[string]string, error) {
		f := readFlagz(string(rs[0].Body))
		if len(f) == 0 {
			return nil, collectors.Gapf(collectors.Absent, "it does not serve /flagz")
		}
		return f, nil
	},
}

// flagLine is a flag as the endpoint writes it. Which sign stands between name
// and value it draws by lot, so that nobody reads it by a program.
// Source: k8s.io/component-base 0.34, zpages/flagz.
var flagLine = regexp.MustCompile(`^([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?:=|: ?| )(.*)$`)

func readFlagz(body string) map[string]string {
	if !strings.Contains(body, "flags") {
		return nil
	}
	out := map[string]string{}
	for line := range strings.Lines(body) {
		if m := flagLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			out[m[1]] = strings.TrimSpace(m[2])
		}
	}
	return out
}

// CommandLines is the flags of each instance: by its pod, or by what it says
// itself. Only those of the pod are what somebody chose; the other has defaults
// too.
var CommandLines = &collectors.Fact[Flags]{
	ID:      "apiserver.flags",
	Doc:     "the flags that each instance was started with",
	Needs:   []collectors.Any{Ways, Instances, flagz},
	Targets: targets,
	Derive: func(s *collectors.Snapshot, t collectors.Target) (Flags, error) {
		fleet, _ := Instances.One(s)
		for _, i := range fleet.Known {
			if i.Pod.Pod != "" && (i.Name == t.Name || t.Name == "" && len(fleet.Known) == 1) {
				return Flags{i.Pod.Flags, "its pod"}, nil
			}
		}
		if f, gap := flagz.Of(s, t); gap == nil {
			return Flags{f, "/flagz"}, nil
		}
		if fleet.Hidden != nil {
			return Flags{}, fleet.Hidden
		}
		return Flags{}, collectors.Gapf(collectors.Absent, "no pod of this instance is to be seen, and it does not serve /flagz")
	},
}
