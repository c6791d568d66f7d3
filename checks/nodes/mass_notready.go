package nodes

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/nodes"
)

//go:embed mass_notready.md
var massNotReadyDoc string

// MassNotReady looks for so many nodes without a sign of life that it cannot be
// the nodes.
var MassNotReady = &checks.Check{
	ID:        "nodes-mass-notready",
	Component: collectors.Nodes,
	Title:     "the nodes' signs of life reach the control plane",
	Doc:       massNotReadyDoc,
	Needs:     append([]collectors.Any{nodes.Conditions, nodes.Leases}, graceNeeds...),
	Remedies: []checks.Remedy{
		{Title: "see which nodes, and in which zones", Command: "kubectl get nodes -L topology.kubernetes.io/zone", Risk: checks.ReadOnly},
		{Title: "on one of the nodes, see what its kubelet says of the API server", Command: "journalctl -u kubelet --since -10min | grep -iE 'lease|x509|unauthorized|refused|timeout'", Risk: checks.ReadOnly},
		{Title: "on one of the nodes, try the address that its kubelet uses", Command: "curl -k $(awk '/server:/{print $2}' /etc/kubernetes/kubelet.conf)/readyz", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{massCriticalAt},
	Run:        massNotReady,
}

const (
	// From massCritical on, of three nodes or more, the controller manager itself
	// takes the zone for disrupted and stops to evict. Source: kubernetes,
	// --unhealthy-zone-threshold 0.55.
	massCritical = 0.55
	massNodes    = 3
	massSource   = "kubernetes --unhealthy-zone-threshold"
	// massWarn is experience: no number is published.
	massWarn = 0.20
)

var massCriticalAt = checks.NewThreshold("critical", checks.InRatio, massCritical, "of the nodes that are not ready", massSource)

func massNotReady(p *checks.Pass) {
	h, gap := checks.One(p, nodes.Conditions)
	if gap != nil {
		p.Unknown(nodes.All, gap)
		return
	}
	if h.All == 0 {
		p.Nothing(nodes.All, "there are no nodes")
		return
	}
	// The controller manager says Unknown after the grace period, if one is at
	// work; the leases say it whether or not.
	silent, by := h.Silent, "are Unknown"
	if l, gap := checks.One(p, nodes.Leases); gap == nil && len(l.Older(grace(p))) > silent {
		silent, by = min(len(l.Older(grace(p))), h.All), fmt.Sprintf("have not renewed their lease for %s", checks.Span(grace(p)))
	}
	share := float64(silent) / float64(h.All)
	zone, z := worstZone(h)
	var v *checks.Verdict
	switch {
	case silent >= massNodes && share >= p.At(massCriticalAt):
		v = p.Critical(nodes.All, "%d of %s %s: what they share has failed, the way to the API server or what signs and checks their certificates, not they",
			silent, checks.Count(h.All, "node"), by).Mark("most")
	case z.Silent >= massNodes && zoneShare(z) >= p.At(massCriticalAt) && len(h.Zones) > 1:
		v = p.Warn(nodes.All, "%d of %s of zone %s are Unknown, of %d in all: the zone's way to the API server has failed, or the zone", z.Silent, checks.Count(z.All, "node"), zone, silent)
	case silent >= massNodes && share > massWarn:
		v = p.Warn(nodes.All, "%d of %s %s", silent, checks.Count(h.All, "node"), by)
	default:
		v = p.OK(nodes.All, "%d of %s %s", silent, checks.Count(h.All, "node"), by)
	}
	v.Saw(nodes.Conditions, "Ready Unknown", fmt.Sprintf("%d of %d", h.Silent, h.All), checks.Percent(p.At(massCriticalAt)), massSource).
		Saw(nodes.Conditions, "silent", fmt.Sprintf("%d of %d", silent, h.All), checks.Percent(massWarn), "experience; no public source").
		Number("share", share)
}

// worstZone returns the zone with the largest share of silent nodes.
func worstZone(h nodes.Health) (name string, worst nodes.Zone) {
	for _, n := range slices.Sorted(maps.Keys(h.Zones)) {
		if z := h.Zones[n]; n != "" && zoneShare(z) > zoneShare(worst) {
			name, worst = n, z
		}
	}
	return name, worst
}

func zoneShare(z nodes.Zone) float64 {
	if z.All == 0 {
		return 0
	}
	return float64(z.Silent) / float64(z.All)
}
