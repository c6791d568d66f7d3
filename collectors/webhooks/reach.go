package webhooks

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Range is the namespaces from which requests are sent to a webhook.
type Range struct {
	Namespaces int    // how many
	Example    string // the first of them
	System     bool   // kube-system is one
	Leases     bool   // kube-node-lease is one
	Own        bool   // that of its own Service is one
}

// Reaches is the Range of each webhook, in the order of Configured, and how
// many namespaces there are.
type Reaches struct {
	Of  []Range
	All int
}

// Reach holds webhooks' namespace selectors against the namespaces there are.
var Reach = &collectors.Fact[Reaches]{
	ID:      "webhooks.reach",
	Doc:     "from which namespaces requests are sent to each admission webhook",
	Needs:   []collectors.Any{Configured},
	Targets: collectors.Single(All),
	Ask: func(s *collectors.Snapshot, _ collectors.Target) []collectors.Request {
		if hs, _ := Configured.One(s); len(hs) == 0 {
			return nil
		}
		return []collectors.Request{list("/api/v1/namespaces")}
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Reaches] {
		hs, gap := Configured.One(s)
		r := Reaches{Of: make([]Range, len(hs))}
		return collectors.Folder[Reaches]{
			Add: func(_ int, o objects.Object) { r.add(hs, o.(*corev1.Namespace)) },
			Done: func([]collectors.Answered) (Reaches, error) {
				if gap != nil {
					return Reaches{}, gap
				}
				return r, nil
			},
		}
	},
}

func (r *Reaches) add(hs []Hook, ns *corev1.Namespace) {
	r.All++
	for i, h := range hs {
		if !h.Namespaces.Matches(labels.Set(ns.Labels)) {
			continue
		}
		x := &r.Of[i]
		if x.Namespaces++; x.Example == "" {
			x.Example = strings.Clone(ns.Name)
		}
		switch ns.Name {
		case "kube-system":
			x.System = true
		case "kube-node-lease":
			x.Leases = true
		}
		if ns.Name == h.Service.Namespace {
			x.Own = true
		}
	}
}
