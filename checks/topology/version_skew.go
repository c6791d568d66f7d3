package topology

import (
	_ "embed"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed version_skew.md
var versionSkewDoc string

// VersionSkew compares the versions of the components.
var VersionSkew = &checks.Check{
	ID:        "ha-version-skew",
	Component: collectors.Topology,
	Title:     "scheduler and controllers have a version that the API servers support",
	Doc:       versionSkewDoc,
	Needs:     []collectors.Any{cluster.Instances},
	Remedies: []checks.Remedy{
		{Title: "see the images", Command: "kubectl -n kube-system get pods -l tier=control-plane -o custom-columns=POD:.metadata.name,IMAGE:.spec.containers[*].image", Risk: checks.ReadOnly},
		{Title: "see how far the update got", Command: "kubeadm upgrade plan", Risk: checks.ReadOnly},
	},
	Run: versionSkew,
}

// The version skew policy: API servers at most one minor version apart; others not
// newer than the oldest of them, and at most one older than the newest.
const skewSource = "Kubernetes version skew policy"

func versionSkew(p *checks.Pass) {
	by, ok := pods(p, target("versions"))
	if !ok {
		return
	}
	lo, hi, known := span(by[cluster.RoleAPIServer])
	t := target(string(cluster.RoleAPIServer))
	if !known {
		p.Nothing(t, "no image of an API server's pod names its version")
		return
	}
	words, s := "1.%d", checks.OK
	if hi-lo > 1 {
		words, s = "1.%d beside 1.%d: more than one version apart", checks.Warning
	} else if hi > lo {
		words, s = "1.%d beside 1.%d: an update is under way, or was not finished", checks.Info
	}
	args := []any{lo, hi}
	if hi == lo {
		args = args[:1]
	}
	p.Judge(t, s, words, args...).Saw(cluster.Instances, "minor versions", "1."+itoa(lo)+" to 1."+itoa(hi), "1 apart", skewSource)
	for _, r := range []cluster.Role{cluster.RoleControllers, cluster.RoleScheduler, cluster.RoleCloudController} {
		a, b, known := span(by[r])
		if !known || r == cluster.RoleCloudController {
			continue // a cloud's own has versions of its own
		}
		t := target(string(r))
		switch {
		case b > lo:
			p.Warn(t, "1.%d is newer than an API server of 1.%d: it may use what that does not have", b, lo).Saw(cluster.Instances, "minor version", "1."+itoa(b), "1."+itoa(lo), skewSource)
		case hi-a > 1:
			p.Warn(t, "1.%d is more than one version older than the API server of 1.%d", a, hi).Saw(cluster.Instances, "minor version", "1."+itoa(a), "1."+itoa(hi), skewSource)
		default:
			p.OK(t, "1.%d for API servers of 1.%d", b, hi).Saw(cluster.Instances, "minor version", "1."+itoa(b), "1."+itoa(lo), skewSource)
		}
	}
}

// span is the oldest and the newest minor version that images name.
func span(is []cluster.Instance) (lo, hi int, known bool) {
	for _, i := range is {
		tag := i.Image[strings.LastIndex(i.Image, ":")+1:]
		tag, _, _ = strings.Cut(tag, "@")
		v, err := cluster.ParseRelease(tag)
		if err != nil || v.Major != 1 {
			continue
		}
		if !known {
			lo, hi, known = v.Minor, v.Minor, true
		}
		lo, hi = min(lo, v.Minor), max(hi, v.Minor)
	}
	return lo, hi, known
}
