package build

// Versions names what a lab is made of. A lab folder of another version is
// another set of binaries, so that two versions can live side by side.
type Versions struct {
	Kubernetes string
	Etcd       string
	Kwok       string
}

// Default is the set that lab/go.mod and lab/kwok/go.mod require; a test holds
// the three files together.
var Default = Versions{
	Kubernetes: "v1.37.2",
	Etcd:       "v3.7.3",
	Kwok:       "v0.8.0",
}
