package pods

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// pod makes a pod that is pending since an hour.
func pod(change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b", CreationTimestamp: ago(time.Hour)}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	change(p)
	return p
}

func said(s corev1.ConditionStatus, reason, msg string, since time.Duration) []corev1.PodCondition {
	return []corev1.PodCondition{{Type: corev1.PodScheduled, Status: s, Reason: reason, Message: msg, LastTransitionTime: ago(since)}}
}

func TestWhoHasToActNext(t *testing.T) {
	const noFit = "0/1 nodes are available: 1 Insufficient cpu."
	started := ago(time.Minute)
	for _, c := range []struct {
		name  string
		pod   *corev1.Pod
		cause Cause
		key   string
		age   time.Duration
	}{
		{"nobody has looked", pod(func(p *corev1.Pod) {}), Ignored, "default-scheduler", time.Hour},
		{"nobody has looked, and it asks for another", pod(func(p *corev1.Pod) { p.Spec.SchedulerName = "mine" }), Ignored, "mine", time.Hour},
		{"it fits nowhere, for a minute", pod(func(p *corev1.Pod) {
			p.Status.Conditions = said("False", "Unschedulable", noFit, time.Minute)
		}), Unschedulable, "insufficient cpu", time.Minute},
		{"the scheduler met an error", pod(func(p *corev1.Pod) {
			p.Status.Conditions = said("False", "SchedulerError", `running PreBind plugin "VolumeBinding"`, time.Minute)
		}), Failing, `running PreBind plugin "VolumeBinding"`, time.Minute},
		{"there are no nodes, which the scheduler calls an error", pod(func(p *corev1.Pod) {
			p.Status.Conditions = said("False", "SchedulerError", "no nodes available to schedule pods", time.Minute)
		}), Unschedulable, "no nodes available to schedule pods", time.Minute},
		{"its victims shut down", pod(func(p *corev1.Pod) {
			p.Status.Conditions, p.Status.NominatedNodeName = said("False", "Unschedulable", noFit, time.Minute), "n"
		}), Preempting, "", time.Minute},
		{"its victims do not go away", pod(func(p *corev1.Pod) {
			p.Status.Conditions, p.Status.NominatedNodeName = said("False", "Unschedulable", noFit, 10*time.Minute), "n"
		}), Unschedulable, "insufficient cpu", 10 * time.Minute},
		{"a gate", pod(func(p *corev1.Pod) {
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "x/y"}, {Name: "z"}}
			p.Status.Conditions = said("False", "SchedulingGated", "", time.Minute)
		}), Gated, "x/y, z", time.Hour},
		{"the gate is gone, since who knows when", pod(func(p *corev1.Pod) {
			p.Status.Conditions = said("False", "SchedulingGated", "", time.Minute)
		}), Ignored, "default-scheduler", 0},
		{"it has a node, which has not taken it up", pod(func(p *corev1.Pod) {
			p.Spec.NodeName, p.Status.Conditions = "n", said("True", "", "", time.Minute)
		}), NotStarted, "n", time.Minute},
		{"it pulls its image", pod(func(p *corev1.Pod) {
			p.Spec.NodeName, p.Status.Conditions, p.Status.StartTime = "n", said("True", "", "", time.Minute), &started
		}), Starting, "", time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, since := classify(c.pod, now)
			if g.Cause != c.cause || g.Key != c.key || now.Sub(since) != c.age {
				t.Errorf("classify = %s %q for %s, want %s %q for %s", g.Cause, g.Key, now.Sub(since), c.cause, c.key, c.age)
			}
		})
	}
}

func TestACensusKeepsTheOldestAsExampleAndIsBounded(t *testing.T) {
	c := &counter{now: now, by: map[string]*Group{}}
	for i := range 1000 {
		c.add(pod(func(p *corev1.Pod) {
			p.Name = fmt.Sprintf("p-%d", i)
			p.CreationTimestamp = ago(time.Duration(i) * time.Second)
			p.Spec.SchedulerName = fmt.Sprintf("s-%d", i%300)
		}))
	}
	c.add(pod(func(p *corev1.Pod) { d := ago(0); p.DeletionTimestamp = &d }))
	c.add(pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }))
	got := c.census()
	if got.Total != 1001 || got.Deleting != 1 || len(got.Groups) != maxGroups || got.Hidden != 300 {
		t.Errorf("total %d, deleting %d, groups %d, hidden %d", got.Total, got.Deleting, len(got.Groups), got.Hidden)
	}
	all := got.Sum(Ignored)
	if all.Count != 700 || all.Oldest != 999*time.Second || all.Example != "a/p-999" || all.Past5m != 499 {
		t.Errorf("%+v", all)
	}
}

func TestTheDeploymentOfAPendingPod(t *testing.T) {
	for _, c := range []struct{ name, kind, owner, hash, want string }{
		{"its ReplicaSet is named after it and the template's hash", "ReplicaSet", "web-5d4f8b", "5d4f8b", "a/web"},
		{"a ReplicaSet that somebody made by hand", "ReplicaSet", "web-5d4f8b", "", ""},
		{"a hash that is not in the name", "ReplicaSet", "web", "5d4f8b", ""},
		{"a Job", "Job", "web-5d4f8b", "5d4f8b", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pod(func(p *corev1.Pod) {
				p.OwnerReferences = []metav1.OwnerReference{{Kind: c.kind, Name: c.owner}}
				p.Labels = map[string]string{"pod-template-hash": c.hash}
			})
			if got := deployment(p); got != c.want {
				t.Errorf("deployment = %q, want %q", got, c.want)
			}
		})
	}
}
