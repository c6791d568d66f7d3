package leases

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// Homes are the pods and the nodes that there are, by which it is known whether
// the holder of a lease still exists.
type Homes struct {
	pods  map[string]pod
	nodes map[string]bool
}

type pod struct {
	namespace string
	works     bool
}

// A Home is what is known of a holder by its name.
type Home struct {
	Pod   string // "ns/name" of the pod that it names; empty if there is none of that name
	Works bool   // the pod is ready
	Node  string // the node that it names
	// Gone says that the name can only be a pod's, and there is no such pod. Kin
	// counts the pods that are ready and were made of the same template, or of an
	// earlier or a later one: by the names, in the lease's namespace.
	Gone bool
	Kin  int
	// Of is what made the pod that is gone: "cert-manager-cainjector".
	Of string
}

// Where lists them. It shares its lists with others, and leaves out the pods
// where they are too many.
var Where = &collectors.Fact[Homes]{
	ID:      "leases.homes",
	Doc:     "which pods and nodes there are, to tell whether who holds a lease still exists",
	Needs:   []collectors.Any{cluster.NodeSummary},
	Targets: collectors.Single(All),
	Ask: func(s *collectors.Snapshot, _ collectors.Target) []collectors.Request {
		if cluster.TooMany(s) != nil {
			return nil
		}
		return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/pods", Sample: collectors.First}, {Verb: collectors.List, URL: "kube:/api/v1/nodes"}}
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Homes] {
		why := cluster.TooMany(s)
		h := Homes{pods: map[string]pod{}, nodes: map[string]bool{}}
		return collectors.Folder[Homes]{
			Add: func(_ int, o objects.Object) { h.add(o) },
			Done: func([]collectors.Answered) (Homes, error) {
				switch {
				case why != nil:
					return Homes{}, why
				case len(h.pods) == 0:
					return Homes{}, collectors.Gapf(collectors.Absent, "the list of all pods holds none")
				}
				return h, nil
			},
		}
	},
}

func (h Homes) add(o objects.Object) {
	switch o := o.(type) {
	case *corev1.Node:
		h.nodes[strings.Clone(o.Name)] = true
	case *corev1.Pod:
		p := pod{namespace: strings.Clone(o.Namespace)}
		for _, c := range o.Status.Conditions {
			p.works = p.works || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}
		name := strings.Clone(o.Name)
		if before, ok := h.pods[name]; ok && before.works { // of two of the same name, that of a StatefulSet elsewhere
			p.works = true
		}
		h.pods[name] = p
	}
}

// made is the name of a pod of a Deployment: the hash of its template, and five
// letters, both of an alphabet without vowels. No host is named so by chance.
// Source: k8s.io/apimachinery, pkg/util/rand, SafeEncodeString.
var made = regexp.MustCompile(`^(.+)-[bcdfghjklmnpqrstvwxz2456789]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}(?:$|[-_])`)

// Of tells what is known of who holds, or held last, a lease. A holder is named
// after its host, which in a pod is the pod's name, and often bears a suffix.
func (h Homes) Of(l Lease) Home {
	if l.Holder == "" || len(h.pods) == 0 {
		return Home{} // of a list that holds nothing, nothing is missing
	}
	name := l.Host()
	for _, try := range []string{l.Holder, name} {
		if p, ok := h.pods[try]; ok {
			return Home{Pod: p.namespace + "/" + try, Works: p.works}
		}
		if h.nodes[try] {
			return Home{Node: try}
		}
	}
	for n := range h.nodes {
		if sameHost(name, n) {
			return Home{Node: n}
		}
	}
	best := "" // the longest, so that the answer does not depend on the order
	for n := range h.pods {
		if len(n) > len(best) && (strings.HasPrefix(l.Holder, n+"-") || strings.HasPrefix(l.Holder, n+"_")) {
			best = n
		}
	}
	if best != "" {
		return Home{Pod: h.pods[best].namespace + "/" + best, Works: h.pods[best].works}
	}
	m := made.FindStringSubmatch(l.Holder)
	if m == nil {
		return Home{}
	}
	out := Home{Gone: true, Of: m[1]}
	for n, p := range h.pods {
		if k := made.FindStringSubmatch(n); k != nil && k[1] == out.Of && p.namespace == l.Namespace && p.works {
			out.Kin++
		}
	}
	return out
}
