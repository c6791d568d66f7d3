package pending

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/ktriage/ktriage/internal/fit"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// A Library is the scheduler as a library, with a cluster in memory. It judges
// pods and places none.
type Library struct {
	ctx      context.Context
	stop     context.CancelFunc
	sched    *scheduler.Scheduler
	snapshot *internalcache.Snapshot
}

// Objects are all objects of a cluster but the Pending pods.
func Objects(c *fit.Cluster) []runtime.Object {
	var out []runtime.Object
	add(&out, c.Nodes)
	add(&out, c.Pods)
	add(&out, c.Namespaces)
	add(&out, c.PersistentVolumeClaims)
	add(&out, c.PersistentVolumes)
	add(&out, c.StorageClasses)
	add(&out, c.CSINodes)
	add(&out, c.CSIDrivers)
	add(&out, c.CSIStorageCapacities)
	add(&out, c.VolumeAttachments)
	add(&out, c.ResourceClaims)
	add(&out, c.ResourceSlices)
	add(&out, c.DeviceClasses)
	add(&out, c.PriorityClasses)
	add(&out, c.PodDisruptionBudgets)
	add(&out, c.Services)
	add(&out, c.ReplicaSets)
	add(&out, c.StatefulSets)
	add(&out, c.ReplicationControllers)
	return out
}

func add[T runtime.Object](out *[]runtime.Object, in []T) {
	for _, o := range in {
		*out = append(*out, o)
	}
}

// NewLibrary fills a scheduler with a cluster, and the pods that wait in it. A pod
// has to be among them where preemption matters.
func NewLibrary(c *fit.Cluster, waiting ...*v1.Pod) (*Library, error) {
	metrics.Register()
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	l := &Library{ctx: ctx, stop: stop, snapshot: internalcache.NewEmptySnapshot()}
	// The scheduler asks the API server for pods that have not ended; a client in
	// memory gives it all.
	live := *c
	live.Pods = slices.DeleteFunc(slices.Clone(c.Pods), func(p *v1.Pod) bool { return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed })
	live.Pods = append(live.Pods, waiting...)
	client := fake.NewClientset(Objects(&live)...)
	informers := scheduler.NewInformerFactory(client, 0, nil)
	recorder := profile.NewRecorderFactory(events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()}))
	conf, err := readConfig()
	if err != nil {
		stop()
		return nil, err
	}
	l.sched, err = scheduler.New(ctx, client, informers, nil, recorder, scheduler.WithNodeInfoSnapshot(l.snapshot), scheduler.WithParallelism(1), scheduler.WithProfiles(conf.Profiles...))
	if err != nil {
		stop()
		return nil, fmt.Errorf("make a scheduler: %w", err)
	}
	informers.Start(ctx.Done())
	synced, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	informers.WaitForCacheSync(synced.Done())
	if err := l.sched.WaitForHandlersSync(synced); err != nil {
		stop()
		return nil, fmt.Errorf("fill the scheduler: %w", err)
	}
	if err := l.sched.Cache.UpdateSnapshot(logr.Discard(), l.snapshot); err != nil {
		stop()
		return nil, err
	}
	return l, nil
}

// Close ends it.
func (l *Library) Close() { l.stop() }

// A Ruling is what the scheduler says of a pod.
type Ruling struct {
	Fits bool
	// Error is set where the attempt ended by an error.
	Error bool
	// Message is its message, without what it adds about preemption.
	Message string
	// Preemption is that, and Nominated the node on which it would stop pods for this
	// one.
	Preemption string
	Nominated  string
}

// Judge asks the scheduler for a place for the pod.
func (l *Library) Judge(pod *v1.Pod) Ruling {
	f := l.sched.Profiles[pod.Spec.SchedulerName]
	info := &framework.QueuedPodInfo{PodInfo: &framework.PodInfo{}}
	pi, err := framework.NewPodInfo(pod)
	if err != nil {
		return Ruling{Error: true, Message: err.Error()}
	}
	info.PodInfo = pi
	state := framework.NewCycleState()
	_, err = l.sched.SchedulePod(l.ctx, f, state, info)
	var fe *framework.FitError
	switch {
	case err == nil:
		return Ruling{Fits: true}
	case errors.As(err, &fe):
		r := Ruling{Message: fe.Error()}
		result, status := f.RunPostFilterPlugins(l.ctx, state, pod, fe.Diagnosis.NodeToStatus)
		r.Preemption = status.Message()
		if status.IsSuccess() && result != nil && result.NominatingInfo != nil {
			r.Nominated = result.NominatedNodeName
		}
		return r
	}
	return Ruling{Error: true, Message: err.Error()}
}

// Split takes a message of the scheduler apart: the verdict and what it adds about
// preemption.
func Split(message string) (reasons, preemption string) {
	if i := strings.Index(message, ". "); i >= 0 && strings.HasPrefix(message, "0/") {
		return message[:i+1], message[i+2:]
	}
	return message, ""
}
