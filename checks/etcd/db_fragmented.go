package etcd

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed db_fragmented.md
var dbFragmentedDoc string

// DBFragmented looks for database files that are mostly free pages. That is
// harmless, as etcd uses free pages again, unless the quota is near: the quota
// counts the file.
var DBFragmented = &checks.Check{
	ID:        "etcd-db-fragmented",
	Component: collectors.Etcd,
	Title:     "no etcd database is close to its quota for free pages",
	Doc:       dbFragmentedDoc,
	Needs:     []collectors.Any{etcd.DB},
	Remedies: []checks.Remedy{
		{Title: "defragment, one member at a time, followers first; a member answers nothing meanwhile", Command: "etcdctl defrag --endpoints=https://MEMBER:2379 --command-timeout=300s", Risk: checks.Disruptive, Recipe: "etcd-defrag"},
		{Title: "see how much of each database is in use", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{fragmentedShareAt, fragmentedSizeAt},
	Run:        dbFragmented,
}

const (
	// fragmentedShare and fragmentedSize are from when on OpenShift
	// defragments by itself. Source: openshift/cluster-etcd-operator,
	// pkg/operator/defragcontroller (45%, 100 MB). etcd-mixin has 50% and
	// 100 MiB in use.
	fragmentedShare  = 0.45
	fragmentedSize   = 100 << 20
	fragmentedSource = "cluster-etcd-operator defragcontroller"
)

var (
	fragmentedShareAt = checks.NewThreshold("share", checks.InRatio, fragmentedShare, "of the file that is free pages", fragmentedSource)
	fragmentedSizeAt  = checks.NewThreshold("size", checks.InBytes, fragmentedSize, "of the file, below which it does not matter", fragmentedSource)
)

func dbFragmented(p *checks.Pass) {
	for m, db := range checks.Each(p, etcd.DB) {
		free := float64(db.Free()) / float64(max(1, db.Size))
		used, pressed := 0.0, false
		if db.Quota > 0 {
			used = float64(db.Size) / float64(db.Quota)
			pressed = used >= quotaWarn
		}
		var v *checks.Verdict
		switch {
		case free < p.At(fragmentedShareAt) || db.Size < p.Whole(fragmentedSizeAt) && !pressed:
			v = p.OK(m, "free pages are %s of the database's %s", checks.Percent(free), checks.Bytes(db.Size))
		case pressed:
			v = p.Warn(m, "free pages are %s of the database's %s, which fills %s of its quota: without them it would be %s",
				checks.Percent(free), checks.Bytes(db.Size), checks.Percent(used), checks.Percent(float64(db.InUse)/float64(db.Quota)))
		default:
			v = p.Info(m, "free pages are %s of the database's %s: harmless while the quota is far", checks.Percent(free), checks.Bytes(db.Size))
		}
		v.Saw(etcd.DB, "free pages", checks.Percent(free), checks.Percent(p.At(fragmentedShareAt)), fragmentedSource).
			Saw(etcd.DB, "size", checks.Bytes(db.Size), checks.Bytes(p.Whole(fragmentedSizeAt)), fragmentedSource).
			Number("free", free).Number("used", used)
	}
}
