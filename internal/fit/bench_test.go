package fit

import (
	"fmt"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// large is a cluster of 5,000 nodes with 50,000 pods, and 10,000 Pending pods of
// 1,000 workloads, all of which have constraints of several kinds.
func large() (Cluster, []*v1.Pod) {
	var c Cluster
	for i := range 5000 {
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i), Labels: map[string]string{
			v1.LabelHostname: fmt.Sprintf("node-%d", i), v1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3), "pool": fmt.Sprintf("pool-%d", i%20)}},
			Status: v1.NodeStatus{Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("16"), v1.ResourceMemory: resource.MustParse("64Gi"), v1.ResourcePods: resource.MustParse("110")}}}
		if i%10 == 0 {
			n.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: fmt.Sprint(i % 4), Effect: v1.TaintEffectNoSchedule}}
		}
		c.Nodes = append(c.Nodes, n)
	}
	pod := func(name string, app int) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: fmt.Sprintf("ns-%d", app%100), UID: types.UID(name), Labels: map[string]string{"app": fmt.Sprintf("app-%d", app)}},
			Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1500m"), v1.ResourceMemory: resource.MustParse("2Gi")}}}}}}
	}
	apart := func(app int, key string) *v1.Affinity {
		return &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: key,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("app-%d", app)}}}}}}
	}
	for i := range 50000 {
		p := pod(fmt.Sprintf("run-%d", i), i%2000)
		p.Spec.NodeName = fmt.Sprintf("node-%d", i%5000)
		if i%10 == 0 {
			p.Spec.Affinity = apart(i%2000, v1.LabelHostname)
		}
		c.Pods = append(c.Pods, p)
	}
	var pending []*v1.Pod
	for i := range 10000 {
		app := i % 1000
		p := pod(fmt.Sprintf("pending-%d", i), app)
		p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse(fmt.Sprintf("%dm", 1000+5*app))
		switch app % 4 {
		case 0:
			p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}}
		case 1:
			p.Spec.Affinity = apart(app, v1.LabelTopologyZone)
		case 2:
			p.Spec.NodeSelector = map[string]string{"pool": fmt.Sprintf("pool-%d", app%25)}
		}
		pending = append(pending, p)
		c.Pods = append(c.Pods, p)
	}
	return c, pending
}

// BenchmarkPending judges 10,000 Pending pods against 5,000 nodes, on two cores.
func BenchmarkPending(b *testing.B) {
	c, pending := large()
	b.ReportAllocs()
	for b.Loop() {
		m := New(c)
		var wg sync.WaitGroup
		states := make([]map[State]int, 2)
		for half := range 2 {
			states[half] = map[State]int{}
			wg.Go(func() {
				for i := half; i < len(pending); i += 2 {
					states[half][m.Judge(pending[i]).State]++
				}
			})
		}
		wg.Wait()
		if states[0][Unschedulable] == 0 || states[0][Fits] == 0 {
			b.Fatal(states)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N), "s/run")
}

// BenchmarkDistinct is the same where no two pods are alike.
func BenchmarkDistinct(b *testing.B) {
	c, pending := large()
	for i, p := range pending {
		p.Labels["own"] = fmt.Sprint(i)
	}
	pending = pending[:1000]
	for b.Loop() {
		m := New(c)
		for _, p := range pending {
			m.Judge(p)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/float64(len(pending)), "ms/pod")
}

// BenchmarkChanges proposes changes for one pod of a large cluster.
func BenchmarkChanges(b *testing.B) {
	c, pending := large()
	m := New(c)
	p := pending[2].DeepCopy()
	p.Spec.NodeSelector = map[string]string{"pool": "none"}
	p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse("15")
	for b.Loop() {
		if len(m.Changes(p)) == 0 {
			b.Fatal("none")
		}
	}
}
