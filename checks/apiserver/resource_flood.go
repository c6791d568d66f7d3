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

//go:embed resource_flood.md
var resourceFloodDoc string

// ResourceFlood looks for an operator that writes without end.
var ResourceFlood = &checks.Check{
	ID:        "apiserver-resource-flood",
	Component: collectors.APIServer,
	Title:     "no operator's objects are most of what is written",
	Doc:       resourceFloodDoc,
	Needs:     []collectors.Any{apiserver.Requests, apiserver.ObjectCounts},
	Remedies: []checks.Remedy{
		{Title: "see who writes them", Command: "kubectl get RESOURCE -A --show-managed-fields --chunk-size=500 -o jsonpath='{range .items[*]}{.metadata.managedFields[-1:].manager}{\"\\n\"}{end}' | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
		{Title: "stop that operator while its fault is looked for", Command: "kubectl -n {ns} scale deployment OPERATOR --replicas=0", Risk: checks.Disruptive},
	},
	Thresholds: []*checks.Threshold{floodShareAt, floodRateAt},
	Run:        resourceFlood,
}

const (
	// No public source: the check ends at warning. On a large cluster the
	// kubelets' leases alone are many writes, and what the control plane itself
	// writes grows with it, so that both limits together are out of the usual
	// on any.
	floodShare  = 0.50 // of all writes
	floodRate   = 20.0 // a second
	floodSource = "expert heuristic"
)

var (
	floodShareAt = checks.NewThreshold("share", checks.InRatio, floodShare, "of all writes that are of one resource", floodSource)
	floodRateAt  = checks.NewThreshold("rate", checks.InRate, floodRate, "writes of one resource", floodSource)
)

// floods reports whether objects of a resource may be somebody's flood: custom
// resources, and those built-in ones that operators keep their own things in.
// Of the others the control plane writes as many as it has pods and nodes.
func floods(o apiserver.Operation) bool {
	if o.Resource == "" || o.Aggregated() {
		return false
	}
	if !o.InSLO() {
		return true
	}
	return slices.Contains([]string{"configmaps", "secrets", "serviceaccounts", "jobs"}, o.Resource)
}

// A flow is what is written of one resource.
type flow struct {
	resource             string
	written, made, taken float64
	share                float64
}

func resourceFlood(p *checks.Pass) {
	t := collectors.Target{Component: collectors.APIServer}
	known, note := watched(p, t)
	if len(known) == 0 {
		return
	}
	flows := map[string]*flow{}
	var writes, elapsed float64
	for _, traffic := range known {
		elapsed = max(elapsed, traffic.Elapsed.Seconds())
		// What was refused is no write.
		for _, r := range traffic.Rows {
			if !r.Write() || r.LongRunning() || len(r.Code) != 3 || r.Code[0] != '2' {
				continue
			}
			rate := r.Window / traffic.Elapsed.Seconds()
			writes += rate
			if !floods(r.Operation) {
				continue
			}
			name := r.Resource
			if r.Group != "" {
				name += "." + r.Group
			}
			f := flows[name]
			if f == nil {
				f = &flow{resource: name}
				flows[name] = f
			}
			f.written += rate
			switch {
			case r.Subresource != "":
			case r.Verb == "POST":
				f.made += r.Window
			case r.Verb == "DELETE":
				f.taken += r.Window
			}
		}
	}
	if writes == 0 {
		p.Nothing(t, "no write request in the window")
		return
	}
	var top flow
	for _, f := range flows {
		f.share = f.written / writes
		if c := cmp.Compare(f.written, top.written); c > 0 || c == 0 && f.resource < top.resource {
			top = *f
		}
	}
	if top.written == 0 {
		p.OK(t, "%.1f writes a second, none of them of operators' objects%s", writes, note)
		return
	}
	rate := fmt.Sprintf("%s: %.1f writes a second, %s of all%s", top.resource, top.written, checks.Percent(top.share), note)
	if top.written < p.At(floodRateAt) || top.share < p.At(floodShareAt) {
		p.OK(t, "%s", rate).Number("rate", top.written)
		return
	}
	p.Warn(t, "%s; %.0f made and %.0f deleted in %s%s", rate, top.made, top.taken, checks.Seconds(elapsed), stored(p, top.resource)).
		Saw(apiserver.Requests, "writes a second", fmt.Sprintf("%.1f", top.written), fmt.Sprintf("%.0f", p.At(floodRateAt)), floodSource).
		Saw(apiserver.Requests, "share of writes", checks.Percent(top.share), checks.Percent(p.At(floodShareAt)), floodSource).
		Mark("resource="+top.resource).Number("rate", top.written).Number("share", top.share)
}

// stored tells how many objects of a resource there are, as far as was counted.
func stored(p *checks.Pass, resource string) string {
	var n, all int64
	answers, _ := checks.All(p, apiserver.ObjectCounts)
	for _, a := range answers {
		if a.Gap != nil || a.Value.Counts[resource] <= n {
			continue
		}
		n, all = a.Value.Counts[resource], 0
		for _, c := range a.Value.Counts {
			all += c
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d objects stored, by the last count", n, all)
}
