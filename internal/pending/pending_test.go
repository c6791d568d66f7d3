package pending

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ktriage/ktriage/collectors/placement"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/internal/fit"
)

// 900 pods of 630 workloads, which wait for three things, are three groups, however
// much they differ otherwise.
func TestManyPodsAreFewGroups(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var c fit.Cluster
	for i := range 50 {
		c.Nodes = append(c.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i), Labels: map[string]string{corev1.LabelHostname: fmt.Sprintf("node-%d", i)}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("110")}}})
	}
	var ws pods.Waiters
	ws.At = at
	for i := range 900 {
		name := fmt.Sprintf("web-%d-%d", i%90, i)
		w := pods.Waiter{Namespace: fmt.Sprintf("ns-%d", i%7), Name: name, UID: name, Owner: pods.Owner{Kind: "Deployment", Name: fmt.Sprintf("web-%d", i%90)},
			Scheduler: corev1.DefaultSchedulerName, Cause: pods.Unschedulable, Since: at.Add(-time.Duration(i) * time.Second)}
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name, UID: types.UID(name), Labels: map[string]string{"app": w.Owner.Name}},
			Spec: corev1.PodSpec{SchedulerName: w.Scheduler, Containers: []corev1.Container{{Name: "c"}}}}
		switch i % 3 {
		case 0: // each asks for another amount of what no node has
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(int64(5000+i), resource.DecimalSI)}
		case 1:
			p.Spec.NodeSelector = map[string]string{"disk": "nvme"}
		default:
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
			w.Cause, w.Key, w.Gates = pods.Gated, "example.com/quota", []string{"example.com/quota"}
		}
		ws.Pods, c.Pods = append(ws.Pods, w), append(c.Pods, p)
	}
	got := Groups(Input{Waiters: ws, World: &placement.World{Cluster: c, At: at}})
	if len(got) != 3 {
		for _, g := range got {
			t.Logf("%d %s: %s", g.Pods, g.Turn, g.Cause)
		}
		t.Fatalf("%d groups, want 3", len(got))
	}
	for _, g := range got {
		if g.Pods != 300 || len(g.Workloads) != maxWorkloads || g.More != 210-maxWorkloads {
			t.Errorf("%d pods of %d and %d more workloads wait for: %s", g.Pods, len(g.Workloads), g.More, g.Cause)
		}
		if g.Turn == Unschedulable && (len(g.Changes) == 0 || g.Unproved) {
			t.Errorf("no proved change for: %s", g.Cause)
		}
	}
}
