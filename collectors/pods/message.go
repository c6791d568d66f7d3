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
	Binding     Kind = "binding"       // the node being written into the pod, which somebody refused
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

// A Message is the scheduler's account of why a pod fits nowhere, as it stands
// in the condition PodScheduled and in events: what it saw then, which need not
// be so any more.
type Message struct {
	Nodes   int      // how many there were to choose from; 0 if it does not say
	Reasons []Reason // why none of them takes it; at least one, the one to look at first in front

	// Preemption is why evicting other pods would not help, of releases from
	// 1.24 on. It is empty if the message does not say.
	Preemption []Reason
}

// ParseMessage reads it. These are its forms:
//
//	0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint {a: b}. preemption: 0/5 nodes …
//	0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: …
//	no nodes available to schedule pods
//	running Bind plugin "DefaultBinder": …
//
// The texts of Kubernetes 1.14 to 1.37 were held against it: what one release
// calls otherwise than the newest is put in the newest one's words.
func ParseMessage(msg string) Message {
	msg = strings.ToValidUTF8(msg[:min(len(msg), maxMessage)], "")
	head, rest, ok := strings.Cut(msg, " nodes are available:")
	if !ok {
		return Message{Reasons: []Reason{newReason(0, msg)}}
	}
	var m Message
	_, all, _ := strings.Cut(head, "/")
	if n, err := strconv.Atoi(all); err == nil && n > 0 {
		m.Nodes = n
	}
	rest, after := cutPreemption(strings.TrimSpace(rest))
	m.Reasons = tally(rest)
	if after != "" {
		_, said, ok := strings.Cut(after, " nodes are available:")
		if !ok {
			said = after
		}
		m.Preemption = tally(said)
	}
	return m
}

// cutPreemption takes off what the message says about evicting others. From 1.26
// to 1.36 the plugin of resource claims may have its say before that.
func cutPreemption(s string) (before, after string) {
	before, after, found := strings.Cut(s, "preemption: ")
	if !found {
		after = ""
	}
	for _, words := range [...]string{"no new claims to deallocate", "still not schedulable"} {
		before, _, _ = strings.Cut(before, words)
	}
	before, _, _ = strings.Cut(before, ". ")
	return before, after
}

// tally reads a list of counted reasons, without their like.
func tally(s string) []Reason {
	var reasons []Reason
	for _, part := range split(strings.TrimRight(strings.TrimSpace(s), ". ")) {
		if len(reasons) == maxReasons {
			break
		}
		r := newReason(counted(part))
		if i := slices.IndexFunc(reasons, func(o Reason) bool { return o.Text == r.Text }); i >= 0 {
			reasons[i].Nodes += r.Nodes
			continue
		}
		reasons = append(reasons, r)
	}
	reasons = particular(reasons)
	slices.SortStableFunc(reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Nodes, a.Nodes))
	})
	return reasons
}

// particular drops what releases to 1.21 said of affinity between pods in
// general, next to each node's particular reason.
func particular(rs []Reason) []Reason {
	has := slices.ContainsFunc(rs, func(r Reason) bool {
		return r.Text == "didn't match pod affinity rules" || r.Text == "didn't match pod anti-affinity rules" || r.Text == "didn't satisfy existing pods anti-affinity rules"
	})
	if !has {
		return rs
	}
	return slices.DeleteFunc(rs, func(r Reason) bool { return r.Text == "didn't match pod affinity/anti-affinity rules" })
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

// Shorten puts one of the scheduler's reasons in the words of its newest release,
// without what they have in common.
func Shorten(reason string) Reason { return newReason(0, reason) }

func newReason(n int, text string) Reason {
	text = strings.TrimSpace(text)
	text, _, _ = strings.Cut(text, " (repeated ") // to 1.18
	if inner, ok := plugin(text); ok {
		text = inner
	}
	text = strings.TrimPrefix(text, "node(s) ")
	text = strings.TrimPrefix(text, "node ")
	text = strings.TrimPrefix(text, "had ")
	if t, ok := strings.CutPrefix(text, "taint {"); ok { // 1.18 to 1.23
		t, _, _ = strings.Cut(t, "}")
		text = "untolerated taint {" + t + "}"
	}
	if now, ok := renamed[text]; ok {
		text = now
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
	r := Reason{Nodes: n, Text: text, Kind: kind(text)}
	for _, p := range ofPod {
		if strings.HasPrefix(text, p) {
			r.Nodes = 0 // from 1.19 to 1.25 it was counted for each node
		}
	}
	return r
}

// ofPod begins what is said of a pod before any node is looked at.
var ofPod = []string{"pod has unbound immediate ", "persistentvolumeclaim ", "waiting for ephemeral volume controller ", "resourceclaim "}

// renamed puts what earlier releases said in the words of later ones.
var renamed = map[string]string{
	"didn't match node selector":                        "didn't match Pod's node affinity/selector",     // to 1.19
	"didn't match Pod's node affinity":                  "didn't match Pod's node affinity/selector",     // 1.20
	"didn't match the requested hostname":               "didn't match the requested node name",          // to 1.20
	"didn't match pod affinity/anti-affinity":           "didn't match pod affinity/anti-affinity rules", // to 1.20
	"taints that the pod didn't tolerate":               "untolerated taint(s)",                          // to 1.17
	"volume node affinity conflict":                     "didn't match PersistentVolume's node affinity", // to 1.32
	"Insufficient pods":                                 "Too many pods",                                 // to 1.17
	"Preemption will not help schedule pod on any node": "Preemption is not helpful for scheduling",
}

// plugin takes off what releases to 1.18 wrote before a reason that only one of
// their plugins gave.
func plugin(s string) (string, bool) {
	for _, before := range [...]string{`error while running "`, `running "`} {
		if rest, ok := strings.CutPrefix(s, before); ok {
			if _, why, ok := strings.Cut(rest, ` filter plugin for pod `); ok {
				_, why, ok = strings.Cut(why, ": ")
				return why, ok
			}
		}
	}
	return "", false
}

// kinds are told by a part of the text, the more particular first.
var kinds = []struct {
	part string
	kind Kind
}{
	{"no nodes available", NoNodes},
	{"running Bind plugin", Binding}, // from 1.22 on
	{"bind plugin \"", Binding},      // 1.17 to 1.21
	{"inding rejected: ", Binding},   // to 1.25
	{"node.cloudprovider.kubernetes.io/uninitialized", Uninitiated},
	{"node.kubernetes.io/not-ready", NodeDown},
	{"were not ready", NodeDown}, // to 1.17
	{"node.kubernetes.io/unreachable", NodeDown},
	{"node.kubernetes.io/unschedulable", Cordoned},
	{"were unschedulable", Cordoned},
	{"untolerated taint", Taint},
	{"disk pressure", Taint},   // to 1.17 these were no taints yet, and kept away alike
	{"memory pressure", Taint}, // …
	{"pid pressure", Taint},
	{"unavailable network", Taint},
	{"insufficient ", Resources},
	{"Too many pods", Resources},
	{"free ports", Port},
	{"didn't satisfy plugin", Placement}, // with their names, of which one may be VolumeBinding
	{"olume", Volume},                    // PersistentVolume, volume
	{"CSI driver", Volume},
	{"pvc", Volume},
	{"free storage", Volume},
	{"available disk", Volume},
	{"torageClass", Volume},
	{"affinity", Placement},
	{"topology spread", Placement},
	{"requested node name", Placement},
	{"resourceclaim", Claim},
	{"allocate all claims", Claim},
	{"required features", Placement},
}

func kind(text string) Kind {
	for _, k := range kinds {
		if strings.Contains(text, k.part) {
			return k.kind
		}
	}
	return Unnamed
}
