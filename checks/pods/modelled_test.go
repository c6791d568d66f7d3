package pods

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
)

// world is one node with a core, which a pod has that asks for all of it.
const world = `
-- get kube:/version --
{"gitVersion": "v1.37.2"}
-- list kube:/api/v1/pods?fieldSelector=status.phase%3DPending --
metadata: {name: big, namespace: shop, creationTimestamp: "2026-01-02T03:00:05Z"}
spec: {schedulerName: default-scheduler, containers: [{name: app, resources: {requests: {cpu: "2"}}}]}
status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, lastTransitionTime: "2026-01-02T03:00:05Z", message: "0/1 nodes are available: 1 Insufficient cpu."}]}
-- list kube:/api/v1/pods --
metadata: {name: big, namespace: shop, creationTimestamp: "2026-01-02T03:00:05Z"}
spec: {schedulerName: default-scheduler, containers: [{name: app, resources: {requests: {cpu: "2"}}}]}
status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, lastTransitionTime: "2026-01-02T03:00:05Z", message: "0/1 nodes are available: 1 Insufficient cpu."}]}
-- list kube:/api/v1/nodes --
metadata: {name: worker-1}
spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}
status: {allocatable: {cpu: "1", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
-- list kube:/api/v1/namespaces --
metadata: {name: shop}
-- list kube:/apis/policy/v1/poddisruptionbudgets --
-- list kube:/apis/scheduling.k8s.io/v1/priorityclasses --
`

// TestTheModelSaysAllThatIsInTheWay holds that the finding tells what the scheduler
// does not, and nothing where the objects cannot be read.
func TestTheModelSaysAllThatIsInTheWay(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, script string
		want         []string // parts of the model's evidence
	}{
		{"cordoned, and too small", world, []string{"insufficient cpu", "were unschedulable"}},
		{"pods that cannot be read", world + "-- list kube:/api/v1/pods --\ngap: forbidden: no\n-- list kube:/api/v1/nodes --\ngap: forbidden: no\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := capture.NewScript(at, 10*time.Second, txtar.Parse([]byte(c.script)))
			cs := []*checks.Check{Unschedulable}
			snap := collectors.Collect(t.Context(), src, at, 10*time.Second, collectors.Options{}, checks.Facts(cs)...).Snapshot
			fs := checks.Run(snap, cs)
			if len(fs) != 1 || fs[0].Status != checks.Warning {
				t.Fatalf("got %+v", fs)
			}
			var said []string
			for _, e := range fs[0].Evidence {
				if e.Fact == "placement.seen" {
					said = append(said, e.Field+" "+e.Value)
				}
			}
			all := strings.Join(said, "\n")
			for _, w := range c.want {
				if !strings.Contains(all, w) {
					t.Errorf("no %q in:\n%s", w, all)
				}
			}
			if c.want == nil && all != "" {
				t.Errorf("said of what was not seen:\n%s", all)
			}
		})
	}
}

// TestNothingMoreIsAskedWhereNothingWaits holds that a healthy cluster is not asked
// for all its pods.
func TestNothingMoreIsAskedWhereNothingWaits(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	src := capture.NewScript(at, 10*time.Second, txtar.Parse([]byte("-- get kube:/version --\n{\"gitVersion\": \"v1.37.2\"}\n-- list kube:/api/v1/pods?fieldSelector=status.phase%3DPending --\n")))
	asked := &asking{Source: src}
	collectors.Collect(t.Context(), asked, at, 10*time.Second, collectors.Options{}, checks.Facts([]*checks.Check{Unschedulable})...)
	for _, u := range asked.urls() {
		if u == "kube:/api/v1/pods" {
			t.Error("it is asked for all pods")
		}
	}
}

// asking notes what is asked.
type asking struct {
	collectors.Source
	mu   sync.Mutex
	seen []string
}

// Fetch passes the request on.
func (a *asking) Fetch(ctx context.Context, r collectors.Request) (*collectors.Reply, error) {
	a.mu.Lock()
	a.seen = append(a.seen, r.URL)
	a.mu.Unlock()
	return a.Source.Fetch(ctx, r)
}

func (a *asking) urls() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.seen)
}
