package host

import (
	_ "embed"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed etcd_fs_type.md
var etcdFSTypeDoc string

// EtcdFSType looks whether etcd's data is on a local disk that does not rotate.
var EtcdFSType = &checks.Check{
	ID:        "host-etcd-fs-type",
	Component: collectors.Host,
	Title:     "etcd's data is on a local disk that does not rotate",
	Doc:       etcdFSTypeDoc,
	Needs:     []collectors.Any{host.Nodes, host.Storage},
	Remedies: []checks.Remedy{
		{Title: "see what the disk is", Command: `lsblk -o NAME,ROTA,TYPE,SIZE,MODEL,MOUNTPOINTS`, Risk: checks.ReadOnly},
	},
	Run: etcdFSType,
}

var networkFS = []string{"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "ceph", "fuse.glusterfs", "9p"}

func etcdFSType(p *checks.Pass) {
	t := placeNamed(p, "etcd-data")
	d, gap := checks.One(p, host.Storage)
	if gap != nil {
		p.Unknown(t, gap)
		return
	}
	x, ok := d.Data()
	switch {
	case !ok:
		noData(p, t, d)
	case slices.Contains(networkFS, x.Type):
		p.Warn(t, "etcd's data is on %s (%s), a file system of the network", x.Type, x.Mount).Saw(host.Storage, "type", x.Type, "", "etcd hardware guide")
	case x.Type == "overlay":
		p.Warn(t, "etcd's data is in a container's own layer (overlay): it is gone with the container").Saw(host.Storage, "type", x.Type, "", "etcd hardware guide")
	case x.Rotating != nil && *x.Rotating:
		p.Warn(t, "etcd's data is on %s, which says that it rotates: an HDD syncs some 100 times a second", x.Device).Saw(host.Storage, "rotating", "true", "false", "etcd hardware guide")
	case x.ReadOnly:
		p.Critical(t, "the file system of etcd's data, %s, is read-only", x.Mount).Saw(host.Storage, "readOnly", "true", "false", "etcd writes with every change")
	default:
		what := x.Type
		if x.Device != "" {
			what += " on " + x.Device
		}
		p.OK(t, "etcd's data is on %s", what).Saw(host.Storage, "type", what, "", "")
	}
}
