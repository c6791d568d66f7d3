package placement

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/internal/fit"
)

// A World is what a scheduler sees of the cluster.
type World struct {
	fit.Cluster
	At   time.Time // by the API server's clock
	Gaps []Gap     // kinds that could not be read; verdicts that depend on them are not known
}

// A Gap is a kind of objects that could not be read.
type Gap struct {
	Kind fit.Kind
	Gap  *collectors.Gap
}

// A list is one kind of objects that is asked for.
type list struct {
	kind fit.Kind
	path string
	need func(demand) bool // nil: for every pod
}

// A demand is what the pods that fit nowhere ask of the cluster.
type demand struct{ volumes, claims, spread bool }

func demandOf(w pods.Waiters, profiles map[string]fit.Profile) demand {
	var d demand
	for _, p := range profiles {
		d.spread = d.spread || len(p.DefaultSpread) > 0
	}
	for _, p := range w.Pods {
		d.volumes = d.volumes || p.Volumes
		d.claims = d.claims || p.Claims || p.Extended
	}
	return d
}

func volumes(d demand) bool { return d.volumes }
func claims(d demand) bool  { return d.claims }
func spread(d demand) bool  { return d.spread }

var lists = []list{
	{fit.Nodes, "/api/v1/nodes", nil},
	{fit.Pods, "/api/v1/pods", nil},
	{fit.Namespaces, "/api/v1/namespaces", nil}, // terms of affinity select some by their labels
	{fit.PodDisruptionBudgets, "/apis/policy/v1/poddisruptionbudgets", nil},
	{fit.PriorityClasses, "/apis/scheduling.k8s.io/v1/priorityclasses", nil},
	{fit.PersistentVolumeClaims, "/api/v1/persistentvolumeclaims", volumes},
	{fit.PersistentVolumes, "/api/v1/persistentvolumes", volumes},
	{fit.StorageClasses, "/apis/storage.k8s.io/v1/storageclasses", volumes},
	{fit.CSINodes, "/apis/storage.k8s.io/v1/csinodes", volumes},
	{fit.CSIDrivers, "/apis/storage.k8s.io/v1/csidrivers", volumes},
	{fit.CSIStorageCapacities, "/apis/storage.k8s.io/v1/csistoragecapacities", volumes},
	{fit.VolumeAttachments, "/apis/storage.k8s.io/v1/volumeattachments", volumes},
	{fit.ResourceClaims, "/apis/resource.k8s.io/v1/resourceclaims", claims},
	{fit.ResourceSlices, "/apis/resource.k8s.io/v1/resourceslices", claims},
	{fit.DeviceClasses, "/apis/resource.k8s.io/v1/deviceclasses", claims},
	{fit.Services, "/api/v1/services", spread},
	{fit.ReplicationControllers, "/api/v1/replicationcontrollers", spread},
	{fit.ReplicaSets, "/apis/apps/v1/replicasets", spread},
	{fit.StatefulSets, "/apis/apps/v1/statefulsets", spread},
}

// wanted are the lists that the waiting pods make worth reading.
func wanted(s *collectors.Snapshot) []list {
	w, _ := pods.Waiting.One(s)
	profiles, _ := known(s)
	d := demandOf(w, profiles)
	return slices.DeleteFunc(slices.Clone(lists), func(l list) bool { return l.need != nil && !l.need(d) })
}

// Seen is the World. Of a cluster where no pod waits for a node nothing is
// asked: the fact is out of scope then.
//
// The lists are read one after the other while the cluster goes on, as the
// scheduler's own informers do, and without resourceVersion=0: with that, API
// servers before 1.34 send all pods in one reply, whatever the limit.
var Seen = &collectors.Fact[World]{
	ID:    "placement.seen",
	Doc:   "nodes, pods, volumes, claims and budgets, as the scheduler looks at them; asked for only while a pod fits nowhere",
	Needs: []collectors.Any{pods.Waiting, cluster.Clock, Profiles},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		if gap := needless(s); gap != nil {
			return nil, gap
		}
		return []collectors.Target{pods.All}, nil
	},
	Ask: func(s *collectors.Snapshot, _ collectors.Target) []collectors.Request {
		var rs []collectors.Request
		for _, l := range wanted(s) {
			rs = append(rs, collectors.Request{Verb: collectors.List, URL: "kube:" + l.path})
		}
		return rs
	},
	Partial: true,
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[World] {
		now, gap := cluster.Now(s)
		asked := wanted(s)
		w := &World{At: now}
		w.Profiles, _ = known(s)
		return collectors.Folder[World]{
			Add: func(_ int, o objects.Object) { w.add(o) },
			Done: func(rs []collectors.Answered) (World, error) {
				if gap != nil {
					return World{}, gap
				}
				w.miss(asked, rs)
				return *w, nil
			},
		}
	},
}

// miss notes what could not be read, and drops what was read of it: half a list
// looks like a whole one.
func (w *World) miss(asked []list, rs []collectors.Answered) {
	w.Unread = map[fit.Kind]string{}
	for _, l := range lists {
		i := slices.IndexFunc(asked, func(a list) bool { return a.kind == l.kind })
		switch {
		case i < 0:
			// It bears on none of the pods that wait. Should the model think
			// otherwise, it has to say so.
			w.Unread[l.kind] = "not asked for, as no waiting pod seems to need it"
		case rs[i].Gap == nil:
		case rs[i].Gap.Reason == collectors.Absent && l.kind == fit.DeviceClasses:
			// Before 1.34 no device class can stand for a resource.
			w.drop(l.kind)
		default:
			w.drop(l.kind)
			w.Unread[l.kind] = why(rs[i].Gap)
			w.Gaps = append(w.Gaps, Gap{l.kind, rs[i].Gap})
		}
	}
}

func why(g *collectors.Gap) string {
	if g.Reason == collectors.Absent {
		return "not served by this cluster"
	}
	return string(g.Reason)
}

func (w *World) drop(k fit.Kind) {
	c := &w.Cluster
	switch k {
	case fit.Nodes:
		c.Nodes = nil
	case fit.Pods:
		c.Pods = nil
	case fit.Namespaces:
		c.Namespaces = nil
	case fit.PodDisruptionBudgets:
		c.PodDisruptionBudgets = nil
	case fit.PriorityClasses:
		c.PriorityClasses = nil
	case fit.PersistentVolumeClaims:
		c.PersistentVolumeClaims = nil
	case fit.PersistentVolumes:
		c.PersistentVolumes = nil
	case fit.StorageClasses:
		c.StorageClasses = nil
	case fit.CSINodes:
		c.CSINodes = nil
	case fit.CSIDrivers:
		c.CSIDrivers = nil
	case fit.CSIStorageCapacities:
		c.CSIStorageCapacities = nil
	case fit.VolumeAttachments:
		c.VolumeAttachments = nil
	case fit.ResourceClaims:
		c.ResourceClaims = nil
	case fit.ResourceSlices:
		c.ResourceSlices = nil
	case fit.DeviceClasses:
		c.DeviceClasses = nil
	case fit.Services:
		c.Services = nil
	case fit.ReplicationControllers:
		c.ReplicationControllers = nil
	case fit.ReplicaSets:
		c.ReplicaSets = nil
	case fit.StatefulSets:
		c.StatefulSets = nil
	}
}

// add keeps a copy of an object that holds no more of it than bears on placing.
func (w *World) add(o objects.Object) {
	c := &w.Cluster
	switch o := o.(type) {
	case *corev1.Node:
		x := *o
		x.ManagedFields = nil
		x.Annotations = nil
		c.Nodes = append(c.Nodes, &x)
	case *corev1.Pod:
		if o.Status.Phase != corev1.PodSucceeded && o.Status.Phase != corev1.PodFailed {
			c.Pods = append(c.Pods, slim(o))
		}
	case *corev1.Namespace:
		c.Namespaces = append(c.Namespaces, &corev1.Namespace{ObjectMeta: bare(o.ObjectMeta)})
	case *policyv1.PodDisruptionBudget:
		c.PodDisruptionBudgets = keep(c.PodDisruptionBudgets, o)
	case *schedulingv1.PriorityClass:
		c.PriorityClasses = keep(c.PriorityClasses, o)
	case *corev1.PersistentVolumeClaim:
		c.PersistentVolumeClaims = keep(c.PersistentVolumeClaims, o)
	case *corev1.PersistentVolume:
		c.PersistentVolumes = keep(c.PersistentVolumes, o)
	case *storagev1.StorageClass:
		c.StorageClasses = keep(c.StorageClasses, o)
	case *storagev1.CSINode:
		c.CSINodes = keep(c.CSINodes, o)
	case *storagev1.CSIDriver:
		c.CSIDrivers = keep(c.CSIDrivers, o)
	case *storagev1.CSIStorageCapacity:
		c.CSIStorageCapacities = keep(c.CSIStorageCapacities, o)
	case *storagev1.VolumeAttachment:
		c.VolumeAttachments = keep(c.VolumeAttachments, o)
	case *resourcev1.ResourceClaim:
		c.ResourceClaims = keep(c.ResourceClaims, o)
	case *resourcev1.ResourceSlice:
		c.ResourceSlices = keep(c.ResourceSlices, o)
	case *resourcev1.DeviceClass:
		c.DeviceClasses = keep(c.DeviceClasses, o)
	case *corev1.Service:
		c.Services = append(c.Services, &corev1.Service{ObjectMeta: bare(o.ObjectMeta), Spec: corev1.ServiceSpec{Selector: o.Spec.Selector}})
	case *corev1.ReplicationController:
		c.ReplicationControllers = append(c.ReplicationControllers, &corev1.ReplicationController{ObjectMeta: bare(o.ObjectMeta), Spec: corev1.ReplicationControllerSpec{Selector: o.Spec.Selector}})
	case *appsv1.ReplicaSet:
		c.ReplicaSets = append(c.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: bare(o.ObjectMeta), Spec: appsv1.ReplicaSetSpec{Selector: o.Spec.Selector}})
	case *appsv1.StatefulSet:
		c.StatefulSets = append(c.StatefulSets, &appsv1.StatefulSet{ObjectMeta: bare(o.ObjectMeta), Spec: appsv1.StatefulSetSpec{Selector: o.Spec.Selector}})
	}
}

// keep adds a copy that does not hold the page which the object came with.
func keep[O any, P interface {
	*O
	objects.Object
}](to []P, o P) []P {
	x := *o
	p := P(&x)
	p.SetManagedFields(nil)
	return append(to, p)
}

// Find returns the pod of that namespace and name, or nil.
func (w World) Find(namespace, name string) *corev1.Pod {
	i := slices.IndexFunc(w.Pods, func(p *corev1.Pod) bool { return p.Name == name && p.Namespace == namespace })
	if i < 0 {
		return nil
	}
	return w.Pods[i]
}

// Configured names the files by which the schedulers of a snapshot were told of
// profiles, where the schedulers do not say what these are, and why they do not.
func Configured(s *collectors.Snapshot) ([]string, *collectors.Gap) {
	profiles, gap := known(s)
	if len(profiles) > 0 {
		return nil, nil
	}
	is, _ := cluster.Instances.One(s)
	files := Configuration(is)
	if len(files) == 0 || gap != nil && gap.Reason == collectors.OutOfScope {
		gap = nil
	}
	return files, gap
}

// Configuration names the files by which schedulers were told of profiles that
// cannot be seen from here: their filters may differ from the default ones.
func Configuration(is []cluster.Instance) []string {
	var out []string
	for _, i := range is {
		if f := i.Flag("config", ""); i.Role == cluster.RoleScheduler && f != "" && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}
