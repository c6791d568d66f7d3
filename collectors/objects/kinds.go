package objects

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An Object is a Kubernetes object of one of the kinds of this package:
// *corev1.Pod and the like.
type Object = metav1.Object

// A Kind is a type of object that ktriage reads.
type Kind struct {
	APIVersion string // "v1", "apps/v1"
	Name       string // "Pod"
	Resource   string // "pods"
	New        func() Object
	// list decodes a protobuf list: its items and its continue token. It is nil
	// for kinds that are read as JSON only.
	list func([]byte) ([]Object, string, error)
	// bare kinds are asked for without anything but their metadata.
	bare bool
}

// Path is the path of the kind's list over all namespaces.
func (k Kind) Path() string {
	if !strings.Contains(k.APIVersion, "/") {
		return "/api/" + k.APIVersion + "/" + k.Resource
	}
	return "/apis/" + k.APIVersion + "/" + k.Resource
}

// kinds lists every kind that can be read. A Secret is not among them.
var kinds = []Kind{
	kind[corev1.Pod, corev1.PodList]("v1", "Pod", "pods", func(l *corev1.PodList) []corev1.Pod { return l.Items }),
	kind[corev1.Node, corev1.NodeList]("v1", "Node", "nodes", func(l *corev1.NodeList) []corev1.Node { return l.Items }),
	kind[corev1.Namespace, corev1.NamespaceList]("v1", "Namespace", "namespaces", func(l *corev1.NamespaceList) []corev1.Namespace { return l.Items }),
	kind[corev1.Service, corev1.ServiceList]("v1", "Service", "services", func(l *corev1.ServiceList) []corev1.Service { return l.Items }),
	kind[corev1.Event, corev1.EventList]("v1", "Event", "events", func(l *corev1.EventList) []corev1.Event { return l.Items }),
	kind[corev1.ResourceQuota, corev1.ResourceQuotaList]("v1", "ResourceQuota", "resourcequotas", func(l *corev1.ResourceQuotaList) []corev1.ResourceQuota { return l.Items }),
	kind[corev1.PersistentVolumeClaim, corev1.PersistentVolumeClaimList]("v1", "PersistentVolumeClaim", "persistentvolumeclaims", func(l *corev1.PersistentVolumeClaimList) []corev1.PersistentVolumeClaim { return l.Items }),
	kind[corev1.PersistentVolume, corev1.PersistentVolumeList]("v1", "PersistentVolume", "persistentvolumes", func(l *corev1.PersistentVolumeList) []corev1.PersistentVolume { return l.Items }),
	kind[appsv1.Deployment, appsv1.DeploymentList]("apps/v1", "Deployment", "deployments", func(l *appsv1.DeploymentList) []appsv1.Deployment { return l.Items }),
	kind[appsv1.ReplicaSet, appsv1.ReplicaSetList]("apps/v1", "ReplicaSet", "replicasets", func(l *appsv1.ReplicaSetList) []appsv1.ReplicaSet { return l.Items }),
	kind[appsv1.StatefulSet, appsv1.StatefulSetList]("apps/v1", "StatefulSet", "statefulsets", func(l *appsv1.StatefulSetList) []appsv1.StatefulSet { return l.Items }),
	kind[appsv1.DaemonSet, appsv1.DaemonSetList]("apps/v1", "DaemonSet", "daemonsets", func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items }),
	kind[batchv1.Job, batchv1.JobList]("batch/v1", "Job", "jobs", func(l *batchv1.JobList) []batchv1.Job { return l.Items }),
	kind[batchv1.CronJob, batchv1.CronJobList]("batch/v1", "CronJob", "cronjobs", func(l *batchv1.CronJobList) []batchv1.CronJob { return l.Items }),
	kind[autoscalingv2.HorizontalPodAutoscaler, autoscalingv2.HorizontalPodAutoscalerList]("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", func(l *autoscalingv2.HorizontalPodAutoscalerList) []autoscalingv2.HorizontalPodAutoscaler {
		return l.Items
	}),
	kind[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList]("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", func(l *policyv1.PodDisruptionBudgetList) []policyv1.PodDisruptionBudget { return l.Items }),
	kind[coordinationv1.Lease, coordinationv1.LeaseList]("coordination.k8s.io/v1", "Lease", "leases", func(l *coordinationv1.LeaseList) []coordinationv1.Lease { return l.Items }),
	kind[discoveryv1.EndpointSlice, discoveryv1.EndpointSliceList]("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", func(l *discoveryv1.EndpointSliceList) []discoveryv1.EndpointSlice { return l.Items }),
	kind[admissionv1.ValidatingWebhookConfiguration, admissionv1.ValidatingWebhookConfigurationList]("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", func(l *admissionv1.ValidatingWebhookConfigurationList) []admissionv1.ValidatingWebhookConfiguration {
		return l.Items
	}),
	kind[admissionv1.MutatingWebhookConfiguration, admissionv1.MutatingWebhookConfigurationList]("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", func(l *admissionv1.MutatingWebhookConfigurationList) []admissionv1.MutatingWebhookConfiguration {
		return l.Items
	}),
	kind[flowcontrolv1.FlowSchema, flowcontrolv1.FlowSchemaList]("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas", func(l *flowcontrolv1.FlowSchemaList) []flowcontrolv1.FlowSchema { return l.Items }),
	kind[flowcontrolv1.PriorityLevelConfiguration, flowcontrolv1.PriorityLevelConfigurationList]("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", func(l *flowcontrolv1.PriorityLevelConfigurationList) []flowcontrolv1.PriorityLevelConfiguration {
		return l.Items
	}),
	kind[certificatesv1.CertificateSigningRequest, certificatesv1.CertificateSigningRequestList]("certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests", func(l *certificatesv1.CertificateSigningRequestList) []certificatesv1.CertificateSigningRequest {
		return l.Items
	}),
	kind[storagev1.StorageClass, storagev1.StorageClassList]("storage.k8s.io/v1", "StorageClass", "storageclasses", func(l *storagev1.StorageClassList) []storagev1.StorageClass { return l.Items }),
	kind[storagev1.CSINode, storagev1.CSINodeList]("storage.k8s.io/v1", "CSINode", "csinodes", func(l *storagev1.CSINodeList) []storagev1.CSINode { return l.Items }),
	kind[storagev1.VolumeAttachment, storagev1.VolumeAttachmentList]("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", func(l *storagev1.VolumeAttachmentList) []storagev1.VolumeAttachment { return l.Items }),
	kind[storagev1.CSIDriver, storagev1.CSIDriverList]("storage.k8s.io/v1", "CSIDriver", "csidrivers", func(l *storagev1.CSIDriverList) []storagev1.CSIDriver { return l.Items }),
	kind[storagev1.CSIStorageCapacity, storagev1.CSIStorageCapacityList]("storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities", func(l *storagev1.CSIStorageCapacityList) []storagev1.CSIStorageCapacity { return l.Items }),
	kind[schedulingv1.PriorityClass, schedulingv1.PriorityClassList]("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", func(l *schedulingv1.PriorityClassList) []schedulingv1.PriorityClass { return l.Items }),
	kind[resourcev1.ResourceClaim, resourcev1.ResourceClaimList]("resource.k8s.io/v1", "ResourceClaim", "resourceclaims", func(l *resourcev1.ResourceClaimList) []resourcev1.ResourceClaim { return l.Items }),
	kind[resourcev1.ResourceSlice, resourcev1.ResourceSliceList]("resource.k8s.io/v1", "ResourceSlice", "resourceslices", func(l *resourcev1.ResourceSliceList) []resourcev1.ResourceSlice { return l.Items }),
	kind[resourcev1.DeviceClass, resourcev1.DeviceClassList]("resource.k8s.io/v1", "DeviceClass", "deviceclasses", func(l *resourcev1.DeviceClassList) []resourcev1.DeviceClass { return l.Items }),
	bareKind("v1", "ConfigMap", "configmaps"),
	bareKind("v1", "ServiceAccount", "serviceaccounts"),
	jsonKind[CustomResourceDefinition]("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions"),
	jsonKind[ValidatingAdmissionPolicy]("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
	jsonKind[APIService]("apiregistration.k8s.io/v1", "APIService", "apiservices"),
}

// protoList is a list that the API server can send as protobuf.
type protoList[L any] interface {
	*L
	Unmarshal([]byte) error
	GetContinue() string
}

func kind[I, L any, PL protoList[L], PI interface {
	*I
	Object
}](apiVersion, name, resource string, items func(*L) []I) Kind {
	return Kind{
		APIVersion: apiVersion, Name: name, Resource: resource,
		New: func() Object { return PI(new(I)) },
		list: func(b []byte) ([]Object, string, error) {
			l := PL(new(L))
			if err := l.Unmarshal(b); err != nil {
				return nil, "", err
			}
			xs := items((*L)(l))
			out := make([]Object, len(xs))
			for i := range xs {
				out[i] = PI(&xs[i])
			}
			return out, l.GetContinue(), nil
		},
	}
}

// Of returns the kind of an API version and a kind's name, as "v1" and "Pod".
func Of(apiVersion, name string) (Kind, bool) {
	for _, k := range kinds {
		if k.APIVersion == apiVersion && k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// ForPath returns the kind that a list's API path, with or without namespace
// and query, is of: /api/v1/namespaces/kube-system/pods is of Pod.
func ForPath(path string) (Kind, bool) {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var apiVersion string
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		apiVersion, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		apiVersion, parts = parts[1]+"/"+parts[2], parts[3:]
	default:
		return Kind{}, false
	}
	if len(parts) == 3 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	if len(parts) != 1 {
		return Kind{}, false
	}
	for _, k := range kinds {
		if k.APIVersion == apiVersion && k.Resource == parts[0] {
			return k, true
		}
	}
	return Kind{}, false
}
