package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"reflect"
	"time"

	"github.com/ktriage/ktriage/lab/supervise"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const (
	// probePeriod is slower than kubeadm's one second: seven components probed
	// each second would be a noticeable part of two cores.
	probePeriod = 2 * time.Second
	// probeTimeout is that of kubeadm's probes.
	probeTimeout = 15 * time.Second
	// probeFailures in a row make a pod unready, as in kubeadm's probes.
	probeFailures = 3
	// resyncPeriod is how long a wrong mirror pod may stand.
	resyncPeriod = 10 * time.Second
)

// kubelet shows one component's process as a static pod, and tells its state as
// the kubelet of its node would. It never restarts what is alive but unhealthy:
// a frozen process stays frozen, so that it can be looked at.
type kubelet struct {
	component Component
	procs     *supervise.Manager
	client    kubernetes.Interface

	failures int
	since    map[corev1.PodConditionType]metav1.Time
	last     corev1.PodStatus
	seen     time.Time
}

func (k *kubelet) run(ctx context.Context) {
	probe := nodeClient(k.component.opts.Netns(k.component.Node), probeTimeout)
	k.since = map[corev1.PodConditionType]metav1.Time{}
	ready := false
	for ctx.Err() == nil {
		state, _ := k.procs.State(k.component.Name())
		switch {
		case !state.Running():
			ready, k.failures = false, probeFailures
		case get(ctx, probe, k.component.probe()) == nil:
			ready, k.failures = true, 0
		default:
			k.failures++
			ready = ready && k.failures < probeFailures
		}
		if err := k.sync(ctx, state, ready); err != nil && ctx.Err() == nil {
			log.Printf("kubelet of %s: %v", k.component.Name(), err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(probePeriod):
		}
	}
}

// sync makes the mirror pod say what is. It asks for the pod now and then even
// if nothing changed: others (the node controller, a person) write it too.
func (k *kubelet) sync(ctx context.Context, state supervise.State, ready bool) error {
	want := k.status(state, ready)
	if reflect.DeepEqual(want, k.last) && time.Since(k.seen) < resyncPeriod {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	pods := k.client.CoreV1().Pods(metav1.NamespaceSystem)
	pod, err := pods.Get(ctx, k.component.Name(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		node, err := k.client.CoreV1().Nodes().Get(ctx, k.component.NodeName(), metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("get node: %w", err)
		}
		if pod, err = pods.Create(ctx, k.component.StaticPod(node.UID), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create mirror pod: %w", err)
		}
	} else if err != nil {
		return fmt.Errorf("get mirror pod: %w", err)
	}
	if restarts(pod.Status) > restarts(want) {
		// Its history was forgotten, as when its manifest is taken away and put
		// back: that makes a new pod. The next round creates it.
		now := int64(0)
		return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	}
	if same(pod.Status, want) {
		k.last, k.seen = want, time.Now()
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": want})
	if err != nil {
		return err
	}
	if _, err := pods.Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		return fmt.Errorf("update mirror pod: %w", err)
	}
	k.last, k.seen = want, time.Now()
	return nil
}

// same compares what a reader of the pod would see.
func same(got, want corev1.PodStatus) bool {
	if got.Phase != want.Phase || len(got.ContainerStatuses) != 1 {
		return false
	}
	a, b := got.ContainerStatuses[0], want.ContainerStatuses[0]
	return a.Ready == b.Ready && a.RestartCount == b.RestartCount &&
		startedAt(a).Equal(startedAt(b)) &&
		conditionIs(got, corev1.PodReady) == conditionIs(want, corev1.PodReady)
}

// startedAt is the zero time of a container that does not run.
func startedAt(s corev1.ContainerStatus) time.Time {
	if s.State.Running == nil {
		return time.Time{}
	}
	return s.State.Running.StartedAt.Time
}

func restarts(s corev1.PodStatus) int32 {
	if len(s.ContainerStatuses) == 0 {
		return 0
	}
	return s.ContainerStatuses[0].RestartCount
}

func conditionIs(s corev1.PodStatus, kind corev1.PodConditionType) corev1.ConditionStatus {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return corev1.ConditionUnknown
}

func (k *kubelet) status(state supervise.State, ready bool) corev1.PodStatus {
	c, ip := k.component, k.component.opts.NodeIP(k.component.Node)
	container := corev1.ContainerStatus{
		Name:         string(c.Kind),
		Image:        c.image(),
		Ready:        ready,
		RestartCount: int32(state.Restarts),
	}
	started := state.Running()
	container.Started = &started
	if state.LastExit != "" {
		container.LastTerminationState.Terminated = terminated(state)
	}
	if state.Running() {
		container.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(state.StartedAt.Truncate(time.Second))}
	} else {
		// It is held down. A real one would be tried again and again.
		container.RestartCount = max(container.RestartCount, 1)
		container.State.Waiting = &corev1.ContainerStateWaiting{
			Reason:  "CrashLoopBackOff",
			Message: fmt.Sprintf("back-off restarting failed container=%s pod=%s_%s", c.Kind, c.Name(), metav1.NamespaceSystem),
		}
	}
	status := corev1.PodStatus{
		Phase:             corev1.PodRunning,
		HostIP:            ip,
		HostIPs:           []corev1.HostIP{{IP: ip}},
		PodIP:             ip,
		PodIPs:            []corev1.PodIP{{IP: ip}},
		QOSClass:          corev1.PodQOSBurstable,
		ContainerStatuses: []corev1.ContainerStatus{container},
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		condition := corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue}
		if !ready && (kind == corev1.PodReady || kind == corev1.ContainersReady) {
			condition.Status = corev1.ConditionFalse
			condition.Reason = "ContainersNotReady"
			condition.Message = fmt.Sprintf("containers with unready status: [%s]", c.Kind)
		}
		if since, ok := k.since[kind]; ok && conditionIs(k.last, kind) == condition.Status {
			condition.LastTransitionTime = since
		} else {
			condition.LastTransitionTime = metav1.NewTime(time.Now().Truncate(time.Second))
			k.since[kind] = condition.LastTransitionTime
		}
		status.Conditions = append(status.Conditions, condition)
	}
	return status
}

// killed is the exit code that a container runtime reports after SIGKILL.
const killed = 137

func terminated(state supervise.State) *corev1.ContainerStateTerminated {
	t := &corev1.ContainerStateTerminated{
		ExitCode:   1,
		Reason:     "Error",
		FinishedAt: metav1.NewTime(state.ExitedAt.Truncate(time.Second)),
	}
	if state.LastExit == "signal: killed" {
		t.ExitCode = killed
	}
	return t
}
