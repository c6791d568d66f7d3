package pods

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// An Owner is who made a pod and would make it again.
type Owner struct {
	Kind string // "Deployment", "StatefulSet"; empty for nobody
	Name string
}

// A Waiter is one pending pod: who has to act so that it starts, and since when.
type Waiter struct {
	Namespace, Name string
	UID             string
	Labels          map[string]string
	Cause           Cause
	Key             string    // as in Group
	Since           time.Time // when it began to wait for that
	Created         time.Time
	Deleting        bool

	Owner     Owner // the Deployment rather than its ReplicaSet
	Scheduler string
	Node      string // that it is bound to
	Nominated string // where pods are evicted for it
	Priority  int32
	Gates     []string
	Claims    bool   // it names resource claims
	Volumes   bool   // it mounts claims of persistent volumes
	Extended  bool   // it asks for a resource of somebody's own, which claims may stand for
	Waiting   string // why its first waiting container does, in the words of the kubelet's own message

	// Said is the scheduler's account of it, and SaidAt when it was written.
	// Neither need be so any more.
	Said   Message
	SaidAt time.Time
	Raw    string // as it stands there
}

// ID is "namespace/name".
func (w Waiter) ID() string { return w.Namespace + "/" + w.Name }

// Waiters are the pending pods one by one.
type Waiters struct {
	At   time.Time // by the API server's clock
	Pods []Waiter  // in the order of the list
	Over int       // pods beyond maxWaiters, which are not among them
}

// Find returns the pod of that namespace and name.
func (w Waiters) Find(namespace, name string) (Waiter, bool) {
	i := slices.IndexFunc(w.Pods, func(x Waiter) bool { return x.Namespace == namespace && x.Name == name })
	if i < 0 {
		return Waiter{}, false
	}
	return w.Pods[i], true
}

// Judgeable reports whether any pod waits for what the nodes would have to
// offer: then it is worth looking at them.
func (w Waiters) Judgeable() bool {
	return slices.ContainsFunc(w.Pods, func(x Waiter) bool {
		switch x.Cause {
		case Unschedulable, Failing, Unclaimed, Preempting:
			return !x.Deleting
		}
		return false
	})
}

// maxWaiters bounds memory. It is above what the scheduler's own tests hold pending.
const maxWaiters = 50_000

// Waiting lists the pending pods one by one. It shares its list with Pending.
var Waiting = &collectors.Fact[Waiters]{
	ID:      "pods.waiting",
	Doc:     "each pending pod, with who has to act next, and what the scheduler last wrote of it",
	Needs:   []collectors.Any{cluster.Clock},
	Targets: collectors.Single(All),
	Ask:     Pending.Ask,
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Waiters] {
		now, gap := cluster.Now(s)
		out := Waiters{At: now}
		return collectors.Folder[Waiters]{
			Add: func(_ int, o objects.Object) {
				p := o.(*corev1.Pod)
				switch {
				case p.Status.Phase != corev1.PodPending:
				case len(out.Pods) == maxWaiters:
					out.Over++
				default:
					out.Pods = append(out.Pods, waiter(p, now))
				}
			},
			Done: func([]collectors.Answered) (Waiters, error) {
				if gap != nil {
					return Waiters{}, gap
				}
				return out, nil
			},
		}
	},
}

func waiter(p *corev1.Pod, now time.Time) Waiter {
	g, since := classify(p, now)
	w := Waiter{
		Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Labels: p.Labels, Cause: g.Cause, Key: g.Key, Since: since, Created: p.CreationTimestamp.Time,
		Deleting: p.DeletionTimestamp != nil, Owner: OwnerOf(p), Scheduler: schedulerName(p), Node: p.Spec.NodeName,
		Nominated: p.Status.NominatedNodeName, Claims: len(p.Spec.ResourceClaims) > 0,
	}
	if d := p.DeletionTimestamp; d != nil {
		w.Since = d.Time // it stands for the end of the grace period
		if g := p.DeletionGracePeriodSeconds; g != nil {
			w.Since = w.Since.Add(-time.Duration(*g) * time.Second)
		}
	}
	if p.Spec.Priority != nil {
		w.Priority = *p.Spec.Priority
	}
	for _, g := range p.Spec.SchedulingGates {
		w.Gates = append(w.Gates, g.Name)
	}
	for _, v := range p.Spec.Volumes {
		w.Volumes = w.Volumes || v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.CSI != nil
	}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for name := range c.Resources.Requests {
			w.Extended = w.Extended || strings.Contains(string(name), "/")
		}
	}
	for _, st := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if x := st.State.Waiting; x != nil && x.Message != "" && w.Waiting == "" {
			w.Waiting = collectors.OneLine(x.Message, maxText)
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason != corev1.PodReasonSchedulingGated {
			w.Raw = collectors.OneLine(c.Message, maxMessage)
			w.Said, w.SaidAt = ParseMessage(c.Message), saidAt(p, c)
		}
	}
	return w
}

// saidAt is when the scheduler last wrote the pod's condition: the time that
// stands in the condition is that of its first refusal.
func saidAt(p *corev1.Pod, c corev1.PodCondition) time.Time {
	last := c.LastTransitionTime.Time
	for _, f := range p.ManagedFields {
		if f.Subresource == "status" && strings.Contains(f.Manager, "scheduler") && f.Time != nil && f.Time.After(last) {
			last = f.Time.Time
		}
	}
	return last
}

// OwnerOf is who made the pod. Of a Deployment's ReplicaSet it is the Deployment.
func OwnerOf(p *corev1.Pod) Owner {
	o := metav1.GetControllerOf(p)
	if o == nil {
		return Owner{}
	}
	if d := deployment(p); d != "" {
		_, name, _ := strings.Cut(d, "/")
		return Owner{"Deployment", name}
	}
	return Owner{o.Kind, o.Name}
}
