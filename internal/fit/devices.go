package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/klog/v2"
)

// devices are those of the cluster, the classes of them, and what is allocated.
type devices struct {
	slices  []*resourcev1.ResourceSlice
	classes []*resourcev1.DeviceClass
	claims  []*resourcev1.ResourceClaim
	byName  map[string]*resourcev1.DeviceClass
	// standFor are the classes whose devices stand for an extended resource.
	standFor map[v1.ResourceName]*resourcev1.DeviceClass

	once  sync.Once
	cache *cel.Cache
	state structured.AllocatedState
}

// deviceFeatures are those that Kubernetes 1.37 has on by default.
var deviceFeatures = structured.Features{AdminAccess: true, PrioritizedList: true, PartitionableDevices: true, DeviceTaints: true,
	DeviceBindingAndStatus: true, ConsumableCapacity: true, FractionalCapacityRange: true}

func newDevices(c *Cluster) *devices {
	d := &devices{slices: c.ResourceSlices, classes: c.DeviceClasses, claims: c.ResourceClaims,
		byName: map[string]*resourcev1.DeviceClass{}, standFor: map[v1.ResourceName]*resourcev1.DeviceClass{}}
	for _, x := range c.DeviceClasses {
		d.byName[x.Name] = x
		d.standFor[v1.ResourceName(resourcev1.ResourceDeviceClassPrefix+x.Name)] = x
		if n := x.Spec.ExtendedResourceName; n != nil {
			// Of several classes for one resource the newest counts, or else the first by name.
			old := d.standFor[v1.ResourceName(*n)]
			if old == nil || old.CreationTimestamp.Before(&x.CreationTimestamp) || old.CreationTimestamp.Equal(&x.CreationTimestamp) && x.Name < old.Name {
				d.standFor[v1.ResourceName(*n)] = x
			}
		}
	}
	return d
}

// List and Get make devices the lister of classes that the allocator wants.
func (d *devices) List() ([]*resourcev1.DeviceClass, error) { return d.classes, nil }

func (d *devices) Get(name string) (*resourcev1.DeviceClass, error) {
	if c := d.byName[name]; c != nil {
		return c, nil
	}
	return nil, apierrors.NewNotFound(resourcev1.Resource("deviceclass"), name)
}

func (d *devices) prepare() {
	d.once.Do(func() {
		d.cache = cel.NewCache(64, cel.Features{EnableConsumableCapacity: true})
		d.state = structured.AllocatedState{AllocatedDevices: sets.New[structured.DeviceID](),
			AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](), AggregatedCapacity: structured.NewConsumedCapacityCollection()}
		for _, c := range d.claims {
			if c.Status.Allocation == nil {
				continue
			}
			for i := range c.Status.Allocation.Devices.Results {
				x := &c.Status.Allocation.Devices.Results[i]
				if x.AdminAccess != nil && *x.AdminAccess {
					continue
				}
				id := structured.MakeDeviceID(x.Driver, x.Pool, x.Device)
				if x.ShareID == nil {
					d.state.AllocatedDevices.Insert(id)
					continue
				}
				d.state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, x.ShareID))
				if x.ConsumedCapacity != nil {
					d.state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, x.ConsumedCapacity))
				}
			}
		}
	})
}

// podClaims are the resource claims of the pod.
type podClaims struct {
	allocated []allocatedClaim
	toBe      []*resourcev1.ResourceClaim
	// special is the claim that stands for extended resources, made for each node.
	special   *resourcev1.ResourceClaim
	allocator structured.Allocator
}

type allocatedClaim struct {
	claim    *resourcev1.ResourceClaim
	selector *nodeaffinity.NodeSelector
	failed   string
}

func (c *cycle) deviceClass(name v1.ResourceName) *resourcev1.DeviceClass {
	if c.off[pDynamicResources] && c.profile.Disabled[DynamicResources] {
		return nil
	}
	return c.m.devices.standFor[name]
}

// resourceClaims looks up the claims of the pod.
func (c *cycle) resourceClaims() {
	if c.off[pDynamicResources] {
		return
	}
	standIn := false
	for _, name := range c.scalars {
		if c.requests.scalar[name] == 0 || !deviceResource(name) {
			continue
		}
		if c.needs(pDynamicResources, DeviceClasses) && c.m.devices.standFor[name] != nil {
			standIn = true
		}
	}
	if len(c.pod.Spec.ResourceClaims) == 0 && !standIn {
		c.off[pDynamicResources] = true
		return
	}
	if !c.needs(pDynamicResources, ResourceClaims) {
		c.off[pDynamicResources] = true
		return
	}
	block := func(reason, detail string, claim *Ref) {
		c.block(pDynamicResources, Failure{Reason: reason, Detail: detail, Claim: claim})
	}
	hold := func(reason, detail string, claim *Ref) {
		c.held = true
		block(reason, detail, claim)
	}
	for i := range c.pod.Spec.ResourceClaims {
		pc := &c.pod.Spec.ResourceClaims[i]
		name, own, err := resourceclaim.Name(c.pod, pc)
		switch {
		case err != nil:
			hold(err.Error(), fmt.Sprintf("the resource claim %s of the pod has not been created yet", pc.Name), &Ref{Kind: ResourceClaims, Namespace: c.pod.Namespace, Name: pc.Name})
			continue
		case name == nil:
			continue
		}
		ref := &Ref{Kind: ResourceClaims, Namespace: c.pod.Namespace, Name: *name}
		claim := c.m.resourceClaims[c.pod.Namespace+"/"+*name]
		if claim == nil {
			hold(fmt.Sprintf("could not find ResourceClaim \"%s/%s\"", c.pod.Namespace, *name), fmt.Sprintf("resource claim %s does not exist", *name), ref)
			continue
		}
		if claim.DeletionTimestamp != nil {
			hold(fmt.Sprintf("resourceclaim %q is being deleted", claim.Name), fmt.Sprintf("resource claim %s is being deleted", claim.Name), ref)
			continue
		}
		if own {
			if err := resourceclaim.IsForPod(c.pod, claim, false); err != nil {
				hold(err.Error(), fmt.Sprintf("resource claim %s stands where that of the pod belongs and is not the pod's", claim.Name), ref)
				continue
			}
		}
		c.resourceClaim(claim, ref, block)
	}
	if standIn {
		c.specialClaim()
	}
	if len(c.claims.toBe) > 0 || c.claims.special != nil {
		c.allocator()
	}
	if len(c.claims.allocated)+len(c.claims.toBe) == 0 && c.claims.special == nil {
		c.off[pDynamicResources] = true
	}
}

func (c *cycle) resourceClaim(claim *resourcev1.ResourceClaim, ref *Ref, block func(reason, detail string, claim *Ref)) {
	if a := claim.Status.Allocation; a != nil {
		x := allocatedClaim{claim: claim, failed: bindingFailed(claim)}
		if a.NodeSelector != nil {
			s, err := nodeaffinity.NewNodeSelector(a.NodeSelector)
			if err != nil {
				c.failing = fmt.Sprintf("running PreFilter plugin %q: %v", DynamicResources, err)
				return
			}
			x.selector = s
		}
		c.claims.allocated = append(c.claims.allocated, x)
		return
	}
	class := func(name, request string) bool {
		if !c.needs(pDynamicResources, DeviceClasses) {
			return false
		}
		if c.m.devices.byName[name] != nil {
			return true
		}
		block(fmt.Sprintf("request %s: device class %s does not exist", request, name),
			fmt.Sprintf("device class %s, which request %s of resource claim %s asks for, does not exist", name, request, claim.Name), ref)
		return false
	}
	ok := true
	for i := range claim.Spec.Devices.Requests {
		q := &claim.Spec.Devices.Requests[i]
		if q.Exactly != nil {
			ok = class(q.Exactly.DeviceClassName, q.Name) && ok
		}
		for j := range q.FirstAvailable {
			ok = class(q.FirstAvailable[j].DeviceClassName, q.Name+"/"+q.FirstAvailable[j].Name) && ok
		}
	}
	if ok {
		c.claims.toBe = append(c.claims.toBe, claim)
	}
}

// bindingFailed says which device of an allocated claim has failed to become ready.
func bindingFailed(claim *resourcev1.ResourceClaim) string {
	for i := range claim.Status.Allocation.Devices.Results {
		x := &claim.Status.Allocation.Devices.Results[i]
		if len(x.BindingConditions) == 0 {
			continue
		}
		for j := range claim.Status.Devices {
			d := &claim.Status.Devices[j]
			if d.Driver != x.Driver || d.Pool != x.Pool || d.Device != x.Device || deref((*string)(d.ShareID)) != deref((*string)(x.ShareID)) {
				continue
			}
			for _, cond := range x.BindingFailureConditions {
				if meta.IsStatusConditionTrue(d.Conditions, cond) {
					return fmt.Sprintf("device %s/%s/%s reports %s", x.Driver, x.Pool, x.Device, cond)
				}
			}
		}
	}
	return ""
}

// specialClaim finds or makes the claim for extended resources that devices stand for.
func (c *cycle) specialClaim() {
	for _, x := range c.m.devices.claims {
		if x.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true" && metav1.IsControlledBy(x, c.pod) {
			c.claims.special = x
			return
		}
	}
	c.claims.special = &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: c.pod.Namespace, Name: "<extended-resources>",
		UID: "extended-resources", Annotations: map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}}}
}

func (c *cycle) allocator() {
	if !c.needs(pDynamicResources, ResourceSlices, DeviceClasses) {
		return
	}
	c.notModelled = append(c.notModelled, "taints that DeviceTaintRules put on devices")
	c.m.devices.prepare()
	a, err := structured.NewAllocator(quiet(), deviceFeatures, c.m.devices.state, c.m.devices, c.m.devices.slices, c.m.devices.cache)
	if err != nil {
		c.failing = fmt.Sprintf("running PreFilter plugin %q: %v", DynamicResources, err)
		return
	}
	c.claims.allocator = a
}

func quiet() context.Context { return klog.NewContext(context.Background(), logr.Discard()) }

// dynamicResources tells whether the node has the devices of the pod's claims. The
// scheduler tries to allocate before it looks where the allocated ones are.
func (c *cycle) dynamicResources(n *nodeInfo, r *result) {
	special, ok := c.specialFor(n, r)
	if !ok {
		return
	}
	claims := c.claims.toBe
	if special != nil {
		claims = append(slices.Clone(claims), special)
	}
	if c.claims.allocator != nil && len(claims) > 0 {
		c.allocate(n, claims, r)
	}
	for i := range c.claims.allocated {
		x := &c.claims.allocated[i]
		why := ""
		switch {
		case x.selector != nil && !x.selector.Match(n.node):
			why = fmt.Sprintf("resource claim %s is allocated to devices that the node does not reach: they are at %s", x.claim.Name, nodeSelectorText(x.claim.Status.Allocation.NodeSelector))
		case x.failed != "":
			why = fmt.Sprintf("resource claim %s is allocated and %s", x.claim.Name, x.failed)
		default:
			continue
		}
		r.hit(pDynamicResources, 1, i, 2)
		if r.full {
			r.fail(Failure{Plugin: DynamicResources, Reason: "resourceclaim not available on the node", Detail: why,
				Claim: &Ref{Kind: ResourceClaims, Namespace: x.claim.Namespace, Name: x.claim.Name}})
		}
	}
}

func (c *cycle) allocate(n *nodeInfo, claims []*resourcev1.ResourceClaim, r *result) {
	results, err := c.claims.allocator.Allocate(quiet(), n.node, claims)
	reason := "cannot allocate all claims"
	switch {
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		reason = err.Error()
	case err != nil:
		r.error(DynamicResources, err.Error())
		return
	case len(results) == len(claims):
		return
	}
	r.hit(pDynamicResources, 0, c.text(reason), 1)
	if r.full {
		r.fail(Failure{Plugin: DynamicResources, Reason: reason, Detail: "the node has no free devices for " + claimText(claims),
			Claim: &Ref{Kind: ResourceClaims, Namespace: claims[0].Namespace, Name: claims[0].Name}})
	}
}

func claimText(claims []*resourcev1.ResourceClaim) string {
	var parts []string
	for _, c := range claims {
		for i := range c.Spec.Devices.Requests {
			q := &c.Spec.Devices.Requests[i]
			switch {
			case q.Exactly != nil && q.Exactly.AllocationMode == resourcev1.DeviceAllocationModeAll:
				parts = append(parts, "all of class "+q.Exactly.DeviceClassName)
			case q.Exactly != nil:
				parts = append(parts, fmt.Sprintf("%d of class %s", max(1, q.Exactly.Count), q.Exactly.DeviceClassName))
			default:
				var or []string
				for j := range q.FirstAvailable {
					or = append(or, fmt.Sprintf("%d of class %s", max(1, q.FirstAvailable[j].Count), q.FirstAvailable[j].DeviceClassName))
				}
				parts = append(parts, strings.Join(or, " or "))
			}
		}
	}
	return strings.Join(parts, ", ")
}

// specialFor makes the claim for the extended resources that devices have to stand
// for on this node; where a device plugin has them, NodeResourcesFit counts them.
func (c *cycle) specialFor(n *nodeInfo, r *result) (*resourcev1.ResourceClaim, bool) {
	if c.claims.special == nil {
		return nil, true
	}
	refuse := func(reason, detail string) (*resourcev1.ResourceClaim, bool) {
		r.hit(pDynamicResources, 2, c.text(reason+detail), 1)
		if r.full {
			r.fail(Failure{Plugin: DynamicResources, Reason: reason, Detail: detail})
		}
		return nil, false
	}
	if c.claims.special.Spec.Devices.Requests != nil {
		return refuse("cannot schedule extended resource claim", fmt.Sprintf("resource claim %s of an earlier attempt has to be deleted first", c.claims.special.Name))
	}
	wanted := map[v1.ResourceName]*resourcev1.DeviceClass{}
	for _, name := range c.scalars {
		if c.requests.scalar[name] == 0 || !deviceResource(name) {
			continue
		}
		have, has := n.allocatable.scalar[name]
		class := c.m.devices.standFor[name]
		switch {
		case class != nil && have == 0:
			wanted[name] = class
		case !has:
			return refuse("cannot fit resource", fmt.Sprintf("neither a device plugin nor a device class has %s for the node", name))
		}
	}
	if len(wanted) == 0 {
		return nil, true
	}
	s := c.claims.special.DeepCopy()
	s.Spec.Devices.Requests = extendedRequests(c.pod, wanted)
	return s, true
}

// extendedRequests are the requests for devices that stand for extended resources.
// An init container that ends uses again what the containers after it will have.
func extendedRequests(pod *v1.Pod, wanted map[v1.ResourceName]*resourcev1.DeviceClass) []resourcev1.DeviceRequest {
	containers := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	names := make([]v1.ResourceName, 0, len(wanted))
	for name := range wanted {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []resourcev1.DeviceRequest
	for _, name := range names {
		request := func(i int, again int64) *resourcev1.DeviceRequest {
			q, ok := containers[i].Resources.Requests[name]
			count, whole := q.AsInt64()
			if !ok || !whole || count <= again {
				return nil
			}
			var keys []string
			for k := range containers[i].Resources.Requests {
				keys = append(keys, string(k))
			}
			slices.Sort(keys)
			return &resourcev1.DeviceRequest{Name: fmt.Sprintf("container-%d-request-%d", i, slices.Index(keys, string(name))),
				Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: wanted[name].Name, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count - again}}
		}
		ends := func(i int) bool {
			p := containers[i].RestartPolicy
			return i < len(pod.Spec.InitContainers) && (p == nil || *p != v1.ContainerRestartPolicyAlways)
		}
		counts := make([]int64, len(containers))
		for i := range containers {
			if ends(i) {
				continue
			}
			if q := request(i, 0); q != nil {
				counts[i] = q.Exactly.Count
				out = append(out, *q)
			}
		}
		var most *resourcev1.DeviceRequest
		for i := range containers {
			if !ends(i) {
				continue
			}
			var again int64
			for _, x := range counts[i:] {
				again += x
			}
			if q := request(i, again); q != nil && (most == nil || q.Exactly.Count > most.Exactly.Count) {
				most = q
			}
		}
		if most != nil {
			out = append(out, *most)
		}
	}
	slices.SortFunc(out, func(a, b resourcev1.DeviceRequest) int { return strings.Compare(a.Name, b.Name) })
	return out
}
