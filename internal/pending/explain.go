package pending

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/internal/fit"
)

const (
	// tried is how often the scheduler tries every pod again whatever happened.
	// Source: k8s.io/kubernetes, pkg/scheduler/backend/queue,
	// DefaultPodMaxInUnschedulablePodsDuration.
	tried = 5 * time.Minute
	// overdue is by how much a pod may outlast its grace period: its kubelet ends
	// it at the end of that, and then takes down its volumes and its network [exp].
	overdue = 2 * time.Minute
	// atOnce is how long a new pod may wait for the scheduler's first look
	// without that being worth a word.
	atOnce = 5 * time.Second
)

// explain says whose turn it is with a pod, and why. Pods that get the same key
// are one group.
func (g *grouper) explain(w pods.Waiter) Group {
	x := Group{From: Status}
	if w.Raw != "" {
		x.Said = w.Raw
		if !w.SaidAt.IsZero() {
			x.SaidAgo = spanOf(g.in.Waiters.At.Sub(w.SaidAt))
		}
	}
	switch {
	case w.Deleting:
		x.Turn, x.Cause = Deletion, "it waits for its finalizers or its node, and is not started any more"
	case w.Cause == pods.NotStarted:
		g.notStarted(&x, w)
	case w.Cause == pods.Starting:
		g.starting(&x, w)
	case w.Cause == pods.Gated:
		x.Turn, x.key = Gate, w.Key
		x.Cause = "kept from the scheduler by " + plural(len(w.Gates), "gate") + " " + w.Key + ", until who set " + it(len(w.Gates)) + " takes " + it(len(w.Gates)) + " away"
	case w.Cause == pods.Failing:
		g.failing(&x, w)
	case w.Cause == pods.Ignored:
		g.ignored(&x, w)
	case w.Nominated != "" && g.preempting(&x, w):
	case w.Cause == pods.Preempting:
		x.Turn, x.key = Preemption, ""
		x.Cause = "pods of less priority are being evicted for it from " + w.Nominated
	case w.Cause == pods.Unclaimed:
		if !g.judge(&x, w) {
			x.Turn, x.key = Unschedulable, w.Key
			x.Cause = "kept back until " + w.Key + " is there"
			x.Reasons = []pods.Kind{pods.Claim}
		}
	default:
		if !g.judge(&x, w) {
			g.byMessage(&x, w)
		}
	}
	return x
}

func plural(n int, noun string) string {
	if n > 1 {
		return noun + "s"
	}
	return noun
}

func it(n int) string {
	if n > 1 {
		return "them"
	}
	return "it"
}

func (g *grouper) notStarted(x *Group, w pods.Waiter) {
	x.Turn, x.key = NotStarted, w.Node
	x.Cause = fmt.Sprintf("bound to %s, whose kubelet has not taken it up", w.Node)
	if t, ok := g.in.Starts[w.ID()]; ok {
		x.Evidence = append(x.Evidence, told(t, g.in.Waiters.At))
	}
	for _, n := range g.in.NotReady {
		if n.Name != w.Node {
			continue
		}
		x.Cause = fmt.Sprintf("bound to %s, which is not ready", w.Node)
		what := "its kubelet says that it is not ready"
		if n.Silent {
			what = "its kubelet has not been heard of"
		}
		x.Evidence = append(x.Evidence, fmt.Sprintf("%s, for %s: %s", what, checks.Span(g.in.Waiters.At.Sub(n.Since)), n.Message))
	}
}

// startWords say what a kubelet is at, by the reason of the container's status or
// of its last event.
var startWords = map[string]string{
	"ContainerCreating":               "its containers are being made, and nothing was said of trouble",
	"PodInitializing":                 "its init containers run",
	"Pulling":                         "its image is being pulled",
	"ErrImagePull":                    "its image cannot be pulled",
	"ImagePullBackOff":                "its image cannot be pulled",
	"ErrImageNeverPull":               "its image is not on the node, and may not be pulled",
	"InvalidImageName":                "the name of its image is none",
	"CreateContainerConfigError":      "what its container is told to read is not there",
	"CreateContainerError":            "its container cannot be made",
	"RunContainerError":               "its container cannot be started",
	"CrashLoopBackOff":                "its init container ends again and again",
	"FailedMount":                     "a volume cannot be mounted",
	"FailedAttachVolume":              "a volume cannot be attached to its node",
	"FailedMapVolume":                 "a volume cannot be mapped",
	"FailedCreatePodSandBox":          "its network or sandbox cannot be made",
	"NetworkNotReady":                 "the network of its node is not ready",
	"FailedToRetrieveImagePullSecret": "its pull secret is not there",
}

func (g *grouper) starting(x *Group, w pods.Waiter) {
	x.Turn = Starting
	reason := w.Key
	if t, ok := g.in.Starts[w.ID()]; ok {
		if reason == "" || reason == "ContainerCreating" || reason == "PodInitializing" {
			reason = t.Reason
		}
		x.Evidence = append(x.Evidence, told(t, g.in.Waiters.At))
	}
	if w.Waiting != "" {
		x.Evidence = append(x.Evidence, w.Waiting)
	}
	x.key = reason
	words, ok := startWords[reason]
	switch {
	case reason == "":
		words = "no word from the kubelet of why it does not run yet"
	case !ok:
		words = reason
	default:
		words += " (" + reason + ")"
	}
	x.Cause = "bound to " + w.Node + ": " + words
}

func told(t pods.Told, now time.Time) string {
	s := t.Reason
	if t.Count > 1 {
		s += fmt.Sprintf(" ×%d", t.Count)
	}
	if !t.Last.IsZero() {
		s += ", " + checks.Span(now.Sub(t.Last)) + " ago"
	}
	return s + ": " + t.Message
}

// failing is a pod with which the scheduler meets an error.
func (g *grouper) failing(x *Group, w pods.Waiter) {
	x.From = Message
	if r := w.Said.Reasons; len(r) > 0 && r[0].Kind == pods.Binding {
		x.Turn, x.Reasons = Binding, []pods.Kind{pods.Binding}
		by, name := controllers.Classify(w.Raw)
		x.key = string(by) + " " + name
		x.Cause = "a node was found for it, and binding it to that node is refused"
		if by != controllers.ByOther {
			x.Cause += ": " + cmp.Or(by.Refusal(name), "refused")
		}
		return
	}
	x.Turn, x.Reasons = Error, []pods.Kind{pods.Failed}
	x.key = alike(w.Key)
	x.Cause = "the scheduler meets an error with it: " + w.Key
}

// quoted is what differs between pods that wait for the same.
var quoted = regexp.MustCompile(`"[^"]*"`)

func alike(s string) string { return quoted.ReplaceAllString(s, `""`) }

// preempting explains a pod for which others are on their way out, and reports
// whether they are.
func (g *grouper) preempting(x *Group, w pods.Waiter) bool {
	if g.in.World == nil {
		return false
	}
	var victims []*corev1.Pod
	for _, p := range g.in.World.Pods {
		if p.Spec.NodeName == w.Nominated && p.DeletionTimestamp != nil && priority(p) < w.Priority {
			victims = append(victims, p)
		}
	}
	if len(victims) == 0 {
		return false
	}
	x.Turn, x.key = Preemption, ""
	x.Cause = fmt.Sprintf("waits for %s on %s to be gone, which it preempts", checks.Count(len(victims), "pod"), w.Nominated)
	now := g.in.Waiters.At
	for _, p := range victims[:min(len(victims), 3)] {
		grace := time.Duration(0)
		if s := p.DeletionGracePeriodSeconds; s != nil {
			grace = time.Duration(*s) * time.Second
		}
		e := fmt.Sprintf("%s/%s of priority %d is terminating for %s", p.Namespace, p.Name, priority(p), checks.Span(now.Sub(p.DeletionTimestamp.Add(-grace))))
		if late := now.Sub(p.DeletionTimestamp.Time); late > 0 {
			e += fmt.Sprintf(", %s past its grace period", checks.Span(late))
			if late > overdue {
				x.key = "late"
			}
		} else {
			e += fmt.Sprintf(", with %s left of its grace period", checks.Span(-late))
		}
		if len(p.Finalizers) > 0 {
			e += ", held by finalizer " + checks.List(p.Finalizers, 2)
		}
		x.Evidence = append(x.Evidence, e)
	}
	if x.key == "late" {
		x.victims = victims
		x.Turn = Unschedulable // nobody will do it by itself any more
		x.Cause += ", and they do not go"
		if len(victims) == 1 {
			x.Cause = fmt.Sprintf("waits for %s/%s on %s to be gone, which it preempts and which does not go", victims[0].Namespace, victims[0].Name, w.Nominated)
		}
	}
	return true
}

func priority(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

// judge explains a pod by the model, and reports whether that could.
func (g *grouper) judge(x *Group, w pods.Waiter) bool {
	if g.model == nil {
		return false
	}
	p := g.in.World.Find(w.Namespace, w.Name)
	if p == nil {
		return false // it came after the list, or that could not be read
	}
	v := g.model.Judge(p)
	x.From, x.Verdict = Model, &Verdict{Verdict: v}
	switch v.State {
	case fit.Fits:
		x.Turn = Scheduler
		x.key = "fits"
		x.Cause = fmt.Sprintf("fits on %s now, such as %s: the scheduler tries it again by itself, within %s at the latest", checks.Count(len(v.Fits), "node"), v.Fits[0], checks.Span(tried))
		if len(v.NotModelled) > 0 {
			x.Cause = fmt.Sprintf("seems to fit on %s, such as %s, and the scheduler may know better: not modelled is %s", checks.Count(len(v.Fits), "node"), v.Fits[0], strings.Join(v.NotModelled, ", "))
			x.key = "fits?"
		}
	case fit.Unschedulable, fit.Failing:
		x.Turn = Unschedulable
		x.Cause, x.key = because(v)
		x.Reasons = kinds(v)
	default:
		x.Verdict = nil
		if len(v.Unread) > 0 {
			var kinds []string
			for _, u := range v.Unread {
				if k := string(u.Kind); !slices.Contains(kinds, k) {
					kinds = append(kinds, k)
				}
			}
			x.Evidence = append(x.Evidence, "whether it fits now is not known: it depends on "+strings.Join(kinds, ", ")+", which could not be read")
		}
		return false
	}
	return true
}

// because writes what keeps a pod from all nodes, as the nodes fall into groups:
// "5 of 8 nodes: insufficient cpu; 3: untolerated taint {a: b}, insufficient cpu".
func because(v fit.Verdict) (cause, key string) {
	if v.NumNodes == 0 && len(v.Blocked) == 0 {
		return "there are no nodes", "no nodes"
	}
	if len(v.Blocked) > 0 {
		var said, keys []string
		for _, f := range v.Blocked {
			said = append(said, cmp.Or(f.Detail, f.Reason))
			keys = append(keys, f.Plugin+alike(f.Reason))
		}
		slices.Sort(keys)
		return strings.Join(slices.Compact(said), "; "), strings.Join(slices.Compact(keys), "\x00")
	}
	const most = 3
	var said, keys []string
	for i, n := range v.Groups {
		var rs []string
		for _, f := range n.Failures {
			if s := brief(f); !slices.Contains(rs, s) {
				rs = append(rs, s)
			}
		}
		keys = append(keys, strings.Join(rs, "\x01"))
		s := strings.Join(rs, ", ")
		switch {
		case i == 0 && len(v.Groups) == 1:
			s = fmt.Sprintf("%s on %s", s, all(len(n.Nodes), v.NumNodes))
		case i == 0:
			s = fmt.Sprintf("%s on %d of %s", s, len(n.Nodes), checks.Count(v.NumNodes, "node"))
		default:
			s = fmt.Sprintf("%s on %d", s, len(n.Nodes))
		}
		said = append(said, s)
	}
	slices.Sort(keys)
	if more := len(said) - most; more > 0 {
		n := 0
		for _, x := range v.Groups[most:] {
			n += len(x.Nodes)
		}
		said = append(said[:most], fmt.Sprintf("other reasons on %d", n))
	}
	return strings.Join(said, "; "), strings.Join(slices.Compact(keys), "\x00")
}

func all(n, of int) string {
	switch {
	case of == 1:
		return "the only node"
	case n == of:
		return fmt.Sprintf("all %d nodes", n)
	}
	return fmt.Sprintf("%d of %s", n, checks.Count(of, "node"))
}

// brief is a failure in few words.
func brief(f fit.Failure) string {
	if f.Taint != nil {
		t := f.Taint.Key
		if f.Taint.Value != "" {
			t += ": " + f.Taint.Value
		}
		return "untolerated taint {" + t + "}"
	}
	return pods.Shorten(f.Reason).Text
}

func kinds(v fit.Verdict) []pods.Kind {
	var out []pods.Kind
	add := func(f fit.Failure) {
		k := pods.Shorten(brief(f)).Kind
		switch {
		case f.Claim != nil:
			k = pods.Claim
		case f.Volume != nil:
			k = pods.Volume
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	for _, f := range v.Blocked {
		add(f)
	}
	if len(out) > 0 {
		return out // what is behind that does not matter yet
	}
	for _, g := range v.Groups {
		for _, f := range g.Failures {
			add(f)
		}
	}
	if len(out) == 0 {
		out = append(out, pods.NoNodes)
	}
	return out
}

// byMessage explains a pod by what the scheduler last wrote of it, which need not
// be so any more.
func (g *grouper) byMessage(x *Group, w pods.Waiter) {
	x.Turn, x.From = Unschedulable, Message
	m := w.Said
	if len(m.Reasons) == 0 {
		x.key, x.Cause = "?", "the scheduler found no node and left no word why"
		return
	}
	var keys, said []string
	for i, r := range m.Reasons {
		keys = append(keys, alike(r.Text))
		x.Reasons = append(x.Reasons, r.Kind)
		switch {
		case r.Nodes == 0:
			said = append(said, r.Text)
		case i == 0 && m.Nodes > 0:
			said = append(said, fmt.Sprintf("%s on %s", r.Text, all(r.Nodes, m.Nodes)))
		default:
			said = append(said, fmt.Sprintf("%s on %d", r.Text, r.Nodes))
		}
	}
	slices.Sort(keys)
	x.key = strings.Join(keys, "\x00")
	const most = 3
	if len(said) > most {
		said = append(said[:most], checks.Count(len(said)-most, "more reason"))
	}
	x.Cause = strings.Join(said, "; ")
}
