package cluster

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// StaticPod is the mirror pod of the component: what a kubelet shows of a
// manifest file.
func (c Component) StaticPod(node types.UID) *corev1.Pod {
	o, command := c.opts, c.Command()
	hash := fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, command)))[:32]
	yes := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:      c.Name(),
			Namespace: metav1.NamespaceSystem,
			Labels:    map[string]string{"component": string(c.Kind), "tier": "control-plane"},
			Annotations: map[string]string{
				"kubernetes.io/config.source": "file",
				corev1.MirrorPodAnnotationKey: hash,
				"kubernetes.io/config.hash":   hash,
				"kubernetes.io/config.seen":   "2026-01-01T00:00:00.000000000Z",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Node", Name: c.NodeName(), UID: node, Controller: &yes,
			}},
		},
		Spec: corev1.PodSpec{
			NodeName:          c.NodeName(),
			HostNetwork:       true,
			PriorityClassName: "system-node-critical",
			RestartPolicy:     corev1.RestartPolicyAlways,
			SecurityContext: &corev1.PodSecurityContext{
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}},
			Containers: []corev1.Container{{
				Name:            string(c.Kind),
				Image:           c.image(),
				ImagePullPolicy: corev1.PullIfNotPresent,
				Command:         command,
				Ports:           []corev1.ContainerPort{{Name: "probe-port", ContainerPort: c.ports()[0], HostPort: c.ports()[0], Protocol: corev1.ProtocolTCP}},
				Resources:       corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: c.cpu()}},
				LivenessProbe:   c.kubeadmProbe(c.livePath(), 8, 10),
				StartupProbe:    c.kubeadmProbe(c.livePath(), 24, 10),
			}},
		},
	}
	if c.Kind != ControllerManager {
		pod.Spec.Containers[0].ReadinessProbe = c.kubeadmProbe("/readyz", 3, 1)
	}
	mount := func(name, path string) {
		kind := corev1.HostPathDirectoryOrCreate
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
			Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}},
		})
		container := &pod.Spec.Containers[0]
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
	}
	switch c.Kind {
	case Etcd:
		mount("etcd-data", o.EtcdData(c.Node))
		mount("etcd-certs", filepath.Join(o.PKI(c.Node), "etcd"))
		pod.Annotations["kubeadm.kubernetes.io/etcd.advertise-client-urls"] = o.EtcdEndpoints()[c.Node]
	case APIServer:
		mount("k8s-certs", o.PKI(c.Node))
		pod.Annotations["kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint"] = fmt.Sprintf("%s:%d", o.NodeIP(c.Node), apiServerPort)
	case ControllerManager:
		mount("k8s-certs", o.PKI(c.Node))
		mount("kubeconfig", filepath.Join(o.etcKubernetes(c.Node), "controller-manager.conf"))
	case Scheduler:
		mount("kubeconfig", filepath.Join(o.etcKubernetes(c.Node), "scheduler.conf"))
	}
	return pod
}

func (c Component) image() string {
	const repository = "registry.k8s.io/"
	if c.Kind == Etcd {
		return repository + "etcd:" + c.etcdVersion()[1:] + "-0"
	}
	return repository + string(c.Kind) + ":" + c.opts.Versions().Kubernetes
}

// cpu is what kubeadm requests for the component.
func (c Component) cpu() resource.Quantity {
	return resource.MustParse(map[Kind]string{Etcd: "100m", APIServer: "250m", ControllerManager: "200m", Scheduler: "100m"}[c.Kind])
}

func (c Component) livePath() string {
	if c.Kind == ControllerManager {
		return "/healthz"
	}
	return "/livez"
}

func (c Component) kubeadmProbe(path string, failures, period int32) *corev1.Probe {
	host, scheme := "127.0.0.1", corev1.URISchemeHTTPS
	switch c.Kind {
	case Etcd:
		scheme = corev1.URISchemeHTTP
	case APIServer:
		host = c.opts.NodeIP(c.Node)
	}
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Host: host, Path: path, Port: intstr.FromString("probe-port"), Scheme: scheme,
		}},
		TimeoutSeconds: 15, FailureThreshold: failures, PeriodSeconds: period, SuccessThreshold: 1,
	}
}
