// Package pending tells why pods do not run: whose turn it is, what keeps them
// from every node, and the smallest changes that would get them there. Pods that
// wait for the same are one group. It is pure; what it is told of comes from
// facts.
package pending

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/nodes"
	"github.com/ktriage/ktriage/collectors/placement"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/internal/fit"
)

// A Turn is who has to act next.
type Turn string

// The turns.
const (
	NoScheduler   Turn = "no scheduler"   // nobody serves its schedulerName, or nobody leads
	Scheduler     Turn = "scheduler"      // it will be tried, or tried again, by itself
	Error         Turn = "error"          // the scheduler meets an error with it
	Binding       Turn = "binding"        // a node was found, and writing it into the pod is refused
	Gate          Turn = "gate"           // who set the scheduling gate
	Unschedulable Turn = "unschedulable"  // no node takes it: the pod, the nodes or others have to change
	Preemption    Turn = "preemption"     // pods of less priority are on their way out
	NotStarted    Turn = "kubelet silent" // it has a node, whose kubelet has not taken it up
	Starting      Turn = "kubelet"        // the kubelet is at it
	Deletion      Turn = "deletion"       // it is being deleted, and waits for nothing else
	NotCreated    Turn = "not created"    // the API server refuses it
)

// A Source is where an account comes from.
type Source string

// The sources.
const (
	Model   Source = "model"   // the objects, as they are now
	Message Source = "message" // what the scheduler, or the API server, said then
	Status  Source = "status"  // the pod's own status and its events
)

// A Workload is who has pods that wait.
type Workload struct {
	Kind      string `json:"kind,omitempty"` // empty for pods of nobody
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Pods      int    `json:"pods"`
}

// A Group is pods that wait for the same.
type Group struct {
	Turn    Turn   `json:"turn"`
	Cause   string `json:"cause"` // one line, of the example
	From    Source `json:"from"`
	Pods    int    `json:"pods"`
	Oldest  Span   `json:"oldestSeconds"` // how long the first of them has waited
	Example string `json:"example"`       // namespace/name of that one

	Workloads []Workload `json:"workloads"` // the first few, those of most pods first
	More      int        `json:"moreWorkloads,omitempty"`
	Evidence  []string   `json:"evidence,omitempty"`
	// Said is what the scheduler wrote of the example, and SaidAgo how long ago.
	Said    string `json:"said,omitempty"`
	SaidAgo Span   `json:"saidAgoSeconds,omitempty"`

	// Reasons are the kinds of what is in the way, for those that judge groups.
	Reasons []pods.Kind `json:"-"`
	// By and Refuser are who does not let the pods be created.
	By      controllers.Refuser `json:"refusedBy,omitempty"`
	Refuser string              `json:"refuser,omitempty"`
	Verdict *Verdict            `json:"verdict,omitempty"`
	Changes []Change            `json:"changes,omitempty"`
	// Unproved says that changes are advice by the cause alone: no model of the
	// cluster has shown that they suffice.
	Unproved bool `json:"unproved,omitempty"`

	key     string
	pod     pods.Waiter // the example
	owners  map[Workload]int
	victims []*corev1.Pod // that it preempts and that do not go
}

// A Verdict is the model's, without the node groups that a table has no room for.
type Verdict struct {
	fit.Verdict
	NodesNotShown int `json:"nodesNotShown,omitempty"`
}

// A Change is a way to get the pod running, with the commands for it.
type Change struct {
	Summary  string     `json:"summary"`
	Harm     fit.Harm   `json:"harm,omitempty"`
	Node     string     `json:"node,omitempty"`
	Nodes    int        `json:"nodes,omitempty"`
	Waits    string     `json:"waits,omitempty"`
	Edits    []fit.Edit `json:"edits,omitempty"`
	Commands []string   `json:"commands"`
}

// A Span is a time in seconds.
type Span float64

// spanOf makes a Span.
func spanOf(d time.Duration) Span { return Span(max(0, d).Seconds()) }

// Duration is the span as Go has it.
func (s Span) Duration() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

// An Unseen is what could not be seen.
type Unseen struct {
	What   string            `json:"what"`
	Reason collectors.Reason `json:"reason"`
	Detail string            `json:"detail"`
	Remedy string            `json:"remedy,omitempty"`
}

// A Table is all of it.
type Table struct {
	At         time.Time `json:"at"`
	Pending    int       `json:"pending"`                 // pods
	NotCreated int       `json:"notCreated"`              // pods that do not exist
	Groups     []Group   `json:"groups"`                  // those of most pods first
	NotListed  int       `json:"podsNotListed,omitempty"` // beyond what is kept of a large cluster
	Unseen     []Unseen  `json:"unseen"`
	// NotModelled names what bears on any verdict of the model and is not known to it.
	NotModelled []string `json:"notModelled,omitempty"`
}

// An Input is what a run learned of pods that wait.
type Input struct {
	Waiters    pods.Waiters
	World      *placement.World // nil where it was not asked for or is not known
	Configured []string         // files with which schedulers were configured
	Starts     map[string]pods.Told
	Schedulers Schedulers
	Shortage   controllers.Shortage
	Refused    []controllers.RefusedPod
	Quotas     []controllers.Quota
	NotReady   []nodes.Node

	// Keep says which pods are wanted; nil for all.
	Keep func(namespace, name string, labels map[string]string) bool
	// Most is for how many groups changes are worked out; 0 for all.
	Most int
}

// Groups puts the pods that wait together by what they wait for.
func Groups(in Input) []Group {
	g := newGrouper(in)
	for _, w := range in.Waiters.Pods {
		if in.Keep == nil || in.Keep(w.Namespace, w.Name, w.Labels) {
			g.add(w)
		}
	}
	out := g.groups()
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(rank(a.Turn), rank(b.Turn)), cmp.Compare(b.Pods, a.Pods), strings.Compare(a.key, b.key))
	})
	for i := range out {
		if in.Most == 0 || i < in.Most {
			g.changes(&out[i])
		}
	}
	return out
}

// maxNodes is how many nodes a table names of each group of them.
const maxNodes = 20

// Trim cuts the names of nodes in a verdict to what a table has room for.
func (g *Group) Trim() {
	if g.Verdict == nil {
		return
	}
	v := *g.Verdict
	cut := func(names []string) []string {
		if more := len(names) - maxNodes; more > 0 {
			v.NodesNotShown += more
			return names[:maxNodes]
		}
		return names
	}
	v.Fits = cut(v.Fits)
	v.Groups = slices.Clone(v.Groups) // the model's own are not to be changed
	for i := range v.Groups {
		v.Groups[i].Nodes = cut(v.Groups[i].Nodes)
	}
	g.Verdict = &v
}

// rank puts behind what needs nobody's help.
func rank(t Turn) int {
	switch t {
	case Scheduler, Preemption, Starting:
		return 1
	case Gate:
		return 2
	case Deletion:
		return 3
	}
	return 0
}

// maxWorkloads is how many owners a group names.
const maxWorkloads = 5

type grouper struct {
	in    Input
	model *fit.Model
	by    map[string]*Group
	order []*Group
}

func newGrouper(in Input) *grouper {
	g := &grouper{in: in, by: map[string]*Group{}}
	if in.World != nil {
		c := in.World.Cluster
		if len(in.Configured) > 0 && len(c.Profiles) == 0 {
			c.Profiles = map[string]fit.Profile{}
			for _, w := range in.Waiters.Pods {
				c.Profiles[w.Scheduler] = fit.Profile{Unmodelled: []string{"what the scheduler's configuration file changes (" + strings.Join(in.Configured, ", ") + ")"}}
			}
		}
		g.model = fit.New(c)
	}
	return g
}

func (g *grouper) add(w pods.Waiter) {
	x := g.explain(w)
	age := spanOf(g.in.Waiters.At.Sub(w.Since))
	if w.Since.IsZero() {
		age = 0
	}
	x.key = string(x.Turn) + "\x00" + x.key
	t := g.by[x.key]
	if t == nil {
		x.owners = map[Workload]int{}
		t = &x
		t.pod, t.Example, t.Oldest = w, w.ID(), age
		g.by[x.key] = t
		g.order = append(g.order, t)
	} else if age > t.Oldest {
		n, owners := t.Pods, t.owners
		*t = x
		t.Pods, t.owners = n, owners
		t.pod, t.Example, t.Oldest = w, w.ID(), age
	}
	t.Pods++
	o := Workload{Kind: w.Owner.Kind, Namespace: w.Namespace, Name: w.Owner.Name}
	if o.Kind == "" {
		o.Name = w.Name
	}
	t.owners[o]++
}

func (g *grouper) groups() []Group {
	out := make([]Group, 0, len(g.order))
	for _, t := range g.order {
		t.Workloads, t.More = workloads(t.owners)
		out = append(out, *t)
	}
	return out
}

func workloads(owners map[Workload]int) ([]Workload, int) {
	out := make([]Workload, 0, len(owners))
	for o, n := range owners {
		o.Pods = n
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b Workload) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
	})
	more := max(0, len(out)-maxWorkloads)
	return out[:len(out)-more], more
}
