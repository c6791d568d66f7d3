package live

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/remediate"
)

// A candidate is an instance that takes part in an election, as client-go does it
// for the schedulers and controller managers.
type candidate struct {
	name           string
	frozen         atomic.Bool // none of its requests comes through
	began, stopped chan struct{}
}

func (c *candidate) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.frozen.Load() {
		return nil, errors.New("frozen")
	}
	return http.DefaultTransport.RoundTrip(r)
}

const (
	leaseFor = 5 * time.Second
	renewBy  = 3 * time.Second
	retryAt  = 200 * time.Millisecond
)

func stand(t *testing.T, host, name string) *candidate {
	t.Helper()
	c := &candidate{name: name, began: make(chan struct{}), stopped: make(chan struct{})}
	client, err := kubernetes.NewForConfig(&rest.Config{Host: host, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}, WrapTransport: func(http.RoundTripper) http.RoundTripper { return c }})
	if err != nil {
		t.Fatal(err)
	}
	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"}, Client: client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration: leaseFor, RenewDeadline: renewBy, RetryPeriod: retryAt,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(c.began) },
			OnStoppedLeading: func() { close(c.stopped) },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	go e.Run(t.Context())
	return c
}

func wait(t *testing.T, what string, c chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("%s never came", what)
	}
}

func over(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestLeadershipGoesToWhoStandsBy holds the two ways of taking a lease against
// client-go's own election: from one that renews, it goes to the other and only
// when the first has given up; from one that is frozen, at once.
func TestLeadershipGoesToWhoStandsBy(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		a, k := newAPI(t)
		host := k.base.String()
		first := stand(t, host, "cp-1_a")
		wait(t, "the first leader", first.began)
		second := stand(t, host, "cp-2_b")
		looked := func() bool { // the second has looked at the lease, and stands by
			a.mu.Lock()
			defer a.mu.Unlock()
			n := 0
			for _, x := range a.asked {
				if x == "GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler" {
					n++
				}
			}
			return n >= 3
		}
		for range 600 {
			if looked() {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		seconds := int(leaseFor / time.Second)
		if frozen {
			first.frozen.Store(true)
			seconds = 0
		}
		x := remediate.Action{Kind: remediate.HandOver, Target: collectors.Target{Component: collectors.Leases, Name: "kube-system/kube-scheduler"}, Args: map[string]string{
			remediate.ArgHolder: "cp-1_a", remediate.ArgSeconds: strconv.Itoa(seconds), remediate.ArgSaved: filepath.Join(t.TempDir(), "x.json"),
		}}
		var out remediate.Outcome
		var err error
		for range 50 { // the first renews all the while: a conflict is no harm
			if out, err = New(Config{Kube: k}).Do(t.Context(), x); !isNotDone(err) {
				break
			}
		}
		if err != nil || out["taken"] != "from cp-1_a" {
			t.Fatalf("got %v, %v", out, err)
		}
		wait(t, "the second leader", second.began)
		if !frozen && !over(first.stopped) {
			t.Error("two lead at a time")
		}
		wait(t, "the end of the first", first.stopped)
		var l struct {
			Spec struct{ HolderIdentity string }
		}
		if _, err := k.fetch(t.Context(), "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler", &l); err != nil || l.Spec.HolderIdentity != "cp-2_b" {
			t.Errorf("the lease is held by %q, %v", l.Spec.HolderIdentity, err)
		}
	}
}
