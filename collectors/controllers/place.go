package controllers

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// places are the nodes. It shares its list with cluster.nodes.
var places = &collectors.Fact[[]place]{
	ID:      "controllers.places",
	Doc:     "the labels and taints of all nodes, and since when they are as they are",
	Targets: collectors.Single(Controlled),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{list("/api/v1/nodes")}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]place] {
		var out []place
		return collectors.Folder[[]place]{
			Add:  func(_ int, o objects.Object) { out = append(out, newPlace(o.(*corev1.Node))) },
			Done: func([]collectors.Answered) ([]place, error) { return out, nil },
		}
	},
}

// A place is what a node tells a DaemonSet.
type place struct {
	name   string
	labels map[string]string
	taints []corev1.Taint
	since  time.Time // when it was last written other than by its kubelet's status

	ready      corev1.ConditionStatus // empty if it does not say
	readySince time.Time
	heartbeat  time.Time // of the condition
}

func newPlace(n *corev1.Node) place {
	p := place{name: strings.Clone(n.Name), labels: maps.Clone(n.Labels), taints: slices.Clone(n.Spec.Taints), since: n.CreationTimestamp.Time}
	if t := changed(n, false); t.After(p.since) {
		p.since = t
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			p.ready, p.readySince, p.heartbeat = c.Status, c.LastTransitionTime.Time, c.LastHeartbeatTime.Time
		}
	}
	return p
}

// tolerated are the taints that the controller tolerates for every pod of a
// DaemonSet. Source: k8s.io/kubernetes, pkg/controller/daemon/util,
// AddOrUpdateDaemonPodTolerations.
var tolerated = []string{
	corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure,
	corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable,
}

// takes reports whether a pod of the DaemonSet belongs on the node for certain:
// what is not known here counts as no.
// Source: k8s.io/kubernetes, pkg/controller/daemon, NodeShouldRunDaemonPod.
func (n place) takes(o *appsv1.DaemonSet) bool {
	s := o.Spec.Template.Spec
	if s.NodeName != "" && s.NodeName != n.name {
		return false
	}
	for k, v := range s.NodeSelector {
		if got, ok := n.labels[k]; !ok || got != v {
			return false
		}
	}
	if s.Affinity != nil && s.Affinity.NodeAffinity != nil && s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms := s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		if !slices.ContainsFunc(terms, n.matches) {
			return false
		}
	}
	for _, t := range n.taints {
		if t.Effect == corev1.TaintEffectPreferNoSchedule || slices.Contains(tolerated, t.Key) {
			continue
		}
		if t.Key == corev1.TaintNodeNetworkUnavailable && s.HostNetwork {
			continue
		}
		if !slices.ContainsFunc(s.Tolerations, func(x corev1.Toleration) bool {
			return (x.Effect == "" || x.Effect == t.Effect) && (x.Key == t.Key && (x.Operator == corev1.TolerationOpExists || (x.Operator == "" || x.Operator == corev1.TolerationOpEqual) && x.Value == t.Value) || x.Key == "" && x.Operator == corev1.TolerationOpExists)
		}) {
			return false
		}
	}
	return true
}

// matches reports whether a term of a required node affinity holds.
func (n place) matches(t corev1.NodeSelectorTerm) bool {
	if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
		return false // by its definition
	}
	for _, r := range t.MatchExpressions {
		v, has := n.labels[r.Key]
		if !holds(r, v, has) {
			return false
		}
	}
	for _, r := range t.MatchFields {
		if r.Key != "metadata.name" || !holds(r, n.name, true) {
			return false
		}
	}
	return true
}

func holds(r corev1.NodeSelectorRequirement, v string, has bool) bool {
	in := slices.Contains(r.Values, v)
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return has && in
	case corev1.NodeSelectorOpNotIn:
		return !has || !in
	case corev1.NodeSelectorOpExists:
		return has
	case corev1.NodeSelectorOpDoesNotExist:
		return !has
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			return false
		}
		a, err := strconv.ParseInt(v, 10, 64)
		b, err2 := strconv.ParseInt(r.Values[0], 10, 64)
		return has && err == nil && err2 == nil && (a > b) == (r.Operator == corev1.NodeSelectorOpGt) && a != b
	}
	return false
}
