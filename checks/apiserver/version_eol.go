package apiserver

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed version_eol.md
var versionEOLDoc string

// VersionEOL says whether the cluster's minor version still gets patches.
var VersionEOL = &checks.Check{
	ID:        "apiserver-version-eol",
	Component: collectors.APIServer,
	Title:     "the version of Kubernetes still gets patches",
	Doc:       versionEOLDoc,
	Needs:     []collectors.Any{cluster.Version, cluster.WhatKind},
	Remedies: []checks.Remedy{
		{Title: "see to what versions the cluster can go; go one minor version at a time", Command: "kubeadm upgrade plan", Risk: checks.ReadOnly},
	},
	Run: versionEOL,
}

const eolSource = "kubernetes.io/releases"

// endOfLife returns when the community stops patching a minor version. Source:
// kubernetes.io/releases, and data/releases/eol.yaml of kubernetes/website for
// those that have ended, as of November 2026.
func endOfLife(minor int) (time.Time, bool) {
	switch minor {
	case 30:
		return time.Date(2025, 7, 15, 0, 0, 0, 0, time.UTC), true
	case 31:
		return time.Date(2025, 11, 11, 0, 0, 0, 0, time.UTC), true
	case 32:
		return time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC), true
	case 33:
		return time.Date(2026, 6, 28, 0, 0, 0, 0, time.UTC), true
	case 34:
		return time.Date(2026, 10, 27, 0, 0, 0, 0, time.UTC), true
	case 35:
		return time.Date(2027, 2, 28, 0, 0, 0, 0, time.UTC), true
	case 36:
		return time.Date(2027, 6, 28, 0, 0, 0, 0, time.UTC), true
	case 37:
		return time.Date(2027, 10, 28, 0, 0, 0, 0, time.UTC), true
	}
	return time.Time{}, false
}

// oldestKnown is the oldest minor version of which endOfLife knows: what is
// older ended before it.
const oldestKnown = 30

func versionEOL(p *checks.Pass) {
	t := collectors.Target{Component: collectors.APIServer}
	v, gap := checks.One(p, cluster.Version)
	if gap != nil {
		p.Unknown(t, gap)
		return
	}
	kind, _ := checks.One(p, cluster.WhatKind)
	end, known := endOfLife(v.Minor)
	oldest, _ := endOfLife(oldestKnown)
	switch {
	case kind.Managed():
		p.Nothing(t, "%s patches its versions by a calendar of its own", kind.Distribution)
	case !known && v.Minor >= oldestKnown:
		p.OK(t, "%s is newer than what this ktriage knows the end of", v.Git)
	case !known && p.Now().After(oldest):
		p.Info(t, "%s gets no patches any more: even 1.%d ended on %s", v.Git, oldestKnown, oldest.Format(time.DateOnly)).
			Saw(cluster.Version, "version", v.Git, "a supported minor version", eolSource)
	case !known:
		p.Nothing(t, "%s is older than what this ktriage knows the end of", v.Git)
	case p.Now().After(end):
		p.Info(t, "%s gets no patches since %s", v.Git, end.Format(time.DateOnly)).
			Saw(cluster.Version, "version", v.Git, end.Format(time.DateOnly), eolSource)
	default:
		p.OK(t, "%s gets patches until %s", v.Git, end.Format(time.DateOnly))
	}
}
