package pods

import (
	"cmp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// All is the target of facts about the pods as a whole.
var All = collectors.Target{Component: collectors.Pods, Addr: "kube:"}

// A Cause says who has to act next so that a pending pod starts.
type Cause string

// The causes.
const (
	Ignored       Cause = "ignored"       // a scheduler: none has said anything about it; the key is the schedulerName
	Unclaimed     Cause = "unclaimed"     // who makes the resource claim that it names, or a scheduler: that says nothing before the claim is there; the key is the claim
	Unschedulable Cause = "unschedulable" // the pod's owner, or who adds nodes; the key is the first reason
	Failing       Cause = "failing"       // the scheduler, which met an error; the key is the error
	Preempting    Cause = "preempting"    // nobody: pods of less priority are being evicted for it
	Gated         Cause = "gated"         // who set the scheduling gate; the key is the gates
	NotStarted    Cause = "not started"   // the kubelet, which has not acknowledged it; the key is the node
	Starting      Cause = "starting"      // the kubelet, which is at it; the key is what it says it waits for
)

// A Group is pods that wait for the same.
type Group struct {
	Cause                   Cause
	Key                     string
	Count                   int
	Past30s, Past2m, Past5m int // how many of them have waited that long
	Past1h                  int
	Oldest                  time.Duration // how long the first of them has waited
	Example                 string        // namespace/name of that one
	Nodes                   int           // how many nodes there were to choose from, of an unschedulable one
	Reasons                 []Reason      // why none of them takes it
	Tolerations             []corev1.Toleration
	Deployments             []string // namespace/name of those whose pods are among the unschedulable; the first few
}

// A Census is all pending pods, by who has to act.
type Census struct {
	Total    int
	Deleting int     // of which are being deleted, and wait for nothing
	Groups   []Group // the largest first
	Hidden   int     // pods in groups beyond maxGroups, in none of Groups
}

// By returns the groups of a cause.
func (c Census) By(cause Cause) []Group {
	var out []Group
	for _, g := range c.Groups {
		if g.Cause == cause {
			out = append(out, g)
		}
	}
	return out
}

// Sum adds up the groups of a cause: their counts, the oldest, its example.
func (c Census) Sum(cause Cause) Group {
	out := Group{Cause: cause}
	for _, g := range c.By(cause) {
		out.Count += g.Count
		out.Past30s += g.Past30s
		out.Past2m += g.Past2m
		out.Past5m += g.Past5m
		out.Past1h += g.Past1h
		if g.Oldest >= out.Oldest {
			out.Oldest, out.Example, out.Key = g.Oldest, g.Example, g.Key
		}
	}
	return out
}

// maxGroups bounds memory: keys are text out of the cluster. maxOwners is as
// many as the Deployments that are known not to progress.
const (
	maxGroups      = 200
	maxTolerations = 50
	maxOwners      = 100
)

// preemption is how long a pod may wait for its victims to be gone: their
// grace period is 30 s unless they ask for more.
const preemption = 5 * time.Minute

// Pending counts the pending pods by who has to act next. It reads the list
// pod by pod and keeps one example a group.
var Pending = &collectors.Fact[Census]{
	ID:      "pods.pending",
	Doc:     "the pending pods, by who has to act next, with an example of each",
	Needs:   []collectors.Any{cluster.Clock},
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/pods?fieldSelector=status.phase%3DPending"}}
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Census] {
		now, gap := cluster.Now(s)
		c := &counter{now: now, by: map[string]*Group{}}
		return collectors.Folder[Census]{
			Add: func(_ int, o objects.Object) { c.add(o.(*corev1.Pod)) },
			Done: func([]collectors.Answered) (Census, error) {
				if gap != nil {
					return Census{}, gap
				}
				return c.census(), nil
			},
		}
	},
}

type counter struct {
	now time.Time
	by  map[string]*Group
	out Census
}

func (c *counter) add(p *corev1.Pod) {
	if p.Status.Phase != corev1.PodPending { // of a recording that holds all pods
		return
	}
	c.out.Total++
	if p.DeletionTimestamp != nil {
		c.out.Deleting++
		return
	}
	g, since := classify(p, c.now)
	k := string(g.Cause) + "\x00" + g.Key
	t := c.by[k]
	if t == nil {
		if len(c.by) >= maxGroups {
			c.out.Hidden++
			return
		}
		g.Key = strings.Clone(g.Key)
		t = &g
		c.by[k] = t
	}
	age := max(0, c.now.Sub(since))
	if since.IsZero() { // of a description that leaves out when it was made
		age = 0
	}
	t.Count++
	if d := deployment(p); d != "" && t.Cause == Unschedulable && len(t.Deployments) < maxOwners && !slices.Contains(t.Deployments, d) {
		t.Deployments = append(t.Deployments, d)
	}
	for limit, n := range map[time.Duration]*int{30 * time.Second: &t.Past30s, 2 * time.Minute: &t.Past2m, 5 * time.Minute: &t.Past5m, time.Hour: &t.Past1h} {
		if age > limit {
			*n++
		}
	}
	if age >= t.Oldest {
		t.Oldest, t.Example = age, p.Namespace+"/"+p.Name
		t.Nodes, t.Reasons = g.Nodes, g.Reasons
		t.Tolerations = slices.Clone(p.Spec.Tolerations[:min(len(p.Spec.Tolerations), maxTolerations)])
	}
}

func (c *counter) census() Census {
	out := c.out
	for _, g := range c.by {
		out.Groups = append(out.Groups, *g)
	}
	slices.SortFunc(out.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(string(a.Cause), string(b.Cause)), strings.Compare(a.Key, b.Key))
	})
	return out
}

// classify says who has to act, and since when the pod waits for it.
func classify(p *corev1.Pod, now time.Time) (Group, time.Time) {
	created := p.CreationTimestamp.Time
	var said *corev1.PodCondition
	for i, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			said = &p.Status.Conditions[i]
		}
	}
	since := created
	if said != nil && said.LastTransitionTime.After(created) {
		since = said.LastTransitionTime.Time
	}
	switch {
	case p.Spec.NodeName != "" && p.Status.StartTime == nil:
		// The start time is the first thing that a kubelet writes of a pod.
		return Group{Cause: NotStarted, Key: p.Spec.NodeName}, since
	case p.Spec.NodeName != "":
		return Group{Cause: Starting, Key: waitingFor(p)}, since
	case len(p.Spec.SchedulingGates) > 0:
		return Group{Cause: Gated, Key: gates(p)}, created
	case (said == nil || said.Status == corev1.ConditionUnknown) && schedulerName(p) == corev1.DefaultSchedulerName && len(p.Spec.ResourceClaims) > 0:
		claim := claim(p)
		return Group{Cause: Unclaimed, Key: claim, Reasons: []Reason{{Text: "waiting for " + claim, Kind: Claim}}}, created
	case said == nil || said.Status == corev1.ConditionUnknown:
		return Group{Cause: Ignored, Key: schedulerName(p)}, created
	case said.Reason == corev1.PodReasonSchedulingGated:
		// The last gate was taken away and the condition, which the API server
		// wrote, is left. The scheduler's turn began with the last write.
		return Group{Cause: Ignored, Key: schedulerName(p)}, written(p, now)
	case said.Status == corev1.ConditionTrue:
		return Group{Cause: Starting}, since
	case p.Status.NominatedNodeName != "" && now.Sub(since) < preemption:
		return Group{Cause: Preempting}, since
	}
	m := ParseMessage(said.Message)
	g := Group{Cause: Unschedulable, Key: m.Reasons[0].Text, Nodes: m.Nodes, Reasons: m.Reasons}
	if said.Reason == corev1.PodReasonSchedulerError && m.Reasons[0].Kind != NoNodes {
		g.Cause = Failing
		if m.Reasons[0].Kind != Binding {
			g.Reasons[0].Kind = Failed
		}
	}
	return g, since
}

// deployment names the Deployment of a pod's ReplicaSet: a ReplicaSet is named
// after it and after the hash of the pods' template, with which it labels them.
func deployment(p *corev1.Pod) string {
	hash := p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	for _, o := range p.OwnerReferences {
		if name, ok := strings.CutSuffix(o.Name, "-"+hash); ok && o.Kind == "ReplicaSet" && hash != "" && name != "" {
			return p.Namespace + "/" + name
		}
	}
	return ""
}

// waitingFor is why the first container that waits does: "ImagePullBackOff".
func waitingFor(p *corev1.Pod) string {
	for _, st := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := st.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" {
			return strings.ToValidUTF8(w.Reason[:min(len(w.Reason), maxText)], "")
		}
	}
	return ""
}

func schedulerName(p *corev1.Pod) string {
	return cmp.Or(p.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

// claim names the resource claim that the pod most likely waits for: one that a
// controller has not made yet, else the first that somebody was to make.
func claim(p *corev1.Pod) string {
	for _, c := range p.Spec.ResourceClaims {
		made := slices.ContainsFunc(p.Status.ResourceClaimStatuses, func(s corev1.PodResourceClaimStatus) bool { return s.Name == c.Name })
		if t := c.ResourceClaimTemplateName; t != nil && !made {
			return "a resource claim of template " + *t
		}
	}
	for _, c := range p.Spec.ResourceClaims {
		if c.ResourceClaimName != nil {
			return "resource claim " + *c.ResourceClaimName
		}
	}
	return "its resource claims"
}

// written is when the pod was last written, or now if it does not say.
func written(p *corev1.Pod, now time.Time) time.Time {
	var last time.Time
	for _, f := range p.ManagedFields {
		if f.Time != nil && f.Time.After(last) {
			last = f.Time.Time
		}
	}
	if last.IsZero() {
		return now
	}
	return last
}

func gates(p *corev1.Pod) string {
	var names []string
	for _, g := range p.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	s := strings.Join(names, ", ")
	if len(s) > maxText {
		s = s[:maxText] + "…"
	}
	return s
}
