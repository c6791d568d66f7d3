package controllers

import (
	"cmp"
	_ "embed"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/internal/pending"
)

//go:embed replicaset_failedcreate.md
var failedCreateDoc string

// FailedCreate looks for ReplicaSets whose pods are refused.
var FailedCreate = &checks.Check{
	ID:        "replicaset-failedcreate",
	Component: collectors.Controllers,
	Title:     "no ReplicaSet is refused the pods that it asks for",
	Doc:       failedCreateDoc,
	Needs:     []collectors.Any{controllers.Refused, controllers.Lacking, controllers.QuotaNumbers},
	Remedies: []checks.Remedy{
		{Title: "see all pods that are refused, by cause, with the smallest change", Command: "ktriage pending", Risk: checks.ReadOnly},
		{Title: "read what its pods are refused for", Command: "kubectl -n {ns} get replicaset {obj} -o jsonpath='{.status.conditions[?(@.type==\"ReplicaFailure\")].message}'", Risk: checks.ReadOnly},
		{Title: "see the namespace's quotas, limits and Pod Security level", Command: "kubectl describe namespace {ns}", Risk: checks.ReadOnly},
	},
	Run: failedCreate,
}

// moment is how long a refusal may last that comes by itself to an end: the
// service account of a new namespace is there some moments after its first
// ReplicaSet.
const moment = 10 * time.Second

// passing are the refusers that may be gone a moment later.
var passing = []controllers.Refuser{controllers.ByServiceAccount, controllers.ByOther}

func failedCreate(p *checks.Pass) {
	all := collectors.Target{Component: collectors.Controllers}
	r, gap := checks.One(p, controllers.Refused)
	switch {
	case gap != nil:
		p.Unknown(all, gap)
	case len(r.By) == 0:
		p.OK(all, "of %s none is refused pods", checks.Count(r.ReplicaSets, "ReplicaSet")).
			Saw(controllers.Refused, "refused", "0", "", "")
	default:
		for _, x := range r.By {
			t := collectors.Target{Component: collectors.Controllers, Name: x.Example}
			s := checks.Warning
			switch {
			case x.By == controllers.ByWebhookCall || x.By == controllers.ByPermission:
				s = checks.Critical
			case slices.Contains(passing, x.By) && x.Oldest < moment:
				s = checks.Info
			}
			v := p.Judge(t, s, "%s of %s not created for up to %s: %s", checks.Count(x.Missing, "pod"), checks.Count(x.Objects, "ReplicaSet"), checks.Span(x.Oldest), cmp.Or(x.By.Refusal(x.Name), x.Message)).
				Saw(controllers.Refused, "ReplicaFailure", x.Message, "", "").
				Number("pods", float64(x.Missing)).Number("objects", float64(x.Objects)).Mark("by=" + string(x.By))
			quota(p, v, x)
			if x.Name != "" && (x.By == controllers.ByWebhookCall || x.By == controllers.ByWebhook) {
				v.Mark("webhook=" + x.Name)
			}
			if x.Name != "" && x.By == controllers.ByPolicy {
				v.Mark("policy=" + x.Name)
			}
			for _, o := range x.Owners {
				v.Mark("deployment=" + o)
			}
		}
	}
}

// quota adds the numbers of a quota as they are now, and what it would have to be
// raised to.
func quota(p *checks.Pass, v *checks.Verdict, x controllers.Refusal) {
	if x.By != controllers.ByQuota {
		return
	}
	short, gap := checks.One(p, controllers.Lacking)
	if gap != nil {
		return
	}
	quotas, gap := checks.One(p, controllers.QuotaNumbers)
	if gap != nil {
		return
	}
	for _, g := range pending.NotCreatedGroups(pending.Input{Shortage: short, Quotas: quotas}) {
		if g.By != x.By || g.Refuser != x.Name || len(g.Changes) == 0 || g.Unproved {
			continue
		}
		v.Saw(controllers.QuotaNumbers, "now:", g.Cause, "", "").
			Saw(controllers.QuotaNumbers, "smallest change:", g.Changes[0].Summary+": "+g.Changes[0].Commands[0], "", "")
		return
	}
}
