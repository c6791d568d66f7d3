package etcd

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed db_quota_usage.md
var dbQuotaUsageDoc string

// DBQuotaUsage looks for members about to reach their storage quota, at which
// etcd raises NOSPACE and refuses every write.
var DBQuotaUsage = &checks.Check{
	ID:        "etcd-db-quota-usage",
	Component: collectors.Etcd,
	Title:     "every etcd database has room below its quota",
	Doc:       dbQuotaUsageDoc,
	Needs:     []collectors.Any{etcd.DB},
	Remedies: []checks.Remedy{
		{Title: "see how much of each file is free pages", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
		{Title: "defragment, one member at a time, followers first; a member answers nothing meanwhile", Command: "etcdctl defrag --endpoints=https://MEMBER:2379 --command-timeout=300s", Risk: checks.Disruptive, Recipe: "etcd-defrag"},
		{Title: "see what there is most of in the store", Command: "kubectl get --raw /metrics | grep -E '^apiserver_(resource|storage)_objects' | sort -k2 -grn | head", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{quotaNoteAt, quotaWarnAt, quotaCriticalAt},
	Run:        dbQuotaUsage,
}

const (
	// quotaWarn leaves time to find the writer by day.
	// Source: openshift/cluster-etcd-operator, jsonnet/custom.libsonnet (65, 75, 85%).
	quotaNote     = 0.65
	quotaWarn     = 0.75
	quotaCritical = 0.85
	quotaSource   = "cluster-etcd-operator alerts"
)

var (
	quotaNoteAt     = checks.NewThreshold("info", checks.InRatio, quotaNote, "of the quota", quotaSource)
	quotaWarnAt     = checks.NewThreshold("warn", checks.InRatio, quotaWarn, "of the quota", quotaSource)
	quotaCriticalAt = checks.NewThreshold("critical", checks.InRatio, quotaCritical, "of the quota", quotaSource)
)

func dbQuotaUsage(p *checks.Pass) {
	for m, db := range checks.Each(p, etcd.DB) {
		switch {
		case db.Quota == 0:
			p.Unknown(m, collectors.Gapf(collectors.Absent, "the database has %s; its quota is not known: a member's status tells it from etcd 3.6.6 on, its metrics always", checks.Bytes(db.Size)).With("make its metrics reachable: grant get and create on pods/portforward in etcd's namespace"))
			continue
		case db.Quota < 0:
			p.OK(m, "database has %s, without a quota", checks.Bytes(db.Size))
			continue
		}
		used := float64(db.Size) / float64(db.Quota)
		s, limit := checks.OK, p.At(quotaWarnAt)
		switch {
		case used >= p.At(quotaCriticalAt):
			s, limit = checks.Critical, p.At(quotaCriticalAt)
		case used >= p.At(quotaWarnAt):
			s = checks.Warning
		case used >= p.At(quotaNoteAt):
			s, limit = checks.Info, p.At(quotaNoteAt)
		}
		free := ""
		if s != checks.OK {
			free = ", of which " + checks.Bytes(db.Free()) + " are free pages"
		}
		p.Judge(m, s, "database fills %s of its %s quota%s", checks.Percent(used), checks.Bytes(db.Quota), free).
			Saw(etcd.DB, "size/quota", checks.Percent(used), checks.Percent(limit), quotaSource).
			Saw(etcd.DB, "size", checks.Bytes(db.Size), checks.Bytes(db.Quota), db.QuotaFrom).
			Saw(etcd.DB, "in use", checks.Bytes(db.InUse), "", "").
			Number("used", used).Number("free", float64(db.Free())/float64(max(1, db.Size)))
	}
}
