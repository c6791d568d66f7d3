package controllers

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/nodes"
)

// Lifecycle are the nodes whose state the controller manager has not taken
// note of: that are not ready and have no taint that says so, which keeps pods
// away; or of which nothing is heard and that still count as ready.
var Lifecycle = &collectors.Fact[Loop]{
	ID:      "controllers.lifecycle",
	Doc:     "the nodes whose state no controller has taken note of",
	Needs:   []collectors.Any{places, nodes.Leases, cluster.Clock, cluster.Version, cluster.Instances},
	Targets: collectors.Single(Controlled),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) (Loop, error) {
		ps, gap := places.One(s)
		if gap != nil {
			return Loop{}, gap
		}
		now, gap := cluster.Now(s)
		if gap != nil {
			return Loop{}, gap
		}
		silent := map[string]time.Duration{}
		h, _ := nodes.Leases.One(s) // without leases, silence is not judged
		for _, b := range h.Late {
			silent[b.Node] = b.Age
		}
		l := Loop{Backlog: Backlog{Kind: "Node", Objects: len(ps)}, Queue: "node_lifecycle_controller"}
		tainted := taintsByCondition(s)
		limit := monitorGrace(s) + Patience
		for _, p := range ps {
			switch {
			case tainted && (p.ready == corev1.ConditionFalse || p.ready == corev1.ConditionUnknown) && !p.marked():
				l.late(p.name, now.Sub(p.readySince))
			case p.ready == corev1.ConditionTrue && silent[p.name] > limit && now.Sub(p.heartbeat) > limit:
				l.late(p.name, min(silent[p.name], now.Sub(p.heartbeat)))
			}
		}
		return l, nil
	},
}

// late is behind for what has no object any more.
func (l *Loop) late(name string, age time.Duration) {
	if age <= Patience {
		return
	}
	l.Behind++
	l.example(age, name)
}

// marked reports whether the node has a taint that says that it is not ready.
func (p place) marked() bool {
	return slices.ContainsFunc(p.taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
	})
}

// taintsByCondition reports whether the controller marks nodes by taints, which
// it does always from 1.17 on.
func taintsByCondition(s *collectors.Snapshot) bool {
	v, gap := cluster.Version.One(s)
	return gap == nil && (v.Major > 1 || v.Minor >= 17)
}

// monitorGrace is after how long without a sign of life a node counts as gone:
// the controller manager's flag, or the longer of the defaults.
func monitorGrace(s *collectors.Snapshot) time.Duration {
	longest := 50 * time.Second
	is, _ := cluster.Instances.One(s)
	for _, i := range is {
		if d, err := time.ParseDuration(i.Flag("node-monitor-grace-period", "")); i.Role == cluster.RoleControllers && err == nil {
			longest = max(longest, d)
		}
	}
	return longest
}
