package fit

import (
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Kind names a kind of objects by its resource, such as "persistentvolumeclaims".
type Kind string

// The kinds of objects that the scheduler looks at.
const (
	Nodes                  Kind = "nodes"
	Pods                   Kind = "pods"
	Namespaces             Kind = "namespaces"
	PersistentVolumeClaims Kind = "persistentvolumeclaims"
	PersistentVolumes      Kind = "persistentvolumes"
	StorageClasses         Kind = "storageclasses"
	CSINodes               Kind = "csinodes"
	CSIDrivers             Kind = "csidrivers"
	CSIStorageCapacities   Kind = "csistoragecapacities"
	VolumeAttachments      Kind = "volumeattachments"
	ResourceClaims         Kind = "resourceclaims"
	ResourceSlices         Kind = "resourceslices"
	DeviceClasses          Kind = "deviceclasses"
	PriorityClasses        Kind = "priorityclasses"
	PodDisruptionBudgets   Kind = "poddisruptionbudgets"
	Services               Kind = "services"
	ReplicaSets            Kind = "replicasets"
	StatefulSets           Kind = "statefulsets"
	ReplicationControllers Kind = "replicationcontrollers"
)

// A Cluster is what the scheduler sees of a cluster at one moment. A [Model] keeps
// the objects and expects them never to change.
type Cluster struct {
	Nodes []*v1.Node
	// Pods are all pods; those that ended are ignored.
	Pods                   []*v1.Pod
	Namespaces             []*v1.Namespace
	PersistentVolumeClaims []*v1.PersistentVolumeClaim
	PersistentVolumes      []*v1.PersistentVolume
	StorageClasses         []*storagev1.StorageClass
	CSINodes               []*storagev1.CSINode
	CSIDrivers             []*storagev1.CSIDriver
	CSIStorageCapacities   []*storagev1.CSIStorageCapacity
	VolumeAttachments      []*storagev1.VolumeAttachment
	ResourceClaims         []*resourcev1.ResourceClaim
	ResourceSlices         []*resourcev1.ResourceSlice
	DeviceClasses          []*resourcev1.DeviceClass
	PriorityClasses        []*schedulingv1.PriorityClass
	PodDisruptionBudgets   []*policyv1.PodDisruptionBudget
	// Services, ReplicaSets, StatefulSets and ReplicationControllers matter for
	// default spread constraints alone.
	Services               []*v1.Service
	ReplicaSets            []*appsv1.ReplicaSet
	StatefulSets           []*appsv1.StatefulSet
	ReplicationControllers []*v1.ReplicationController

	// Unread holds the kinds that could not be read, and why: "forbidden". A kind
	// that stands here must not have any objects above.
	Unread map[Kind]string
	// Profiles are what is known of the scheduler's configuration, by the name of
	// the profile, which is the schedulerName of pods. Without one for a pod's
	// scheduler the default profile is taken.
	Profiles map[string]Profile
}

// A Profile is what a scheduler's configuration changes of its filters.
type Profile struct {
	// AddedAffinity is what NodeAffinityArgs require of every node.
	AddedAffinity *v1.NodeSelector
	// DefaultSpread are the spread constraints of pods that have none of their
	// own. Those of the scheduler's own defaults never filter.
	DefaultSpread []v1.TopologySpreadConstraint
	// Disabled holds the plugins whose filter is off.
	Disabled map[string]bool
	// IgnoredResources and IgnoredResourceGroups hold extended resources, and
	// prefixes of them, that NodeResourcesFit leaves alone.
	IgnoredResources, IgnoredResourceGroups map[string]bool
	// Unmodelled names filters and extenders that this package knows nothing of.
	Unmodelled []string
}

// The plugins of the default profile that filter, in the order they are asked.
const (
	SchedulingGates      = "SchedulingGates"
	NodeName             = "NodeName"
	NodeUnschedulable    = "NodeUnschedulable"
	TaintToleration      = "TaintToleration"
	NodeAffinity         = "NodeAffinity"
	NodePorts            = "NodePorts"
	NodeResourcesFit     = "NodeResourcesFit"
	VolumeRestrictions   = "VolumeRestrictions"
	NodeVolumeLimits     = "NodeVolumeLimits"
	VolumeBinding        = "VolumeBinding"
	VolumeZone           = "VolumeZone"
	PodTopologySpread    = "PodTopologySpread"
	InterPodAffinity     = "InterPodAffinity"
	DynamicResources     = "DynamicResources"
	NodeDeclaredFeatures = "NodeDeclaredFeatures"
)
