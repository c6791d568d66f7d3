package build

// Versions names what a lab is made of. A lab folder of another version is
// another set of binaries, so that two versions can live side by side.
type Versions struct {
	Kubernetes string
	Etcd       string
	Kwok       string
	// OldEtcd is the previous minor version, for clusters of mixed versions.
	OldEtcd string
}

// Default is the set that the go.mod files here require; a test holds them
// together.
var Default = Versions{
	Kubernetes: "v1.37.2",
	Etcd:       "v3.7.3",
	Kwok:       "v0.8.0",
	OldEtcd:    "v3.6.16",
}
