package pending

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ktriage/ktriage/collectors/placement"
	"github.com/ktriage/ktriage/internal/fit"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

var (
	probes = flag.Int("probes", 120, "how many pods the scheduler of the lab judges")
	report = flag.String("report", "", "where to write the report; -o is one of go test's own")
)

// TestScheduler holds the model against the lab's scheduler, and lets it place pods
// by the smallest changes that ktriage proposes.
func TestScheduler(t *testing.T) {
	ctx := t.Context()
	dir := os.Getenv("PENDING_DIR") // logs are kept there
	if dir == "" {
		dir = t.TempDir()
	}
	plane, err := StartPlane(ctx, dir)
	if errors.Is(err, ErrNotBuilt) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer plane.Stop()
	profilesAreRead(t, plane)
	r := &run{t: t, plane: plane, tally: NewTally()}
	start := time.Now()
	for i := uint64(0); r.tally.Judged < *probes; i++ {
		r.world(ctx, *seed+i)
		if t.Failed() && r.tally.Wrong > 20 {
			break
		}
	}
	t.Logf("%s in %s", r.tally, time.Since(start).Round(time.Second))
	if *report != "" {
		if err := os.WriteFile(*report, []byte(r.tally.Markdown(*seed, library)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r.tally.Wrong > 0 || r.tally.Miscounted*200 > r.tally.Judged || r.tally.Unhelpful > 0 {
		t.Error(r.tally)
	}
}

// profilesAreRead holds what is read of the scheduler's own account against what it
// was told.
func profilesAreRead(t *testing.T, plane *Plane) {
	t.Helper()
	body, err := plane.Configz(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := placement.ReadConfigz(body)
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	if diff := cmp.Diff(Profiles(), got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the profiles that are read differ (-want +got):\n%s\n%s", diff, body)
	}
}

type run struct {
	t     *testing.T
	plane *Plane
	tally *Tally
}

func (r *run) world(ctx context.Context, seed uint64) {
	w := NewWorld(seed, fmt.Sprintf("w%d-", seed), Shape{Nodes: 20, Pods: 50, Probes: 40, Behind: true})
	r.tally.Worlds++
	if err := Write(ctx, r.plane.Client, &w.Cluster); err != nil {
		r.t.Fatalf("seed %d: %v", seed, err)
	}
	for i, p := range w.Probes {
		if p.Spec.HostUsers != nil {
			continue // the API server admits such pods on the host's network only with a feature that is off
		}
		r.probe(ctx, seed, p)
		if i%3 == 0 {
			r.counterfactual(ctx, seed, p)
		}
		if r.tally.Judged >= *probes {
			break
		}
	}
	if err := Clear(ctx, r.plane.Client); err != nil {
		r.t.Fatalf("seed %d: clear: %v", seed, err)
	}
}

// ask lets the scheduler judge a pod. It waits for its word: a place, a claim that
// it has chosen a node for, or a message.
func (r *run) ask(ctx context.Context, pod *v1.Pod, preempting bool) (_ Ruling, err error) {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	pods := r.plane.Client.CoreV1().Pods(pod.Namespace)
	x := pod.DeepCopy()
	var last *v1.Pod
	defer func() {
		if err != nil && last != nil {
			err = fmt.Errorf("%w; its conditions: %+v; its volumes: %+v", err, last.Status.Conditions, last.Spec.Volumes)
		}
	}()
	now := int64(0)
	x.UID, x.ResourceVersion = "", ""
	x.Spec.TerminationGracePeriodSeconds = &now
	if !preempting { // what the scheduler says must change nothing
		x = Peaceful(x)
	}
	made, err := pods.Create(ctx, x, metav1.CreateOptions{})
	if err != nil {
		return Ruling{}, err
	}
	defer func() {
		_ = pods.Delete(context.WithoutCancel(ctx), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	}()
	seen, err := pods.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + pod.Name, ResourceVersion: made.ResourceVersion})
	if err != nil {
		return Ruling{}, err
	}
	defer seen.Stop()
	waited := 0
	look := time.NewTicker(250 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case e, ok := <-seen.ResultChan():
			if !ok || e.Type == watch.Deleted {
				return Ruling{}, fmt.Errorf("the pod is gone, or the wait for the scheduler's word is over: %w", ctx.Err())
			}
			p, isPod := e.Object.(*v1.Pod)
			if !isPod {
				continue
			}
			last = p
			if p.Spec.NodeName != "" {
				return Ruling{Fits: true}, nil
			}
			for _, c := range p.Status.Conditions {
				if c.Type != v1.PodScheduled || c.Status != v1.ConditionFalse || preempting && c.Reason == v1.PodReasonUnschedulable {
					continue
				}
				reasons, preemption := Split(c.Message)
				return Ruling{Error: c.Reason == v1.PodReasonSchedulerError, Message: reasons, Preemption: preemption}, nil
			}
		case <-look.C:
			// A pod whose volumes are to be bound first has no place yet.
			waited++
			if err := Bind(ctx, r.plane.Client, made, waited >= patience); err != nil {
				return Ruling{}, err
			}
		}
	}
}

// patience is after how many looks a claim for which a node was chosen before is
// taken as one that the scheduler waits for.
const patience = 12

// held looks whether the scheduler leaves a pod alone of which ktriage says so.
func (r *run) held(ctx context.Context, seed uint64, pod *v1.Pod) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if said, err := r.ask(ctx, pod, false); err == nil {
		r.tally.Differ(fmt.Sprintf("seed %d, %s", seed, pod.Name), false, said, Ruling{Message: "the scheduler does not try it"})
		r.t.Errorf("seed %d, %s: the scheduler tried a pod that it should not: %+v", seed, pod.Name, said)
		return
	}
	r.tally.Held++
}

// beyond tells of edits that the test cannot make: a controller that is not there
// would have to follow, or the pod would have to be there first.
func beyond(e fit.Edit) bool {
	return e.Kind == fit.ReplaceClaim || e.Kind == fit.CreateClaim && e.Volume.Name != ""
}

// admitted is the pod as the API server would admit it, with what it adds. The pod
// is not there yet, so that no claim is its own.
func (r *run) admitted(ctx context.Context, pod *v1.Pod) (*v1.Pod, error) {
	x := pod.DeepCopy()
	x.UID, x.ResourceVersion = "", ""
	now := int64(0)
	x.Spec.TerminationGracePeriodSeconds = &now
	return r.plane.Client.CoreV1().Pods(pod.Namespace).Create(ctx, x, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

// removeNew removes the node that a change may have added.
func (r *run) removeNew(ctx context.Context) {
	_ = r.plane.Client.CoreV1().Nodes().Delete(ctx, "new-node", metav1.DeleteOptions{})
	_ = r.plane.Client.StorageV1().CSINodes().Delete(ctx, "new-node", metav1.DeleteOptions{})
	made, err := r.plane.Client.ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for _, s := range made.Items {
		if s.Spec.NodeName != nil && *s.Spec.NodeName == "new-node" {
			_ = r.plane.Client.ResourceV1().ResourceSlices().Delete(ctx, s.Name, metav1.DeleteOptions{})
		}
	}
}

// probe compares the two on one pod. Where they differ the scheduler is asked again:
// it may not have seen yet what was written before.
func (r *run) probe(ctx context.Context, seed uint64, pod *v1.Pod) {
	r.tally.Judged++
	for attempt := 0; ; attempt++ {
		c, err := Read(ctx, r.plane.Client)
		if err != nil {
			r.t.Fatal(err)
		}
		mine, err := r.admitted(ctx, Peaceful(pod))
		if err != nil {
			r.tally.Judged--
			r.tally.Refused(err)
			r.t.Logf("seed %d, %s: %v", seed, pod.Name, err)
			return
		}
		c.Profiles = Profiles()
		m := fit.New(c)
		v := m.Judge(mine)
		if v.Held {
			r.held(ctx, seed, pod)
			return
		}
		want, err := r.ask(ctx, pod, false)
		if err != nil {
			r.tally.Judged-- // it was not
			r.tally.Refused(err)
			r.t.Logf("seed %d, %s: %v", seed, pod.Name, err)
			return
		}
		got := Ruling{Fits: v.State == fit.Fits, Error: v.State == fit.Failing}
		if !got.Fits {
			got.Message = m.Message(v)
		}
		same := got.Fits == want.Fits && got.Error == want.Error
		if same && (got.Message == want.Message) {
			r.tally.Agreed(v, attempt)
			return
		}
		if attempt < 3 {
			continue
		}
		r.tally.Differ(fmt.Sprintf("seed %d, %s", seed, pod.Name), same, want, got)
		if !same {
			r.t.Errorf("seed %d, %s: the scheduler: %+v\nktriage: %s: %+v", seed, pod.Name, want, v.State, got)
		} else {
			r.t.Logf("seed %d, %s:\nscheduler: %s\nktriage:   %s", seed, pod.Name, want.Message, got.Message)
		}
		return
	}
}

// counterfactual makes the smallest change that ktriage proposes, and lets the
// scheduler place the pod.
func (r *run) counterfactual(ctx context.Context, seed uint64, pod *v1.Pod) {
	c, err := Read(ctx, r.plane.Client)
	if err != nil {
		r.t.Fatal(err)
	}
	if pod, err = r.admitted(ctx, pod); err != nil {
		return // told of before
	}
	c.Profiles = Profiles()
	m := fit.New(c)
	if m.Judge(pod).State != fit.Unschedulable {
		return
	}
	changes := slices.DeleteFunc(m.Changes(pod), func(x fit.Change) bool { return slices.ContainsFunc(x.Edits, beyond) })
	if len(changes) == 0 {
		r.tally.Hopeless++
		return
	}
	x := changes[0]
	self := len(x.Edits) == 1 && x.Edits[0].Self
	after, changed := c, pod
	if !self {
		if after, changed, err = Apply(c, pod, x); err != nil {
			r.t.Errorf("seed %d, %s: %s: %v", seed, pod.Name, x.Summary, err)
			return
		}
		defer r.removeNew(ctx)
		if err := Sync(ctx, r.plane.Client, &c, &after); err != nil {
			r.tally.Refused(err)
			r.t.Logf("seed %d, %s: %s: %v", seed, pod.Name, x.Summary, err)
			return
		}
	}
	var got Ruling
	for range 3 {
		if got, err = r.ask(ctx, changed, self); err != nil || got.Fits {
			break
		}
	}
	if apierrors.IsInvalid(err) {
		r.tally.Refused(err)
		return
	}
	r.tally.Tried(x, err == nil && got.Fits)
	if err != nil || !got.Fits {
		r.t.Errorf("seed %d, %s: %s\nbefore: %s\nafter:  %+v %v", seed, pod.Name, x.Summary, m.Message(m.Judge(pod)), got, err)
	}
}
