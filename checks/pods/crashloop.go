package pods

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed crashloop.md
var crashloopDoc string

// Crashloop looks for pods of the control plane that end again and again.
var Crashloop = &checks.Check{
	ID:        "static-pod-crashloop",
	Component: collectors.Pods,
	Title:     "no pod of the control plane ends again and again",
	Doc:       crashloopDoc,
	Needs:     []collectors.Any{cluster.Instances, cluster.WhatKind},
	Remedies: []checks.Remedy{
		{Title: "read how it ended", Command: "kubectl -n {ns} logs {obj} --previous --tail=50", Risk: checks.ReadOnly},
		{Title: "on the node, if the API server does not give it", Command: "crictl ps -a | head -20", Risk: checks.ReadOnly},
	},
	Run: crashloop,
}

func crashloop(p *checks.Pass) {
	all := collectors.Target{Component: collectors.Pods}
	if k, gap := checks.One(p, cluster.WhatKind); gap == nil && (k.Managed() || k.Embedded) {
		p.Nothing(all, "%s has no pods of the control plane", k.Distribution)
		return
	}
	is, gap := checks.One(p, cluster.Instances)
	// Of a process that only its own words show there is no pod to go by.
	is = slices.DeleteFunc(slices.Clone(is), func(i cluster.Instance) bool { return i.MadeUp })
	switch {
	case gap != nil:
		p.Unknown(all, gap)
		return
	case len(is) == 0:
		p.Unknown(all, collectors.Gapf(collectors.Absent, "no pod of the control plane is known"))
		return
	}
	bad, most := false, int32(0)
	ready := map[cluster.Role]int{}
	for _, i := range is {
		if i.Ready {
			ready[i.Role]++
		}
	}
	for _, i := range is {
		most = max(most, i.Restarts)
		if i.Waiting != "CrashLoopBackOff" {
			continue
		}
		bad = true
		last := ""
		if i.LastExit != "" {
			last = ", ended last with " + i.LastExit
		}
		t := collectors.Target{Component: collectors.Pods, Name: i.Namespace + "/" + i.Pod, Node: i.Node}
		s := checks.Critical
		if ready[i.Role] > 0 {
			s = checks.Warning // others carry on; whether they suffice is for the component's own checks to say
		}
		p.Judge(t, s, "ends again and again: %s%s; %d other %s ready", checks.Count(i.Restarts, "restart"), last, ready[i.Role], i.Role).
			Saw(cluster.Instances, "waiting", i.Waiting, "", "kubernetes-mixin KubePodCrashLooping").
			Saw(cluster.Instances, "restarts", fmt.Sprint(i.Restarts), "", "").
			Mark("component=" + string(i.Role)).Mark("exit=" + i.LastExit)
	}
	if !bad {
		p.OK(all, "none of %s of the control plane is held back; at most %s", checks.Count(len(is), "pod"), checks.Count(most, "restart")).
			Saw(cluster.Instances, "restarts", fmt.Sprint(most), "", "")
	}
}
