package pods

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/nodes"
	"github.com/ktriage/ktriage/collectors/placement"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed unschedulable.md
var unschedulableDoc string

// Unschedulable looks for pods for which the scheduler finds no node. That is
// a matter of the pods and the nodes, not of the control plane.
var Unschedulable = &checks.Check{
	ID:        "scheduler-unschedulable-pods",
	Component: collectors.Pods,
	Title:     "every pod that the scheduler looked at fits on a node",
	Doc:       unschedulableDoc,
	Needs:     []collectors.Any{pods.Pending, pods.Waiting, placement.Seen, cluster.Instances, scheduler.Pending, scheduler.Elected.Leads, leases.Leases, nodes.Taints, cluster.WhatKind},
	Remedies: []checks.Remedy{
		{Title: "see what is in the way on each node, and the smallest changes that help", Command: "ktriage pending", Risk: checks.ReadOnly},
		{Title: "see each of them", Command: "kubectl get pods -A --field-selector=status.phase=Pending -o wide", Risk: checks.ReadOnly},
		{Title: "read the scheduler's account", Command: "kubectl get events -A --field-selector reason=FailedScheduling", Risk: checks.ReadOnly},
		{Title: "see what is left on the nodes", Command: "kubectl describe nodes | grep -A8 'Allocated resources'", Risk: checks.ReadOnly},
	},
	Run: unschedulable,
}

const (
	// firm is after how long nothing can be expected of a node autoscaler any
	// more; it is also how often the scheduler tries every pod again, whatever
	// happened. Source: k8s.io/kubernetes, pkg/scheduler/backend/queue,
	// DefaultPodMaxInUnschedulablePodsDuration.
	firm = 5 * time.Minute
	// brief is for how long pods of a rolling update may wait for those that
	// they replace, whose grace period is 30 s by default.
	brief      = 30 * time.Second
	firmSource = "kube-scheduler flushes unschedulable pods every 5 min"
)

func unschedulable(p *checks.Pass) {
	c, gap := checks.One(p, pods.Pending)
	if gap != nil {
		unlisted(p, gap)
		return
	}
	failing(p, c)
	groups := c.By(pods.Unschedulable)
	if waiting, held, _ := unclaimed(p, c); held {
		groups = append(groups, waiting...)
	}
	slices.SortStableFunc(groups, func(a, b pods.Group) int { return cmp.Compare(b.Count, a.Count) })
	var n, past30s, past5m int
	var oldest time.Duration
	for _, g := range groups {
		n, past30s, past5m = n+g.Count, past30s+g.Past30s, past5m+g.Past5m
		oldest = max(oldest, g.Oldest)
	}
	if n == 0 {
		p.OK(pods.All, "of %s none is refused by all nodes", checks.Count(c.Total, "pending pod")).
			Saw(pods.Pending, "unschedulable", "0", "", "")
		return
	}
	nameTaints(p, groups)
	waits := autoscaler(p)
	status, limit := checks.Info, brief
	switch {
	case past5m > 0, past30s > 0 && waits == "":
		status = checks.Warning
	}
	if waits != "" {
		limit = firm
	}
	v := p.Judge(pods.All, status, "%s on no node, for up to %s: %s", fit(n), checks.Span(oldest), describe(groups)).
		Saw(pods.Pending, "unschedulable", fmt.Sprint(n), "0", "").
		Saw(pods.Pending, "oldest", checks.Span(oldest), checks.Span(limit), firmSource).
		Number("pods", float64(n)).Number("oldest", oldest.Seconds())
	if waits != "" {
		v.Saw(leases.Leases, "nodes may be added by", waits, "", "")
	}
	modelled(p, v)
	for _, held := range bySchedulers(p) {
		v.Saw(scheduler.Pending, "unschedulable, by "+held.name, fmt.Sprint(held.n), "", "")
	}
	for _, g := range groups {
		for _, d := range g.Deployments {
			v.Mark("deployment=" + d)
		}
	}
	for _, g := range groups[:min(len(groups), 5)] {
		v.Mark("reason=" + string(g.Reasons[0].Kind))
		v.Saw(pods.Pending, g.Key, checks.Count(g.Count, "pod"), "", "")
	}
}

// failing tells of pods at which the scheduler itself met an error: whether they
// fit on a node nobody knows.
func failing(p *checks.Pass, c pods.Census) {
	groups := c.By(pods.Failing)
	if len(groups) == 0 {
		return
	}
	all := c.Sum(pods.Failing)
	status := checks.Info
	if all.Past30s > 0 {
		status = checks.Warning
	}
	v := p.Judge(collectors.Target{Component: collectors.Pods, Name: "scheduler-error"}, status,
		"each try to place %s ends in an error of the scheduler, for up to %s: %s", checks.Count(all.Count, "pod"), checks.Span(all.Oldest), describe(groups)).
		Saw(pods.Pending, "not placed for an error", fmt.Sprint(all.Count), "0", "").
		Saw(pods.Pending, "oldest", checks.Span(all.Oldest), checks.Span(brief), firmSource).
		Number("pods", float64(all.Count)).Number("oldest", all.Oldest.Seconds()).Mark("scheduler-error")
	for _, g := range groups {
		for _, d := range g.Deployments {
			v.Mark("deployment=" + d)
		}
	}
	for _, g := range groups[:min(len(groups), 5)] {
		v.Mark("reason="+string(g.Reasons[0].Kind)).
			Saw(pods.Pending, g.Key, checks.Count(g.Count, "pod"), "", "")
	}
}

type holds struct {
	name string
	n    float64
}

// bySchedulers is how many pods each leading scheduler holds as unschedulable.
func bySchedulers(p *checks.Pass) []holds {
	var out []holds
	qs, _ := checks.All(p, scheduler.Pending)
	for _, q := range qs {
		if l, gap := checks.Of(p, scheduler.Elected.Leads, q.Target); q.Gap == nil && gap == nil && l.Leads {
			out = append(out, holds{q.Target.Name, q.Value.Now.Unschedulable})
		}
	}
	return out
}

// unlisted judges by the scheduler's own count, which does not tell for how
// long a pod has waited.
func unlisted(p *checks.Pass, gap *collectors.Gap) {
	holds := bySchedulers(p)
	if len(holds) == 0 {
		p.Unknown(pods.All, gap)
		return
	}
	h := holds[0]
	if h.n == 0 {
		p.OK(pods.All, "the scheduler on %s holds no pod that fits nowhere (the pods themselves: %s)", h.name, gap.Reason).
			Saw(scheduler.Pending, "unschedulable", "0", "", "")
		return
	}
	p.Unknown(pods.All, &collectors.Gap{Reason: gap.Reason, Remedy: gap.Remedy,
		Detail: fmt.Sprintf("the scheduler on %s holds %s that no node takes; since when is not known: %s", h.name, checks.Count(h.n, "pod"), gap.Detail)})
}
