package apiserver

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed object_count_high.md
var objectCountHighDoc string

// ObjectCountHigh looks for resources with more objects than Kubernetes is
// tested for.
var ObjectCountHigh = &checks.Check{
	ID:        "apiserver-object-count-high",
	Component: collectors.APIServer,
	Title:     "no resource has more objects than Kubernetes is tested for",
	Doc:       objectCountHighDoc,
	Needs:     []collectors.Any{apiserver.ObjectCounts},
	Remedies: []checks.Remedy{
		{Title: "see in which namespaces they are", Command: "kubectl get RESOURCE -A --no-headers | awk '{print $1}' | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
		{Title: "see who makes them", Command: "kubectl get RESOURCE -A --show-managed-fields -o jsonpath='{range .items[*]}{.metadata.managedFields[0].manager}{\"\\n\"}{end}' --chunk-size=500 | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
	},
	Run: objectCountHigh,
}

// Source: kubernetes/community, sig-scalability/configs-and-limits/thresholds.md.
const objectsSource = "SIG Scalability thresholds"

// objectLimit is from how many objects of a resource on there is a warning.
// Beyond, a cluster may go on for long, so the check does not go further.
func objectLimit(resource string) int64 {
	switch resource {
	case "events", "events.events.k8s.io":
		return 500_000
	case "pods":
		return 150_000
	case "services", "namespaces":
		return 10_000
	case "nodes":
		return 5_000
	}
	return 100_000
}

func objectCountHigh(p *checks.Pass) {
	t := collectors.Target{Component: collectors.APIServer}
	answers, gap := checks.All(p, apiserver.ObjectCounts)
	counts, uncounted := map[string]int64{}, map[string]bool{}
	asked := false
	for _, a := range answers {
		if a.Gap != nil {
			gap = a.Gap
			continue
		}
		asked = true
		for r, n := range a.Value.Counts { // all count the same store, at different times
			counts[r] = max(counts[r], n)
		}
		for _, r := range a.Value.Uncounted {
			uncounted[r] = true
		}
	}
	if !asked {
		p.Unknown(t, gap)
		return
	}
	type over struct {
		resource string
		n, limit int64
	}
	var total int64
	var top over
	var beyond []over
	for r, n := range counts {
		total += n
		delete(uncounted, r)
		o := over{r, n, objectLimit(r)}
		if n > top.n || n == top.n && r < top.resource {
			top = o
		}
		if n > o.limit {
			beyond = append(beyond, o)
		}
	}
	note := ""
	if len(uncounted) > 0 {
		note = fmt.Sprintf("; %s could not be counted", checks.Count(len(uncounted), "resource"))
	}
	if len(beyond) == 0 {
		p.OK(t, "%d objects; most are %s (%d of at most %d)%s", total, top.resource, top.n, top.limit, note).Number("objects", float64(total))
		return
	}
	slices.SortFunc(beyond, func(a, b over) int {
		ratio := func(o over) float64 { return float64(o.n) / float64(o.limit) }
		return cmp.Or(cmp.Compare(ratio(b), ratio(a)), cmp.Compare(a.resource, b.resource))
	})
	worst, more := beyond[0], ""
	if len(beyond) > 1 {
		more = fmt.Sprintf("; %s more over its limit", checks.Count(len(beyond)-1, "resource"))
	}
	v := p.Warn(t, "%d objects of %s, tested up to %d%s%s", worst.n, worst.resource, worst.limit, more, note)
	for _, o := range beyond[:min(5, len(beyond))] {
		v.Saw(apiserver.ObjectCounts, o.resource, fmt.Sprint(o.n), fmt.Sprint(o.limit), objectsSource).Mark("resource=" + o.resource)
	}
	v.Number("objects", float64(total))
}
