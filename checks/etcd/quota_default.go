package etcd

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed quota_default.md
var quotaDefaultDoc string

// QuotaDefault looks for quotas that nobody chose, or should not have chosen.
var QuotaDefault = &checks.Check{
	ID:        "etcd-quota-default",
	Component: collectors.Etcd,
	Title:     "etcd's quota fits its database and is the same on all members",
	Doc:       quotaDefaultDoc,
	Needs:     []collectors.Any{etcd.DB},
	Remedies: []checks.Remedy{
		{Title: "see what each member was started with", Command: "kubectl -n kube-system get pods -l component=etcd -o yaml | grep -E 'name: etcd-|quota-backend-bytes'", Risk: checks.ReadOnly},
		{Title: "set the same quota on all members, in kubeadm's ClusterConfiguration: etcd.local.extraArgs", Command: "kubectl -n kube-system edit configmap kubeadm-config", Risk: checks.Disruptive},
	},
	Run: quotaDefault,
}

const (
	quotaMost        = 8 << 30 // what etcd supports
	quotaDefaultNear = 1 << 30 // half of the default
	quotaLimitSource = "etcd documentation, system limits: 2 GiB by default, 8 GiB at most"
)

func quotaDefault(p *checks.Pass) {
	answers, _ := checks.All(p, etcd.DB)
	quotas := map[int64]bool{}
	for _, a := range answers {
		if a.Gap == nil && a.Value.Quota != 0 {
			quotas[a.Value.Quota] = true
		}
	}
	for m, db := range checks.Each(p, etcd.DB) {
		var v *checks.Verdict
		switch {
		case db.Quota == 0:
			p.Unknown(m, collectors.Gapf(collectors.Absent, "its quota is not known: a member's status tells it from etcd 3.6.6 on, its metrics always"))
			continue
		case len(quotas) > 1:
			v = p.Warn(m, "quota is %s, and another on other members", quotaText(db.Quota))
		case db.Quota < 0:
			v = p.Warn(m, "there is no quota: the database has %s and may fill the disk", checks.Bytes(db.Size))
		case db.Quota > quotaMost:
			v = p.Warn(m, "quota is %s, above the %s that etcd supports", checks.Bytes(db.Quota), checks.Bytes(quotaMost))
		case db.Quota == etcd.DefaultQuota && db.Size > quotaDefaultNear:
			v = p.Info(m, "quota is the default of %s, and the database has %s: it may be raised up to %s", checks.Bytes(db.Quota), checks.Bytes(db.Size), checks.Bytes(quotaMost))
		default:
			v = p.OK(m, "quota is %s, and the database has %s", checks.Bytes(db.Quota), checks.Bytes(db.Size))
		}
		v.Saw(etcd.DB, "quota", quotaText(db.Quota), checks.Bytes(quotaMost), quotaLimitSource)
	}
}

func quotaText(n int64) string {
	if n < 0 {
		return "unlimited"
	}
	return checks.Bytes(n)
}
