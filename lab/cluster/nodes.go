package cluster

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// createNodes registers the nodes, as their kubelets would.
func (o Options) createNodes(ctx context.Context, client kubernetes.Interface) error {
	var nodes []*corev1.Node
	for i := range o.ControlPlanes {
		node := newNode(o.NodeName(i), o.NodeIP(i), "4", "8Gi", o.Versions().Kubernetes)
		node.Labels[controlPlaneLabel] = ""
		node.Labels["node.kubernetes.io/exclude-from-external-load-balancers"] = ""
		node.Spec.Taints = []corev1.Taint{{Key: controlPlaneLabel, Effect: corev1.TaintEffectNoSchedule}}
		nodes = append(nodes, node)
	}
	for i := range o.Workers {
		nodes = append(nodes, newNode(o.WorkerName(i), o.WorkerIP(i), WorkerCPU, "32Gi", o.Versions().Kubernetes))
	}
	var (
		wg   sync.WaitGroup
		errs = make(chan error, len(nodes))
		slot = make(chan struct{}, 8)
	)
	for _, node := range nodes {
		wg.Go(func() {
			slot <- struct{}{}
			defer func() { <-slot }()
			if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); ignoreExists(err) != nil {
				errs <- fmt.Errorf("create node %s: %w", node.Name, err)
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

// WorkerCPU is what each worker has: a pod that asks for more fits nowhere.
const WorkerCPU = "8"

func newNode(name, ip, cpu, memory, version string) *corev1.Node {
	size := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse(cpu),
		corev1.ResourceMemory:           resource.MustParse(memory),
		corev1.ResourcePods:             resource.MustParse("110"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname:   name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: "amd64",
			},
		},
		Status: corev1.NodeStatus{
			Capacity:    size,
			Allocatable: size,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: ip},
				{Type: corev1.NodeHostName, Address: name},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: kubeletPort}},
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion:          version,
				KubeProxyVersion:        version,
				ContainerRuntimeVersion: "containerd://2.1.4",
				KernelVersion:           "6.12.0",
				OSImage:                 "Debian GNU/Linux 13 (trixie)",
				OperatingSystem:         "linux",
				Architecture:            "amd64",
			},
		},
	}
}
