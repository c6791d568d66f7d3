package cluster

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// WorkloadNamespace is where the example workload lives.
const WorkloadNamespace = "shop"

// createWorkload gives the controllers something to do: what kubeadm installs
// (CoreDNS, kube-proxy) and a small shop.
func (o Options) createWorkload(ctx context.Context, client kubernetes.Interface) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: WorkloadNamespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("create namespace %s: %w", WorkloadNamespace, err)
	}
	for _, ns := range []string{metav1.NamespaceSystem, WorkloadNamespace} {
		if err := DefaultServiceAccount(ctx, client, ns); err != nil {
			return err
		}
	}
	dns := Deployment(metav1.NamespaceSystem, "coredns", 2, "100m")
	dns.Labels["k8s-app"], dns.Spec.Template.Labels["k8s-app"] = "kube-dns", "kube-dns"
	dns.Spec.Template.Spec.PriorityClassName = "system-cluster-critical"
	dns.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: controlPlaneLabel, Effect: corev1.TaintEffectNoSchedule}}
	for _, d := range []*appsv1.Deployment{
		dns,
		Deployment(WorkloadNamespace, "web", 3, "250m"),
		Deployment(WorkloadNamespace, "worker", 2, "500m"),
	} {
		if _, err := client.AppsV1().Deployments(d.Namespace).Create(ctx, d, metav1.CreateOptions{}); ignoreExists(err) != nil {
			return fmt.Errorf("create deployment %s: %w", d.Name, err)
		}
	}
	if _, err := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Create(ctx, kubeProxy(), metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("create daemon set kube-proxy: %w", err)
	}
	for _, s := range []*corev1.Service{
		service(metav1.NamespaceSystem, "kube-dns", map[string]string{"k8s-app": "kube-dns"}, dnsIP, 53),
		service(WorkloadNamespace, "web", map[string]string{"app": "web"}, "", 80),
	} {
		if _, err := client.CoreV1().Services(s.Namespace).Create(ctx, s, metav1.CreateOptions{}); ignoreExists(err) != nil {
			return fmt.Errorf("create service %s: %w", s.Name, err)
		}
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kubeadm-config"}, Data: map[string]string{"ClusterConfiguration": o.clusterConfiguration()}}
	if _, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Create(ctx, config, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("create kubeadm's configuration: %w", err)
	}
	return nil
}

// accountTimeout is generous: a namespace's service account appears as soon as
// a controller manager leads.
const accountTimeout = time.Minute

// DefaultServiceAccount waits for a namespace's service account, without which
// pods are refused there.
func DefaultServiceAccount(ctx context.Context, client kubernetes.Interface, namespace string) error {
	return Until(ctx, accountTimeout, "the default service account of "+namespace, func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// Deployment is one of pods that do nothing and ask for cpu.
func Deployment(namespace, name string, replicas int32, cpu string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: podTemplate(name, cpu),
		},
	}
}

func podTemplate(name, cpu string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name:      name,
			Image:     "registry.k8s.io/pause:3.10",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
	}
}

func kubeProxy() *appsv1.DaemonSet {
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "kube-proxy", Labels: map[string]string{"k8s-app": "kube-proxy"}},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kube-proxy"}},
			Template: podTemplate("kube-proxy", "10m"),
		},
	}
	set.Spec.Template.Labels["k8s-app"] = "kube-proxy"
	set.Spec.Template.Spec.HostNetwork = true
	set.Spec.Template.Spec.PriorityClassName = "system-node-critical"
	set.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return set
}

func service(namespace, name string, selector map[string]string, ip string, port int32) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.ServiceSpec{
			ClusterIP: ip,
			Selector:  selector,
			Ports:     []corev1.ServicePort{{Name: "port", Port: port, TargetPort: intstr.FromInt32(port)}},
		},
	}
}

// clusterConfiguration is what kubeadm leaves in kube-system for its next run.
func (o Options) clusterConfiguration() string {
	return fmt.Sprintf(`apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
clusterName: kubernetes
certificatesDir: /etc/kubernetes/pki
controlPlaneEndpoint: %s
etcd:
  local:
    dataDir: /var/lib/etcd
kubernetesVersion: %s
networking:
  dnsDomain: cluster.local
  podSubnet: %s
  serviceSubnet: %s
`, o.APIServerURL(0)[len("https://"):], o.Versions().Kubernetes, podCIDR, serviceCIDR)
}
