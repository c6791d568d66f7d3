package apiserver

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed expensive_lists.md
var expensiveListsDoc string

// ExpensiveLists looks for lists that read much from etcd and return little of it.
var ExpensiveLists = &checks.Check{
	ID:        "apiserver-expensive-lists",
	Component: collectors.APIServer,
	Title:     "lists read from etcd little that they do not return",
	Doc:       expensiveListsDoc,
	Needs:     []collectors.Any{apiserver.ListMetrics},
	Remedies: []checks.Remedy{
		{Title: "see who lists: an audit log tells the client, and so do the flow schemas", Command: "kubectl get --raw \"/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1\" | grep -i list", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{listsRatioAt, listsRateAt},
	Run:        expensiveLists,
}

const (
	// No public source: the check ends at warning.
	listsRatio  = 10.0
	listsRate   = 1e5 / 60 // objects a second
	listsSource = "heuristic"
)

var (
	listsRatioAt = checks.NewThreshold("ratio", checks.InNumber, listsRatio, "objects read for one that is returned", listsSource)
	listsRateAt  = checks.NewThreshold("rate", checks.InRate, listsRate, "objects read", listsSource)
)

func expensiveLists(p *checks.Pass) {
	for t, l := range checks.Each(p, apiserver.ListMetrics) {
		if read := ever(l); l.Elapsed == 0 && read < p.At(listsRateAt) {
			p.OK(t, "lists read %.0f objects from etcd since it started", read)
			continue
		}
		if l.Elapsed == 0 {
			p.Unknown(t, collectors.Gapf(collectors.NotAsked, "what lists cost now is not known: %s", l.Broken))
			continue
		}
		var fetched float64
		var worst apiserver.Listing
		var name string
		for _, r := range slices.Sorted(maps.Keys(l.By)) {
			x := l.By[r]
			fetched += x.Fetched.Window
			if wasted(x) > wasted(worst) {
				worst, name = x, r
			}
		}
		in := "in " + checks.Span(l.Elapsed)
		rate := worst.Fetched.Window / l.Elapsed.Seconds()
		if rate > p.At(listsRateAt) && worst.Fetched.Window > p.At(listsRatioAt)*max(1, worst.Returned.Window) {
			p.Warn(t, "%s of %s read %.0f objects from etcd %s and returned %.0f", checks.Count(worst.Lists.Window, "list"), name, worst.Fetched.Window, in, worst.Returned.Window).
				Saw(apiserver.ListMetrics, "read", fmt.Sprintf("%.0f/s", rate), fmt.Sprintf("%.0f/s, and %.0f times what is returned", p.At(listsRateAt), p.At(listsRatioAt)), listsSource).
				Number("fetched", worst.Fetched.Window).Number("returned", worst.Returned.Window).Mark("resource=" + name)
			continue
		}
		p.OK(t, "lists read %.0f objects from etcd %s", fetched, in).Number("fetched", fetched)
	}
}

// wasted is what was read and not returned.
func wasted(l apiserver.Listing) float64 { return max(0, l.Fetched.Window-l.Returned.Window) }

// ever is what all lists read since the process started.
func ever(l apiserver.Listings) (n float64) {
	for _, x := range l.By {
		n += x.Fetched.Lifetime
	}
	return n
}
