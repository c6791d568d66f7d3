package pending

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/ktriage/ktriage/internal/fit"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A World is a random cluster, and pods to be judged against it one by one.
type World struct {
	fit.Cluster
	Probes []*v1.Pod

	r      *rand.Rand
	prefix string
	n      int
	behind bool
}

// Shape says how large a world is.
type Shape struct {
	Nodes, Pods, Probes int
	// Behind tells that an API server takes the world in, by which UIDs become others
	// and in which no pod may look nominated that a scheduler would take up.
	Behind bool
}

// NewWorld makes the world of a seed. Names begin with prefix, so that several
// worlds can follow each other on one API server.
func NewWorld(seed uint64, prefix string, s Shape) *World {
	w := &World{r: rand.New(rand.NewPCG(seed, 0x6b74)), prefix: prefix, behind: s.Behind}
	w.Profiles = Profiles()
	w.basics()
	w.owners()
	for i := range 1 + w.r.IntN(s.Nodes) {
		w.node(i)
	}
	w.storage()
	w.devices()
	for i := range w.r.IntN(s.Pods + 1) {
		w.running(i)
	}
	w.attachments()
	if !s.Behind {
		for i := range w.r.IntN(4) {
			w.nominated(i)
		}
	}
	for i := range s.Probes {
		w.probe(i)
	}
	return w
}

func (w *World) chance(percent int) bool { return w.r.IntN(100) < percent }

func pick[T any](w *World, of ...T) T { return of[w.r.IntN(len(of))] }

func (w *World) name(s string, i int) string { return fmt.Sprintf("%s%s-%d", w.prefix, s, i) }

func (w *World) uid() types.UID {
	w.n++
	return types.UID(fmt.Sprintf("%suid-%d", w.prefix, w.n))
}

// Priorities are the priority classes of all worlds. Each has another whose pods
// may not preempt.
var Priorities = map[string]int32{"probe-low": -10, "probe-none": 0, "probe-mid": 100, "probe-high": 1000}

// peaceful is the ending of the names of classes whose pods may not preempt.
const peaceful = "-peaceful"

// Peaceful is the pod as one that may not preempt.
func Peaceful(p *v1.Pod) *v1.Pod {
	p = p.DeepCopy()
	never := v1.PreemptNever
	p.Spec.PreemptionPolicy = &never
	p.Spec.PriorityClassName = strings.TrimSuffix(p.Spec.PriorityClassName, peaceful) + peaceful
	return p
}

func (w *World) basics() {
	for i := range 3 {
		ns := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.name("ns", i), Labels: map[string]string{"team": pick(w, "a", "b"), "kubernetes.io/metadata.name": w.name("ns", i)}}}
		w.Namespaces = append(w.Namespaces, ns)
		if w.chance(60) {
			n := intstr.FromInt32(int32(w.r.IntN(3)))
			w.PodDisruptionBudgets = append(w.PodDisruptionBudgets, &policyv1.PodDisruptionBudget{
				ObjectMeta: metav1.ObjectMeta{Name: "budget", Namespace: ns.Name},
				Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &n, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": w.app()}}},
				Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(w.r.IntN(3))}})
		}
	}
	for name, value := range Priorities {
		never := v1.PreemptNever
		w.PriorityClasses = append(w.PriorityClasses, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value},
			&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name + peaceful}, Value: value, PreemptionPolicy: &never})
	}
}

func (w *World) namespace() string { return w.Namespaces[w.r.IntN(len(w.Namespaces))].Name }
func (w *World) app() string       { return pick(w, "a", "b", "c", "d") }

func (w *World) taint() v1.Taint {
	return v1.Taint{Key: pick(w, "dedicated", "example.com/gpu", "node.kubernetes.io/disk-pressure"), Value: pick(w, "", "x", "y"),
		Effect: pick(w, v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute, v1.TaintEffectPreferNoSchedule)}
}

func (w *World) node(i int) {
	name := w.name("node", i)
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: w.uid(), Labels: map[string]string{"world": w.prefix + "w"}}}
	if !w.chance(5) {
		n.Labels[v1.LabelHostname] = name
	}
	if w.chance(85) {
		n.Labels[v1.LabelTopologyZone] = pick(w, "z1", "z2", "z3")
		n.Labels[v1.LabelTopologyRegion] = "r1"
	}
	if w.chance(50) {
		n.Labels["disk"] = pick(w, "ssd", "hdd")
	}
	if w.chance(40) {
		n.Labels["size"] = fmt.Sprint(w.r.IntN(10))
	}
	if w.chance(30) {
		n.Labels["rack"] = pick(w, "1", "2")
	}
	n.Spec.Unschedulable = w.chance(8)
	for w.chance(15) {
		t := w.taint()
		n.Spec.Taints = append(n.Spec.Taints, t)
		if len(n.Spec.Taints) == 2 && n.Spec.Taints[0].Key == n.Spec.Taints[1].Key && n.Spec.Taints[0].Effect == n.Spec.Taints[1].Effect {
			n.Spec.Taints = n.Spec.Taints[:1]
		}
		if len(n.Spec.Taints) == 2 {
			break
		}
	}
	a := v1.ResourceList{v1.ResourceCPU: resource.MustParse(pick(w, "1", "2", "4", "3920m")), v1.ResourceMemory: resource.MustParse(pick(w, "1Gi", "4Gi", "7800Mi")),
		v1.ResourcePods: resource.MustParse(pick(w, "3", "10", "110")), v1.ResourceEphemeralStorage: resource.MustParse(pick(w, "5Gi", "20Gi"))}
	if w.chance(30) {
		a["example.com/gpu"] = resource.MustParse(pick(w, "0", "1", "4"))
	}
	if w.chance(20) {
		a["hugepages-2Mi"] = resource.MustParse(pick(w, "0", "100Mi"))
	}
	n.Status.Allocatable, n.Status.Capacity = a, a
	if w.chance(20) {
		n.Status.DeclaredFeatures = []string{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"}
	}
	w.Nodes = append(w.Nodes, n)
}

func (w *World) someNode() *v1.Node { return w.Nodes[w.r.IntN(len(w.Nodes))] }

func quantity(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }

var oneConsumer = storagev1.VolumeBindingWaitForFirstConsumer
var immediate = storagev1.VolumeBindingImmediate

// Drivers of volumes: one that counts, one that keeps account of its space, and
// one that wants pods only where it is installed.
const (
	countingDriver = "count.csi.example"
	spaceDriver    = "space.csi.example"
	strictDriver   = "strict.csi.example"
)

func (w *World) storage() {
	yes := true
	for _, d := range []string{countingDriver, spaceDriver, strictDriver} {
		x := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: w.prefix + d}}
		if d == spaceDriver {
			x.Spec.StorageCapacity = &yes
		}
		if d == strictDriver {
			x.Spec.PreventPodSchedulingIfMissing = &yes
		}
		w.CSIDrivers = append(w.CSIDrivers, x)
	}
	class := func(name, provisioner string, mode *storagev1.VolumeBindingMode) *storagev1.StorageClass {
		c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: w.prefix + name}, Provisioner: provisioner, VolumeBindingMode: mode}
		w.StorageClasses = append(w.StorageClasses, c)
		return c
	}
	class("counted", w.prefix+countingDriver, &oneConsumer)
	class("space", w.prefix+spaceDriver, &oneConsumer)
	class("strict", w.prefix+strictDriver, &oneConsumer)
	class("now", w.prefix+countingDriver, &immediate)
	class("local", "kubernetes.io/no-provisioner", &oneConsumer)
	class("zoned", w.prefix+countingDriver, &oneConsumer).AllowedTopologies = []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: v1.LabelTopologyZone, Values: []string{"z1", "z2"}}}}}
	for _, n := range w.Nodes {
		if w.chance(25) {
			continue
		}
		x := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
		if w.chance(20) {
			x.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"}
		}
		for _, d := range []string{countingDriver, spaceDriver, strictDriver} {
			if w.chance(60) {
				driver := storagev1.CSINodeDriver{Name: w.prefix + d, NodeID: n.Name}
				if w.chance(60) {
					count := int32(w.r.IntN(4))
					driver.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
				}
				x.Spec.Drivers = append(x.Spec.Drivers, driver)
			}
		}
		w.CSINodes = append(w.CSINodes, x)
	}
	for i := range w.r.IntN(4) {
		size, most := quantity(int64(1+w.r.IntN(20))<<30), quantity(int64(1+w.r.IntN(10))<<30)
		x := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Name: w.name("capacity", i), Namespace: w.Namespaces[0].Name}, StorageClassName: w.prefix + "space", Capacity: &size}
		if w.chance(40) {
			x.MaximumVolumeSize = &most
		}
		if w.chance(85) {
			x.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelTopologyZone: pick(w, "z1", "z2", "z3")}}
		}
		w.CSIStorageCapacities = append(w.CSIStorageCapacities, x)
	}
	for i := range w.r.IntN(8) {
		w.freeVolume(i)
	}
}

func (w *World) at(n *v1.Node) *v1.VolumeNodeAffinity {
	e := v1.NodeSelectorRequirement{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{n.Name}}
	if w.chance(40) {
		e = v1.NodeSelectorRequirement{Key: pick(w, v1.LabelTopologyZone, v1.LabelTopologyZone, v1.LabelFailureDomainBetaZone), Operator: v1.NodeSelectorOpIn, Values: []string{pick(w, "z1", "z2", "z3")}}
	}
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{e}}}}}
}

func (w *World) volume(name, class string, size int64) *v1.PersistentVolume {
	v := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, UID: w.uid(), Labels: map[string]string{}},
		Spec: v1.PersistentVolumeSpec{Capacity: v1.ResourceList{v1.ResourceStorage: quantity(size)}, StorageClassName: class,
			AccessModes:                   []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain},
		Status: v1.PersistentVolumeStatus{Phase: v1.VolumeAvailable}}
	switch {
	case w.chance(6):
		v.Spec.AWSElasticBlockStore = &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://z1/" + name}
	case w.chance(15):
		v.Spec.GCEPersistentDisk = &v1.GCEPersistentDiskVolumeSource{PDName: name}
	case w.chance(15):
		v.Spec.Local = &v1.LocalVolumeSource{Path: "/x"}
		v.Spec.NodeAffinity = w.at(w.someNode())
	default:
		v.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: w.prefix + pick(w, countingDriver, spaceDriver, strictDriver), VolumeHandle: name}
	}
	if v.Spec.NodeAffinity == nil && w.chance(40) {
		v.Spec.NodeAffinity = w.at(w.someNode())
	}
	if w.chance(30) {
		v.Labels[v1.LabelTopologyZone] = pick(w, "z1", "z2", "z1__z3")
	}
	if w.chance(10) {
		v.Labels[v1.LabelFailureDomainBetaZone] = pick(w, "z1", "z2")
	}
	switch {
	case w.chance(12):
		v.Labels[v1.LabelTopologyRegion] = pick(w, "r1", "r2", "r1__r2")
	case w.chance(6):
		v.Labels[v1.LabelFailureDomainBetaRegion] = pick(w, "r1", "r2")
	}
	mode := v1.PersistentVolumeFilesystem
	v.Spec.VolumeMode = &mode
	w.PersistentVolumes = append(w.PersistentVolumes, v)
	return v
}

// freeVolume is one that waits for a claim.
func (w *World) freeVolume(i int) {
	v := w.volume(w.name("free", i), w.prefix+pick(w, "local", "local", "counted"), int64(1+w.r.IntN(10))<<30)
	if v.Spec.NodeAffinity == nil && w.chance(70) {
		v.Spec.NodeAffinity = w.at(w.someNode())
	}
	if w.chance(10) {
		v.Status.Phase = v1.VolumeReleased
		v.Spec.ClaimRef = &v1.ObjectReference{Namespace: w.namespace(), Name: "gone", UID: "gone"}
	}
	if w.chance(20) {
		v.Labels["kind"] = "special"
	}
	if w.chance(15) {
		v.Spec.AccessModes = []v1.PersistentVolumeAccessMode{v1.ReadOnlyMany, v1.ReadWriteOnce}
	}
}

// chosenBefore marks claims for which a node was chosen before any pod was judged.
const chosenBefore = "pending.example/chosen-before"

// claim is one of all states that claims can be in.
func (w *World) claim(ns string) string {
	w.n++
	name := w.name("claim", w.n)
	if w.chance(6) {
		return name // does not exist
	}
	c := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns, UID: w.uid(), Annotations: map[string]string{}},
		Spec: v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: quantity(int64(1+w.r.IntN(8)) << 30)}}},
		Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending}}
	mode := v1.PersistentVolumeFilesystem
	c.Spec.VolumeMode = &mode
	class := w.prefix + pick(w, "counted", "counted", "space", "space", "strict", "local", "local", "zoned", "now", "missing")
	c.Spec.StorageClassName = &class
	w.PersistentVolumeClaims = append(w.PersistentVolumeClaims, c)
	switch {
	case w.chance(45): // bound
		if w.chance(15) {
			c.Spec.AccessModes = []v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}
		}
		v := w.volume(w.name("pv", w.n), class, 10<<30)
		v.Spec.AccessModes = c.Spec.AccessModes
		v.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: ns, Name: name, UID: c.UID}
		v.Status.Phase = v1.VolumeBound
		c.Spec.VolumeName = v.Name
		c.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
		c.Status.Phase = v1.ClaimBound
		if w.chance(5) {
			w.PersistentVolumes = w.PersistentVolumes[:len(w.PersistentVolumes)-1] // the volume is gone
			if w.chance(50) {
				c.Status.Phase = v1.ClaimLost
			}
		}
	case w.chance(10): // promised, not bound
		c.Spec.VolumeName = w.name("promised", w.n)
	case w.chance(10):
		c.Annotations["volume.kubernetes.io/selected-node"] = w.someNode().Name
		c.Annotations[chosenBefore] = "yes"
	case w.chance(10):
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"kind": "special"}}
	case w.chance(10) && len(w.PersistentVolumes) > 0:
		v := w.PersistentVolumes[w.r.IntN(len(w.PersistentVolumes))]
		if v.Spec.ClaimRef == nil { // a volume that waits for this claim
			v.Spec.ClaimRef = &v1.ObjectReference{Namespace: ns, Name: name}
			c.Spec.StorageClassName = &v.Spec.StorageClassName
		}
	}
	return name
}

// Names of what has to do with devices.
const gpuDriver = "gpu.example"

func (w *World) devices() {
	if w.chance(50) {
		return
	}
	driver := w.prefix + gpuDriver
	resourceName := w.prefix + "example.com/dra"
	w.DeviceClasses = append(w.DeviceClasses,
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: w.prefix + "gpu"}, Spec: resourcev1.DeviceClassSpec{
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", driver)}}}, ExtendedResourceName: &resourceName}},
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: w.prefix + "big-gpu"}, Spec: resourcev1.DeviceClassSpec{
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q && device.attributes[%q].size == 'big'", driver, driver)}}}}})
	for i, n := range w.Nodes {
		if w.chance(50) {
			continue
		}
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: w.name("slice", i)}, Spec: resourcev1.ResourceSliceSpec{
			Driver: driver, NodeName: &n.Name, Pool: resourcev1.ResourcePool{Name: n.Name, Generation: 1, ResourceSliceCount: 1}}}
		for j := range 1 + w.r.IntN(3) {
			size := pick(w, "big", "small")
			s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", j),
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"size": {StringValue: &size}}})
			if w.chance(10) {
				s.Spec.Devices[j].Taints = []resourcev1.DeviceTaint{{Key: "broken", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
			}
		}
		w.ResourceSlices = append(w.ResourceSlices, s)
		if w.chance(40) { // one is taken
			w.n++
			w.ResourceClaims = append(w.ResourceClaims, &resourcev1.ResourceClaim{
				ObjectMeta: metav1.ObjectMeta{Name: w.name("taken", w.n), Namespace: w.Namespaces[0].Name, UID: w.uid(), Finalizers: []string{resourcev1.Finalizer}},
				Spec:       w.request(w.prefix+"gpu", 1), Status: resourcev1.ResourceClaimStatus{Allocation: w.allocation(driver, n.Name)}})
		}
	}
}

func (w *World) request(class string, count int64) resourcev1.ResourceClaimSpec {
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r",
		Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}}}}}
}

func (w *World) allocation(driver, node string) *resourcev1.AllocationResult {
	return &resourcev1.AllocationResult{AllocationTimestamp: &metav1.Time{Time: time.Unix(1.8e9, 0)},
		Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: driver, Pool: node, Device: "gpu-0"}}},
		NodeSelector: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{node}}}}}}}
}

// resourceClaim is one of all states that resource claims can be in.
func (w *World) resourceClaim(ns string) string {
	w.n++
	name := w.name("device", w.n)
	if w.chance(8) {
		return name // does not exist
	}
	class := w.prefix + pick(w, "gpu", "gpu", "big-gpu", "missing")
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns, UID: w.uid()}, Spec: w.request(class, int64(1+w.r.IntN(2)))}
	if w.chance(20) {
		c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", FirstAvailable: []resourcev1.DeviceSubRequest{
			{Name: "two", DeviceClassName: w.prefix + "big-gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 2},
			{Name: "one", DeviceClassName: w.prefix + "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}}}
	}
	if w.chance(20) && len(w.ResourceSlices) > 0 {
		s := w.ResourceSlices[w.r.IntN(len(w.ResourceSlices))]
		c.Spec = w.request(w.prefix+"gpu", 1)
		c.Status.Allocation = w.allocation(s.Spec.Driver, *s.Spec.NodeName)
		c.Finalizers = []string{resourcev1.Finalizer}
	}
	w.ResourceClaims = append(w.ResourceClaims, c)
	return name
}
