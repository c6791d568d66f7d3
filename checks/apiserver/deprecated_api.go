package apiserver

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed deprecated_api.md
var deprecatedAPIDoc string

// DeprecatedAPI looks for APIs that are used and will soon be gone.
var DeprecatedAPI = &checks.Check{
	ID:        "apiserver-deprecated-api-in-use",
	Component: collectors.APIServer,
	Title:     "no API is asked for that the next version removes",
	Doc:       deprecatedAPIDoc,
	Needs:     []collectors.Any{apiserver.DeprecatedAPIs, cluster.Version},
	Remedies: []checks.Remedy{
		{Title: "find who asks for it, in an audit log", Command: "grep '\"k8s.io/deprecated\":\"true\"' /var/log/kubernetes/audit.log | jq -r '[.user.username,.userAgent,.requestURI]|@tsv' | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
	},
	Run: deprecatedAPI,
}

const deprecatedSource = "cluster-kube-apiserver-operator APIRemovedInNextReleaseInUse"

func deprecatedAPI(p *checks.Pass) {
	version, _ := checks.One(p, cluster.Version)
	for t, u := range checks.Each(p, apiserver.DeprecatedAPIs) {
		now := u.Minor
		if now == 0 {
			now = version.Minor
		}
		var soon, later []string
		s := checks.OK
		first := 0
		for _, d := range u.APIs {
			switch {
			case d.Removed == 0 || now == 0:
				continue // it is deprecated and stays
			case d.Removed <= now+1 && u.Elapsed > 0 && d.Requests.Window > 0:
				s = max(s, checks.Warning)
			default:
				s = max(s, checks.Info)
			}
			words := fmt.Sprintf("%s, gone with 1.%d", d, d.Removed)
			if d.Removed <= now+1 {
				soon = append(soon, words)
			} else {
				later = append(later, words)
			}
			if first == 0 || d.Removed < first {
				first = d.Removed
			}
		}
		slices.Sort(soon)
		slices.Sort(later)
		switch s {
		case checks.OK:
			p.OK(t, "%s asked for since it started, none with an end", checks.Count(len(u.APIs), "deprecated API"))
			continue
		case checks.Warning:
			p.Warn(t, "asked for in %s: %s", checks.Span(u.Elapsed), checks.List(slices.Concat(soon, later), 3)).
				Saw(apiserver.DeprecatedAPIs, "gone with", fmt.Sprintf("1.%d", first), fmt.Sprintf("after 1.%d", now+1), deprecatedSource).
				Number("removed", float64(first))
		default:
			p.Info(t, "asked for since it started: %s", checks.List(slices.Concat(soon, later), 3)).
				Saw(apiserver.DeprecatedAPIs, "gone with", fmt.Sprintf("1.%d", first), fmt.Sprintf("after 1.%d", now+1), deprecatedSource)
		}
	}
}
