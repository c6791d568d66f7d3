package topology

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed version_known_bad.md
var versionKnownBadDoc string

// VersionKnownBad tells the known faults of the versions of Kubernetes that run.
var VersionKnownBad = &checks.Check{
	ID:        "ha-version-known-bad",
	Component: collectors.Topology,
	Title:     "no component of the control plane runs a version of Kubernetes with known faults",
	Doc:       versionKnownBadDoc,
	Needs:     []collectors.Any{cluster.Instances},
	Remedies: []checks.Remedy{
		{Title: "see to what versions the cluster can go; go one minor version at a time", Command: "kubeadm upgrade plan", Risk: checks.ReadOnly},
		{Title: "see what each patch of its line fixed", Command: "curl -sL https://raw.githubusercontent.com/kubernetes/kubernetes/master/CHANGELOG/CHANGELOG-1.36.md | less", Risk: checks.ReadOnly},
	},
	Run: versionKnownBad,
}

// A fault is in the patches of some lines of Kubernetes 1.
type fault struct {
	role cluster.Role
	// last is, by minor version, the last patch that is known to have it. Later
	// patches of the line either have the fix or are of after this list.
	last   map[int]int
	what   string
	fixed  string // the first version that is known to have the fix
	source string
}

// faults lists those that can take a component of the control plane down or keep
// it from its work, worst first; a line is in it only as far as its own changelog
// shows that the fix is not there. Faults of metrics are left out, and so are
// those that other checks tell: etcd's of old kubeadm (etcd-version-known-bad),
// the certificate of a year up to 1.32 (apiserver-loopback-cert-age).
// Source: kubernetes/kubernetes, CHANGELOG-1.35 up to 1.35.4, CHANGELOG-1.36 of
// 1.36.0 and CHANGELOG-1.37 up to 1.37.1.
var faults = []fault{
	{cluster.RoleAPIServer, map[int]int{35: 4}, "it may crash when many policies in CEL are compiled at a time", "1.36.0", "kubernetes #135759"},
	{cluster.RoleAPIServer, map[int]int{35: 4}, "after an upgrade it may not start where MultiCIDRServiceAllocator is on and there are many namespaces", "1.36.0", "kubernetes #137147"},
	{cluster.RoleAPIServer, map[int]int{35: 4}, "it may go on asking the wrong server whether an aggregated API is available", "1.36.0", "kubernetes #137157"},
	{cluster.RoleAPIServer, map[int]int{35: 4, 36: 0}, "it does not end when told to if its identity lease cannot be made, as for a host name of over 63 bytes", "1.37.0", "kubernetes #140241"},
	{cluster.RoleControllers, map[int]int{35: 4, 36: 1}, "it may panic on a Service without ipFamilies, made before dual-stack", "1.36.2", "kubernetes #138736, #139233"},
	{cluster.RoleControllers, map[int]int{35: 4, 36: 0}, "it may panic when a resource goes away whose StorageVersionMigration waits", "1.37.0", "kubernetes #140586"},
	{cluster.RoleControllers, map[int]int{35: 3}, "StatefulSets with the policy Parallel may stop rolling out, as pods of an older revision count as unavailable", "1.35.4", "kubernetes #137926"},
	{cluster.RoleScheduler, map[int]int{35: 0}, "it is slow where its client throttles itself", "1.35.1", "kubernetes #135904"},
	{cluster.RoleScheduler, map[int]int{35: 0}, "it may give the same device to two ResourceClaims", "1.35.1", "kubernetes #136567"},
}

// The list was made of the changelogs of these minor versions.
const oldestKnown, newestKnown = 35, 37

func versionKnownBad(p *checks.Pass) {
	by, ok := pods(p, target("versions"))
	if !ok {
		return
	}
	for _, r := range []cluster.Role{cluster.RoleAPIServer, cluster.RoleControllers, cluster.RoleScheduler} {
		t := target(string(r))
		runs := map[cluster.Release][]string{}
		for _, i := range by[r] {
			if v, ok := release(i.Image); ok {
				runs[v] = append(runs[v], i.Name())
			}
		}
		if len(runs) == 0 {
			p.Nothing(t, "no image of its pods names its version")
			continue
		}
		for _, v := range slices.SortedFunc(maps.Keys(runs), older) {
			if len(runs) > 1 {
				t.Name = string(r) + " " + v.Git
			}
			judgeRelease(p, t, r, v, runs[v])
		}
	}
}

func judgeRelease(p *checks.Pass, t collectors.Target, r cluster.Role, v cluster.Release, on []string) {
	var found []fault
	for _, f := range faults {
		if last, ok := f.last[v.Minor]; ok && f.role == r && v.Patch <= last {
			found = append(found, f)
		}
	}
	slices.Sort(on)
	switch {
	case len(found) > 0:
		more := ""
		if len(found) > 1 {
			more = fmt.Sprintf(", and %s", checks.Count(len(found)-1, "more fault"))
		}
		// A version proves no trouble: it is advice.
		verdict := p.Info(t, "%s on %s: %s; fixed in %s%s", v.Git, checks.List(on, 3), found[0].what, found[0].fixed, more)
		for _, f := range found {
			verdict.Saw(cluster.Instances, f.what, v.Git, f.fixed, f.source)
		}
		verdict.Number("faults", float64(len(found)))
	case v.Minor < oldestKnown, v.Minor > newestKnown:
		p.Nothing(t, "%s is not of the lines of which this ktriage knows the faults, 1.%d to 1.%d", v.Git, oldestKnown, newestKnown)
	default:
		p.OK(t, "%s on %s: no fault is known to ktriage", v.Git, checks.List(on, 3)).
			Saw(cluster.Instances, "version", v.Git, "", "Kubernetes CHANGELOGs up to 1.37.1")
	}
}

// release is the version that an image's tag names.
func release(image string) (cluster.Release, bool) {
	image, _, _ = strings.Cut(image, "@")
	v, err := cluster.ParseRelease(image[strings.LastIndex(image, ":")+1:])
	return v, err == nil && v.Major == 1
}

func older(a, b cluster.Release) int {
	if a.Minor != b.Minor {
		return a.Minor - b.Minor
	}
	if a.Patch != b.Patch {
		return a.Patch - b.Patch
	}
	return strings.Compare(a.Git, b.Git)
}
