package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed etcd_data.md
var etcdDataDoc string

// EtcdData looks whether there is room to defragment etcd.
var EtcdData = &checks.Check{
	ID:        "host-etcd-data",
	Component: collectors.Host,
	Title:     "there is room to defragment etcd",
	Doc:       etcdDataDoc,
	Needs:     []collectors.Any{host.Nodes, host.Storage},
	Remedies: []checks.Remedy{
		{Title: "see the sizes", Command: `du -sh /var/lib/etcd/member/snap/db /var/lib/etcd/member/wal`, Risk: checks.ReadOnly},
	},
	Run: etcdData,
}

func etcdData(p *checks.Pass) {
	t := placeNamed(p, "etcd-data")
	d, gap := checks.One(p, host.Storage)
	if gap != nil {
		p.Unknown(t, gap)
		return
	}
	x, ok := d.Data()
	if !ok {
		noData(p, t, d)
		return
	}
	if d.Etcd == nil {
		for _, m := range d.Missed {
			if m.What == "etcd's database" {
				p.Unknown(t, m.Gap())
				return
			}
		}
		p.Unknown(t, collectors.Gapf(collectors.Absent, "there is no database in etcd's data folder"))
		return
	}
	age := "no snapshot yet"
	if !d.Etcd.Snapshot.IsZero() {
		age = "newest snapshot " + checks.Span(p.Now().Sub(d.Etcd.Snapshot)) + " old"
	}
	s := checks.OK
	if int64(x.Free) < d.Etcd.DB {
		s = checks.Info
	}
	p.Judge(t, s, "the database has %s, the log %s in %s (%s); %s are free, and a defragmentation needs up to %s", checks.Bytes(d.Etcd.DB), checks.Bytes(d.Etcd.WAL), checks.Count(d.Etcd.WALFiles, "file"), age, checks.Bytes(int64(x.Free)), checks.Bytes(d.Etcd.DB)).
		Saw(host.Storage, "db", checks.Bytes(d.Etcd.DB), checks.Bytes(int64(x.Free)), "etcd writes a second file and swaps it in")
}
