package live

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

func TestWayWithAnotherBehindItIsGivenUpEarlier(t *testing.T) {
	const hangs = time.Hour
	for _, tt := range []struct {
		name  string
		ways  []time.Duration // after how long each answers; below 0 it refuses
		from  int             // which one answers in the end; -1 for none
		took  time.Duration
		asked string
	}{
		{"the next answers", []time.Duration{hangs, 0}, 1, 3 * time.Second, "[0 1]"},
		{"the last is waited for in full", []time.Duration{hangs, 9 * time.Second}, 1, 12 * time.Second, "[0 1]"},
		{"the next leads nowhere at once: the first gets the rest", []time.Duration{6 * time.Second, -1}, 0, 9 * time.Second, "[0 1 0]"},
		{"neither answers", []time.Duration{hangs, -1, -1}, -1, 10 * time.Second, "[0 1 2 0]"},
		{"the last hangs too: none is waited for twice", []time.Duration{hangs, hangs}, -1, 13 * time.Second, "[0 1]"},
		{"one that refuses is not asked twice", []time.Duration{-1, hangs}, -1, 10 * time.Second, "[0 1]"},
		{"one alone is waited for in full", []time.Duration{9 * time.Second}, 0, 9 * time.Second, "[0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ways []string
				for n := range tt.ways {
					ways = append(ways, fmt.Sprint(n))
				}
				var asked []int
				began := time.Now()
				_, way, gap := inTurn(t.Context(), ways, 10*time.Second, func(way string, within time.Duration) (*collectors.Reply, *collectors.Gap) {
					n := slices.Index(ways, way)
					asked = append(asked, n)
					switch after := tt.ways[n]; {
					case after < 0:
						return nil, collectors.Gapf(collectors.Forbidden, "%s: no", way)
					case after > within:
						time.Sleep(within)
						return nil, collectors.Gapf(collectors.Timeout, "%s: nothing within %s", way, within)
					default:
						time.Sleep(after)
						return &collectors.Reply{}, nil
					}
				})
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if got := fmt.Sprint(asked); got != tt.asked {
					t.Errorf("asked %s, want %s", got, tt.asked)
				}
				if tt.from >= 0 && way != fmt.Sprint(tt.from) || (gap == nil) != (tt.from >= 0) {
					t.Errorf("got %q, %v", way, gap)
				}
			})
		})
	}
}

func TestEtcdThatAnswersIsNotAskedThroughPortForward(t *testing.T) {
	ca := newAuthority(t, "etcd")
	addr, flags := startEtcd(t, ca)
	f := &forwarder{}
	s := forwardSource(t, f, Config{Etcd: flags}, nil)
	r := collectors.Request{Verb: collectors.Scrape, URL: "pod+http://cp-1@kube-system/etcd-cp-1:2381/metrics", Or: []string{"etcd://" + addr + "/metrics"}}
	if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + addr + "/maintenance/status"}); gap != nil {
		t.Fatal(gap)
	}
	reply, _, gap := fetch(t, s, r)
	if gap != nil || reply.From != r.Or[0] || f.upgrades.Load() != 0 {
		t.Errorf("got %v, %v after %d port-forwards, want an answer from %s after none", reply, gap, f.upgrades.Load(), r.Or[0])
	}
	s.breaker.fails("etcd "+addr, itself, failure{how: silent})
	if s.isOpen(r.Or[0]) {
		t.Error("what was silent since is taken to be open")
	}
}

// A store that hangs hangs for all who read it. What the API server knows
// without it is asked all the same.
func TestStoreThatHangsIsToldFromItsServer(t *testing.T) {
	var lists atomic.Int64
	s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") {
			lists.Add(1)
			<-r.Context().Done()
			return
		}
		io.WriteString(w, "ok")
	})
	s.config.RequestTimeout = time.Second
	list := func(n int) *collectors.Gap {
		_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.List, URL: fmt.Sprintf("kube:/api/v1/namespaces/%d/pods", n)})
		return gap
	}
	var wg sync.WaitGroup
	for n := range storeSilencesToOpen {
		wg.Go(func() { wantGap(t, list(n), collectors.Timeout, "no answer within 1s") })
	}
	wg.Wait()
	if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "kube:/metrics"}); gap != nil {
		t.Errorf("its metrics: %v", gap)
	}
	wantGap(t, list(9), collectors.Timeout, "not tried again after 4 failures in a row")
	_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "pod+https://kube-system/kube-scheduler-a:10259/metrics"})
	wantGap(t, gap, collectors.NoPath, "not tried again")
	if n := lists.Load(); n != storeSilencesToOpen {
		t.Errorf("the store was asked %d times, want %d", n, storeSilencesToOpen)
	}
}

func TestUrgentRequestsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(4, 1000, 1000)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var order []int
		var mu sync.Mutex
		next := time.Duration(0)
		want := func(urgency int) {
			next += time.Second
			holds := next
			go func() {
				release, err := l.acquire(ctx, urgency)
				if err != nil {
					return
				}
				mu.Lock()
				order = append(order, urgency)
				mu.Unlock()
				time.Sleep(holds)
				release()
			}()
			synctest.Wait()
		}
		for _, urgency := range []int{0, 0, 0, 1, 0, 7, 5} { // all at once
			want(urgency)
		}
		time.Sleep(2 * muster)
		slices.Sort(order)
		if got := fmt.Sprint(order); got != "[1 5 7]" {
			t.Errorf("got %s, want the urgent ones alone: what nothing waits for takes half of the slots", got)
		}
		want(1)
		want(9)
		time.Sleep(time.Minute)
		if got := fmt.Sprint(order); got != "[1 5 7 9 1 0 0 0 0]" {
			t.Errorf("got the order %s", got)
		}
		if l.taken != 0 || len(l.waiting) != 0 {
			t.Errorf("%d slots are taken and %d wait at the end", l.taken, len(l.waiting))
		}
	})
}

func TestFailedFirstLookIsNotWaitedForTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooks()
		r := collectors.Request{Verb: collectors.Scrape, URL: "kube:/metrics", Sample: collectors.First}
		began := time.Now()
		time.Sleep(5 * time.Second) // the first look times out
		l.failed(r, began)
		r.Sample, r.After = collectors.Last, 10*time.Second
		if err := l.wait(t.Context(), r); err != nil || time.Since(began) != 10*time.Second {
			t.Errorf("waited until %v, %v, want 10s", time.Since(began), err)
		}
	})
}

func TestTunnelThatComesLateServesTheNext(t *testing.T) {
	// The first request gives up; the port-forward comes after that.
	release := make(chan struct{})
	f := &forwarder{}
	ca := newAuthority(t, "cluster")
	front := newServer(t, ca.issue(t, "127.0.0.1").pair(t), func(w http.ResponseWriter, r *http.Request) {
		<-release
		f.ServeHTTP(w, r)
	})
	pod := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }))
	defer pod.Close()
	s := newSource(t, Config{Kubeconfig: kubeconfigFor(front.URL, ca), RequestTimeout: 2 * time.Second})
	r := collectors.Request{Verb: collectors.Get, URL: "pod+http://ns/p:" + pod.URL[strings.LastIndex(pod.URL, ":")+1:] + "/healthz"}
	_, _, gap := fetch(t, s, r)
	wantGap(t, gap, collectors.NoPath, "not open within 2s")
	close(release)
	if _, _, gap := fetch(t, s, r); gap != nil {
		t.Error(gap)
	}
	if n := f.upgrades.Load(); n != 1 {
		t.Errorf("got %d port-forward connections, want one", n)
	}
}

func TestTunnelsLeaveRoomForOthers(t *testing.T) {
	hang := make(chan struct{})
	s, srv := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/portforward") {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}
	})
	defer close(hang)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			fetchCtx(t, ctx, s, collectors.Request{Verb: collectors.Get, URL: fmt.Sprintf("pod+http://ns/p%d:80/healthz", n)})
		})
	}
	for srv.requests.Load() < defaultMaxInFlight/2 {
		time.Sleep(time.Millisecond)
	}
	if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "kube:/version"}); gap != nil {
		t.Error(gap)
	}
	if n := s.Cost().PeakInFlight; n > defaultMaxInFlight {
		t.Errorf("got a peak of %d requests, want at most %d", n, defaultMaxInFlight)
	}
	cancel()
	wg.Wait()
}
