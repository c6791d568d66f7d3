package host

import (
	"slices"
	"strings"
	"time"
)

// Disks is where the files of the node are that matter to its control plane.
type Disks struct {
	Places []Place   `json:"places"`
	Etcd   *EtcdData `json:"etcd,omitempty"`
	Missed []Missed  `json:"missed,omitempty"`
}

// A Place is a folder and the file system that it is in.
type Place struct {
	Path       string `json:"path"` // as the node has it
	What       string `json:"what"` // "etcd's data"
	Mount      string `json:"mount"`
	Type       string `json:"type"`             // of the file system: ext4
	Source     string `json:"source"`           // /dev/sda1
	Device     string `json:"device,omitempty"` // the disk, as the kernel counts it: "sda"; empty if there is none
	Rotating   *bool  `json:"rotating,omitempty"`
	Size       uint64 `json:"size"`   // bytes
	Free       uint64 `json:"free"`   // bytes that any user may use
	Inodes     uint64 `json:"inodes"` // 0: the file system has no fixed number
	FreeInodes uint64 `json:"freeInodes"`
	ReadOnly   bool   `json:"readOnly,omitempty"`
}

// DataPlace is What of the place of etcd's data.
const DataPlace = "etcd's data"

// Data is the place of etcd's data.
func (d Disks) Data() (Place, bool) {
	i := slices.IndexFunc(d.Places, func(p Place) bool { return p.What == DataPlace })
	if i < 0 {
		return Place{}, false
	}
	return d.Places[i], true
}

// EtcdData is what is in etcd's data folder.
type EtcdData struct {
	Path      string    `json:"path"`
	DB        int64     `json:"db"`  // bytes
	WAL       int64     `json:"wal"` // bytes
	WALFiles  int       `json:"walFiles"`
	Snapshot  time.Time `json:"snapshot,omitzero"` // when the newest was written
	Snapshots int       `json:"snapshots"`
}

// Storage is where the files are.
var Storage = fact[Disks]("host.disks", "the file systems and disks that the control plane's files are on, and what is in etcd's data folder", DisksURL)

// A MountLine is one file system of /proc/self/mountinfo.
type MountLine struct {
	Device  string // "8:1"
	Point   string
	Type    string
	Source  string
	Options string
}

var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// ParseMounts reads /proc/self/mountinfo.
func ParseMounts(b []byte) []MountLine {
	var out []MountLine
	for line := range strings.Lines(strings.ToValidUTF8(string(b), "?")) {
		left, right, ok := strings.Cut(line, " - ")
		f, g := strings.Fields(left), strings.Fields(right)
		if !ok || len(f) < 6 || len(g) < 2 {
			continue
		}
		out = append(out, MountLine{Device: f[2], Point: octal.Replace(f[4]), Type: g[0], Source: octal.Replace(g[1]), Options: f[5]})
	}
	return out
}

// MountOf is the file system that a path is in: of those at the same point, the
// last, which hides the others.
func MountOf(mounts []MountLine, path string) (MountLine, bool) {
	best, ok := MountLine{}, false
	for _, m := range mounts {
		if (path == m.Point || m.Point == "/" || strings.HasPrefix(path, m.Point+"/")) && len(m.Point) >= len(best.Point) {
			best, ok = m, true
		}
	}
	return best, ok
}
