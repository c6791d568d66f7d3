package build

import (
	"fmt"
	"strings"
)

// Versions names what a lab is made of. A lab of another version is another set
// of binaries, so that two versions can live side by side.
type Versions struct {
	Kubernetes string
	Etcd       string // etcdctl's too
	Kwok       string
	// OldEtcd is the previous minor version, for clusters of mixed versions.
	OldEtcd string
}

// Default is the set that is built unless another is asked for.
var Default = Versions{
	Kubernetes: "v1.37.2",
	Etcd:       "v3.7.3",
	Kwok:       "v0.8.0",
	OldEtcd:    "v3.6.16",
}

// Sets lists the sets of versions that can be built, the default first: each
// line of Kubernetes with the etcd of its time. The go.mod files below lab/
// require them; a test holds them together.
func Sets() []Versions {
	return []Versions{
		Default,
		{Kubernetes: "v1.34.4", Etcd: "v3.6.16", Kwok: Default.Kwok, OldEtcd: "v3.5.35"},
	}
}

// Find is the set of a line of Kubernetes, such as 1.34; the default of none.
func Find(line string) (Versions, error) {
	if line == "" {
		return Default, nil
	}
	var lines []string
	for _, v := range Sets() {
		if v.Line() == minor(line) {
			return v, nil
		}
		lines = append(lines, v.Line())
	}
	return Versions{}, fmt.Errorf("no Kubernetes %q: there are %s", line, strings.Join(lines, " and "))
}

// Line is the minor version of Kubernetes, such as 1.34.
func (v Versions) Line() string { return minor(v.Kubernetes) }

// minor is 1.34 of v1.34.4.
func minor(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
