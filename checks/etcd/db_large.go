package etcd

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed db_large.md
var dbLargeDoc string

// DBLarge looks for databases that are large, whatever their quota is.
var DBLarge = &checks.Check{
	ID:        "etcd-db-large",
	Component: collectors.Etcd,
	Title:     "every etcd database is smaller than 2 GB",
	Doc:       dbLargeDoc,
	Needs:     []collectors.Any{etcd.DB},
	Remedies: []checks.Remedy{
		{Title: "see which resource has the most objects", Command: "kubectl get --raw /metrics | grep -E '^apiserver_(storage|resource)_objects' | sort -k2 -g -r | head", Risk: checks.ReadOnly},
		{Title: "if most of it is free pages, defragment, one member at a time, followers first", Command: "etcdctl defrag --endpoints=https://MEMBER:2379 --command-timeout=300s", Risk: checks.Disruptive, Recipe: "etcd-defrag"},
	},
	Thresholds: []*checks.Threshold{dbLargeWarnAt},
	Run:        dbLarge,
}

const (
	// dbLargeWarn is where etcd's default quota lies, in round numbers: who is
	// above it raised the quota. It is the line at which operators want to hear
	// of it, and no limit of etcd's.
	dbLargeWarn   = 2e9
	dbLargeSource = "etcd documentation, limits: 2 GB is the default storage size"
)

var dbLargeWarnAt = checks.NewThreshold("warn", checks.InBytes, dbLargeWarn, "of the database", dbLargeSource)

func dbLarge(p *checks.Pass) {
	for m, db := range checks.Each(p, etcd.DB) {
		s := checks.OK
		if float64(db.Size) >= p.At(dbLargeWarnAt) {
			s = checks.Warning
		}
		free := ""
		if db.Free() > 0 {
			free = ", " + checks.Bytes(db.InUse) + " of it in use"
		}
		p.Judge(m, s, "database has %s%s", checks.Bytes(db.Size), free).
			Saw(etcd.DB, "size", checks.Bytes(db.Size), checks.Bytes(p.Whole(dbLargeWarnAt)), dbLargeSource).
			Number("size", float64(db.Size)).Number("in use", float64(db.InUse))
	}
}
