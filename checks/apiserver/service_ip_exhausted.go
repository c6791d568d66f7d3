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

//go:embed service_ip_exhausted.md
var serviceIPExhaustedDoc string

// ServiceIPExhausted looks for ranges from which Services will soon get nothing.
var ServiceIPExhausted = &checks.Check{
	ID:        "apiserver-service-ip-exhausted",
	Component: collectors.APIServer,
	Title:     "there are addresses and ports left for Services",
	Doc:       serviceIPExhaustedDoc,
	Needs:     []collectors.Any{apiserver.ServicePools},
	Remedies: []checks.Remedy{
		{Title: "see which Services there are, and how many", Command: "kubectl get services -A --no-headers | awk '{print $1}' | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
		{Title: "add a range (1.33 and later)", Command: "kubectl get servicecidrs", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{poolWarnAt},
	Run:        serviceIPExhausted,
}

const (
	// No public source: the check ends at warning. RULES has 20% and 5%.
	poolWarn   = 0.20
	poolSource = "heuristic"
)

var poolWarnAt = checks.NewThreshold("warn", checks.InRatio, poolWarn, "of the addresses that are left", poolSource)

func serviceIPExhausted(p *checks.Pass) {
	for t, pools := range checks.Each(p, apiserver.ServicePools) {
		var worst string
		left, s := 2.0, checks.OK
		for _, name := range slices.Sorted(maps.Keys(pools)) {
			x := pools[name]
			if x.Free+x.Used <= 0 {
				continue
			}
			if share := x.Free / (x.Free + x.Used); share < left {
				worst, left = name, share
			}
		}
		if worst == "" {
			p.Nothing(t, "it has counted no range of addresses yet")
			continue
		}
		x := pools[worst]
		if left < p.At(poolWarnAt) {
			s = checks.Warning
		}
		note := ""
		for _, name := range slices.Sorted(maps.Keys(pools)) {
			if n := pools[name].Failed.Window; n > 0 && pools[name].Free == 0 {
				s, note = checks.Warning, fmt.Sprintf("; %s could be given none in the window", checks.Count(n, "Service"))
			}
		}
		p.Judge(t, s, "%.0f of %.0f %s are left%s", x.Free, x.Free+x.Used, pool(worst), note).
			Saw(apiserver.ServicePools, "left", checks.Percent(left), checks.Percent(p.At(poolWarnAt)), poolSource).Number("left", left)
	}
}

// pool names what a pool holds.
func pool(name string) string {
	if name == apiserver.NodePorts {
		return name
	}
	return "addresses of " + name
}
