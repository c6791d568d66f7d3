package pods

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Reason is why a number of nodes do not take a pod.
type Reason struct {
	Nodes int    // how many; 0 if the reason lies with the pod, not with nodes
	Text  string // in the words of the newest scheduler, shortened: "insufficient cpu", "untolerated taint {dedicated: gpu}"
	Kind  Kind
}

// A Kind sorts reasons by what would help.
type Kind string

// The kinds.
const (
	Resources   Kind = "resources"     // more room
	Taint       Kind = "taint"         // a toleration, or a node without the taint
	NodeDown    Kind = "node-down"     // the node being ready again
	Cordoned    Kind = "cordoned"      // an uncordon
	Placement   Kind = "placement"     // other selectors, affinities or spread constraints
	Volume      Kind = "volume"        // storage
	Port        Kind = "port"          // a free host port
	Claim       Kind = "claim"         // the resource claim that the pod names
	NoNodes     Kind = "no-nodes"      // any node at all
	Uninitiated Kind = "uninitialized" // the cloud controller manager's work
	Failed      Kind = "error"         // the scheduler met an error
	Unnamed     Kind = "other"
)

// Limits of what is read out of a message, which anybody may have written.
const (
	maxMessage = 16 << 10
	maxReasons = 20
	maxText    = 120
)

// ParseMessage reads the scheduler's account of why a pod fits nowhere, as it
// stands in the condition PodScheduled: out of how many nodes, and what keeps
// the pod from how many of them. The first reason is the one to look at first.
//
//	0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint {a: b}. preemption: 0/5 nodes …
//	0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: …
//	no nodes available to schedule pods
//
// Formats from Kubernetes 1.14 to 1.37 were held against it.
func ParseMessage(msg string) (nodes int, reasons []Reason) {
	msg = strings.ToValidUTF8(msg[:min(len(msg), maxMessage)], "")
	head, rest, ok := strings.Cut(msg, " nodes are available:")
	if !ok {
		return 0, []Reason{newReason(0, msg)}
	}
	_, all, _ := strings.Cut(head, "/")
	if n, err := strconv.Atoi(all); err == nil && n > 0 {
		nodes = n
	}
	rest = strings.TrimSpace(rest)
	// What follows the sentence is about preemption, which says the same again.
	rest, _, _ = strings.Cut(rest, ". ")
	rest, _, _ = strings.Cut(rest, " preemption: ")
	rest = strings.TrimRight(rest, ". ")
	for _, part := range split(rest) {
		if len(reasons) == maxReasons {
			break
		}
		n, text := counted(part)
		r := newReason(n, text)
		if i := slices.IndexFunc(reasons, func(o Reason) bool { return o.Text == r.Text }); i >= 0 {
			reasons[i].Nodes += n
			continue
		}
		reasons = append(reasons, r)
	}
	slices.SortStableFunc(reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Nodes, a.Nodes))
	})
	return nodes, reasons
}

// rank puts behind what is usually so by intent: nodes that are tainted for
// others, or that a selector leaves out, when there are also nodes that would
// take the pod but for something else.
func (r Reason) rank() int {
	switch r.Kind {
	case Taint:
		return 2
	case Placement:
		return 1
	}
	return 0
}

// split cuts a list of reasons before each number that begins one. A comma may
// also stand inside: "1 node(s) had taint {a: b}, that the pod didn't tolerate".
func split(s string) []string {
	var out []string
	for {
		i := 0
		for {
			j := strings.Index(s[i:], ", ")
			if j < 0 {
				return append(out, s)
			}
			i += j + 2
			if n, _ := counted(s[i:]); n > 0 {
				break
			}
		}
		out, s = append(out, s[:i-2]), s[i:]
	}
}

// counted takes the number off a reason.
func counted(s string) (int, string) {
	digits, text, ok := strings.Cut(s, " ")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 {
		return 0, s
	}
	return n, text
}

func newReason(n int, text string) Reason {
	text = strings.TrimSpace(text)
	text, _, _ = strings.Cut(text, " (repeated ")
	text = strings.TrimPrefix(text, "node(s) ")
	text = strings.TrimPrefix(text, "had ")
	if t, ok := strings.CutPrefix(text, "taint {"); ok { // to 1.21
		t, _, _ = strings.Cut(t, "}")
		text = "untolerated taint {" + t + "}"
	}
	switch text {
	case "didn't match node selector", "didn't match Pod's node affinity": // to 1.19, to 1.21
		text = "didn't match Pod's node affinity/selector"
	case "taints that the pod didn't tolerate": // to 1.17
		text = "untolerated taint(s)"
	}
	text = strings.Replace(text, ": }", "}", 1)
	if t, ok := strings.CutPrefix(text, "Insufficient "); ok {
		text = "insufficient " + t
	}
	if text == "" {
		text = "no reason given"
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return Reason{Nodes: n, Text: text, Kind: kind(text)}
}

// kinds are told by a part of the text, the more particular first.
var kinds = []struct {
	part string
	kind Kind
}{
	{"no nodes available", NoNodes},
	{"node.cloudprovider.kubernetes.io/uninitialized", Uninitiated},
	{"node.kubernetes.io/not-ready", NodeDown},
	{"node.kubernetes.io/unreachable", NodeDown},
	{"node.kubernetes.io/unschedulable", Cordoned},
	{"were unschedulable", Cordoned},
	{"untolerated taint", Taint},
	{"insufficient ", Resources},
	{"Too many pods", Resources},
	{"free ports", Port},
	{"olume", Volume}, // PersistentVolume, volume
	{"pvc", Volume},
	{"free storage", Volume},
	{"available disk", Volume},
	{"torageClass", Volume},
	{"affinity", Placement},
	{"topology spread", Placement},
	{"requested node name", Placement},
}

func kind(text string) Kind {
	for _, k := range kinds {
		if strings.Contains(text, k.part) {
			return k.kind
		}
	}
	return Unnamed
}
