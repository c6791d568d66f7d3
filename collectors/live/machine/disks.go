package machine

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/shirou/gopsutil/v3/disk"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

// places are the folders whose file systems matter, besides etcd's data.
var places = []struct{ path, what string }{
	{"/", "the root file system"},
	{"/var/log", "logs"},
	{"/var/lib/kubelet", "the kubelet's files"},
	{"/var/lib/containerd", "the container runtime's files"},
	{"/var/lib/containers", "the container runtime's files"},
}

func (s *Source) disks(ctx context.Context) (host.Disks, *collectors.Gap) {
	var d host.Disks
	b, err := readSome("/proc/self/mountinfo", 8<<20)
	if err != nil {
		m := missed("mounts", err)
		return d, m.Gap()
	}
	mounts := host.ParseMounts(b)
	n := s.node()
	add := func(path, what string) {
		p, err := s.place(ctx, mounts, path, what)
		if err != nil {
			if what == host.DataPlace || !os.IsNotExist(err) {
				m := missed(what, err)
				d.Missed = append(d.Missed, m)
			}
			return
		}
		d.Places = append(d.Places, p)
	}
	if data := s.dataDir(n); data != "" {
		add(data, host.DataPlace)
		s.etcdData(&d, data)
		if wal := n.Flag(host.Etcd, "wal-dir", ""); wal != "" {
			add(wal, "etcd's log")
		}
	}
	if log := n.Flag(host.APIServer, "audit-log-path", ""); log != "" && log != "-" {
		add(filepath.Dir(log), "the audit log")
	}
	for _, p := range places {
		add(p.path, p.what)
	}
	return d, nil
}

// dataDir is where etcd has its data, as the node names it; empty if no etcd
// runs here.
func (s *Source) dataDir(n host.Node) string {
	m, planned := n.Manifest(host.Etcd)
	if dir := n.Flag(host.Etcd, "data-dir", ""); dir != "" {
		if planned {
			return m.OnHost(dir)
		}
		return dir
	}
	if planned {
		return "/var/lib/etcd"
	}
	return ""
}

func (s *Source) place(ctx context.Context, mounts []host.MountLine, path, what string) (host.Place, error) {
	p := host.Place{Path: s.onNode(path), What: what}
	real := s.at(path)
	u, err := disk.UsageWithContext(ctx, real)
	if err != nil {
		return p, &os.PathError{Op: "statfs", Path: real, Err: err}
	}
	p.Size, p.Free, p.Inodes, p.FreeInodes = u.Total, u.Free, u.InodesTotal, u.InodesFree
	if clean, err := filepath.EvalSymlinks(real); err == nil {
		real = clean
	}
	m, ok := host.MountOf(mounts, real)
	if !ok {
		return p, nil
	}
	p.Mount, p.Type, p.Source = s.onNode(m.Point), m.Type, m.Source
	if s.config.Root != "" && p.Mount == s.config.Root {
		p.Mount = "/"
	}
	for o := range strings.SplitSeq(m.Options, ",") {
		p.ReadOnly = p.ReadOnly || o == "ro"
	}
	p.Device, p.Rotating = s.device(m.Device)
	return p, nil
}

// device finds the disk behind a file system's number, and whether it rotates.
func (s *Source) device(number string) (string, *bool) {
	if strings.HasPrefix(number, "0:") {
		return "", nil // none: memory, network, or one that has several
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(s.config.Sys, "dev/block", number))
	if err != nil {
		return "", nil
	}
	if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
		dir = filepath.Dir(dir)
	}
	name := filepath.Base(dir)
	b, err := readSome(filepath.Join(dir, "queue/rotational"), procFile)
	if err != nil {
		return name, nil
	}
	yes := strings.TrimSpace(string(b)) == "1"
	return name, &yes
}

// maxEntries bounds what is looked at of a folder.
const maxEntries = 2000

// etcdData looks at the sizes in etcd's data folder. It opens no file of it.
func (s *Source) etcdData(d *host.Disks, dir string) {
	e := host.EtcdData{Path: s.onNode(dir)}
	st, err := os.Stat(filepath.Join(s.at(dir), "member/snap/db"))
	if err != nil {
		d.Missed = append(d.Missed, missed("etcd's database", err))
		return
	}
	e.DB = st.Size()
	wal, err := os.ReadDir(filepath.Join(s.at(dir), "member/wal"))
	if err != nil {
		d.Missed = append(d.Missed, missed("etcd's log", err))
	}
	for _, f := range wal[:min(len(wal), maxEntries)] {
		if st, err := f.Info(); err == nil && strings.HasSuffix(f.Name(), ".wal") {
			e.WAL += st.Size()
			e.WALFiles++
		}
	}
	snaps, err := os.ReadDir(filepath.Join(s.at(dir), "member/snap"))
	if err != nil {
		d.Missed = append(d.Missed, missed("etcd's snapshots", err))
	}
	for _, f := range snaps[:min(len(snaps), maxEntries)] {
		if st, err := f.Info(); err == nil && strings.HasSuffix(f.Name(), ".snap") {
			e.Snapshots++
			if st.ModTime().After(e.Snapshot) {
				e.Snapshot = st.ModTime().UTC()
			}
		}
	}
	d.Etcd = &e
}
