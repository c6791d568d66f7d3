package cluster

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// Self is the target of facts about the cluster as a whole.
var Self = collectors.Target{Component: collectors.Cluster, Addr: "kube:"}

// An Access is how this run reaches the cluster.
type Access struct {
	Name    string `json:"name"` // of the cluster in the kubeconfig
	Server  string `json:"server"`
	Context string `json:"context"`
	User    string `json:"user"` // the kind of credential, not its name

	ClientUntil time.Time `json:"clientUntil"` // the end of the client certificate; zero without one
	CAUntil     time.Time `json:"caUntil"`     // of the last certificate of the CA; zero without one
	TokenUntil  time.Time `json:"tokenUntil"`  // the end of the token; zero without one that says so

	Client *collectors.Cert  `json:"client"` // the client certificate; nil without one, or in a recording of before
	CA     []collectors.Cert `json:"ca"`     // what the kubeconfig trusts
}

// HowReached is the kubeconfig's account of the cluster.
var HowReached = &collectors.Fact[Access]{
	ID:      "cluster.access",
	Doc:     "which cluster the kubeconfig names, and with what kind of credential",
	Targets: collectors.Single(Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: "config:/cluster"}}
	},
	Read: func(rs []collectors.Answered) (a Access, err error) {
		err = json.Unmarshal(rs[0].Body, &a)
		return a, err
	},
}

// A Release is a version of Kubernetes.
type Release struct {
	Git          string // "v1.37.2", "v1.33.1-eks-1234567"
	Major, Minor int
	Patch        int
}

// Version is the API server's own account of its version.
var Version = &collectors.Fact[Release]{
	ID:      "cluster.version",
	Doc:     "the API server's version",
	Targets: collectors.Single(Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: "kube:/version"}}
	},
	Read: func(rs []collectors.Answered) (Release, error) {
		if rs[0].Status >= 500 {
			return Release{}, collectors.Gapf(collectors.ServerError, "GET /version answered %d", rs[0].Status)
		}
		var v struct{ GitVersion, Message string } // Message: of a Status, which says why not
		if err := json.Unmarshal(rs[0].Body, &v); err != nil {
			return Release{}, fmt.Errorf("GET /version is not the version of an API server: %w", err)
		}
		switch {
		case v.GitVersion == "" && v.Message != "":
			return Release{}, collectors.Gapf(collectors.Absent, "%s", v.Message).With("kubectl version -o json")
		case v.GitVersion == "":
			return Release{}, collectors.Gapf(collectors.Absent, "the reply to GET /version names no version")
		}
		r, err := ParseRelease(v.GitVersion)
		if err != nil {
			return Release{}, err
		}
		return r, nil
	},
}

// Clock is the API server's clock less that of this machine, to a second. It
// comes with the same reply as Version, and does not need the version to be
// readable.
var Clock = &collectors.Fact[time.Duration]{
	ID:      "cluster.clock",
	Doc:     "the API server's clock against this machine's",
	Targets: collectors.Single(Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: "kube:/version"}}
	},
	Read: func(rs []collectors.Answered) (time.Duration, error) {
		if rs[0].Date.IsZero() {
			return 0, nil
		}
		return rs[0].Date.Sub(rs[0].At).Round(time.Second), nil
	},
}

// Now is the API server's clock when the run began. Ages by it are short by as
// long as the run took to come to a list, which errs on the safe side. A fold
// needs it before its reply is there. With a gap, it is this machine's clock.
func Now(s *collectors.Snapshot) (time.Time, *collectors.Gap) {
	skew, gap := Clock.One(s)
	if gap != nil {
		return s.At, &collectors.Gap{Reason: gap.Reason, Detail: "the API server's clock is not known, so neither is the age of anything: " + gap.Detail, Remedy: gap.Remedy}
	}
	return s.At.Add(skew), nil
}

// ParseRelease reads a version such as v1.37.2 or v1.33.1+k3s1.
func ParseRelease(git string) (Release, error) {
	r := Release{Git: git}
	core, _, _ := strings.Cut(strings.TrimPrefix(git, "v"), "-")
	core, _, _ = strings.Cut(core, "+")
	parts := strings.Split(core, ".")
	if len(parts) < 3 {
		return r, fmt.Errorf("%q is not a version", git)
	}
	for i, p := range []*int{&r.Major, &r.Minor, &r.Patch} {
		n, err := strconv.Atoi(parts[i])
		if err != nil || n < 0 {
			return r, fmt.Errorf("%q is not a version", git)
		}
		*p = n
	}
	return r, nil
}
