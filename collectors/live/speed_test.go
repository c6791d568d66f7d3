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
				_, way, gap := inTurn(t.Context(), ways, 10*time.Second, 3*time.Second, func(way string, within time.Duration) (*collectors.Reply, *collectors.Gap) {
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

// queue starts requests to a server one second apart in how long they take, and
// returns in what order they were sent.
func queue(ctx context.Context, l *limiter) (want func(server string, urgency int), order func() string) {
	var mu sync.Mutex
	var sent []string
	takes := time.Duration(0)
	want = func(server string, urgency int) {
		takes += time.Second
		d := takes
		go func() {
			release, err := l.acquire(ctx, server, urgency)
			if err != nil {
				return
			}
			mu.Lock()
			sent = append(sent, fmt.Sprint(server, urgency))
			mu.Unlock()
			time.Sleep(d)
			release()
		}()
		synctest.Wait()
	}
	order = func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(sent, " ")
	}
	return want, order
}

func TestUrgentRequestsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(4, 1000, 1000)
		want, order := queue(t.Context(), l)
		for range 3 {
			want("a", 0)
		}
		time.Sleep(2 * muster)
		if got := order(); got != "a0" {
			t.Errorf("got %s, want one of four", got)
		}
		for _, urgency := range []int{1, 7, 5} { // all at once
			want("a", urgency)
		}
		time.Sleep(2 * muster)
		if got := order(); got != "a0 a7" {
			t.Errorf("got %s, want the most urgent next", got)
		}
		want("a", crucial)
		want("a", crucial)
		time.Sleep(2 * muster)
		if got := order(); got != "a0 a7 a10" {
			t.Errorf("got %s, want what is crucial in the third slot, and nothing in that for other servers", got)
		}
		time.Sleep(time.Minute)
		if got := order(); got != "a0 a7 a10 a10 a5 a1 a0 a0" {
			t.Errorf("got the order %s", got)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.taken != 0 || len(l.waiting) != 0 || l.at["a"] != 0 {
			t.Errorf("%d slots are taken and %d wait at the end", l.taken, len(l.waiting))
		}
	})
}

func TestSlowServerKeepsNoneFromBeingAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(8, 1000, 1000)
		want, order := queue(t.Context(), l)
		for range 9 {
			want("api", crucial)
		}
		want("etcd", 0)
		want("etcd", 0)
		time.Sleep(2 * muster)
		if got := order(); strings.Count(got, "api10") != 6 || strings.Count(got, "etcd0") != 2 {
			t.Errorf("got %s, want six and two", got)
		}
		time.Sleep(time.Hour)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.peak != 8 || l.requests != 11 {
			t.Errorf("got a peak of %d and %d requests, want 8 and 11", l.peak, l.requests)
		}
	})
}

func TestServerWithTheLeastToDoIsAskedNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(2, 1000, 1000)
		want, order := queue(t.Context(), l)
		want("api", crucial)
		want("other", crucial)
		time.Sleep(2 * muster)
		want("other", crucial)
		want("api", crucial)
		time.Sleep(1100 * time.Millisecond) // the first is done
		if got := order(); !strings.HasSuffix(got, "api10") {
			t.Errorf("got %s, want api, which has nothing to do, before other", got)
		}
		time.Sleep(time.Minute)
	})
}

func TestFailedFirstLookIsNotWaitedForTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooks()
		r := collectors.Request{Verb: collectors.Scrape, URL: "kube:/metrics", Sample: collectors.First}
		l.begin(r)
		began := time.Now()
		time.Sleep(5 * time.Second) // the first look times out
		l.failed(r, began)
		r.Sample, r.After = collectors.Last, 10*time.Second
		if err := l.wait(t.Context(), r); err != nil || time.Since(began) != 10*time.Second {
			t.Errorf("waited until %v, %v, want 10s", time.Since(began), err)
		}
	})
}

func TestWindowOfWhatIsSeenLateIsShorter(t *testing.T) {
	const window = 12 * time.Second
	for _, tt := range []struct{ first, last time.Duration }{
		{0, 12 * time.Second},
		{6 * time.Second, 18 * time.Second},
		{9 * time.Second, 18 * time.Second},
		{14 * time.Second, 18 * time.Second},
		{20 * time.Second, 24 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLooks()
			r := collectors.Request{Verb: collectors.Scrape, URL: "kube:/metrics", Sample: collectors.First}
			began := time.Now()
			l.begin(r)
			time.Sleep(tt.first)
			l.begin(r)
			l.answered(r, time.Now(), r.URL)
			r.Sample, r.After = collectors.Last, window
			if err := l.wait(t.Context(), r); err != nil || time.Since(began) != tt.last {
				t.Errorf("seen after %v: the last look is after %v, %v, want %v", tt.first, time.Since(began), err, tt.last)
			}
		})
	}
}

func TestCrucialRequestIsGivenUpIfItsStoreHangs(t *testing.T) {
	for _, others := range []int{0, storeSilencesToOpen - 2, storeSilencesToOpen - 1} {
		synctest.Test(t, func(t *testing.T) {
			s, err := New(Config{RequestTimeout: 10 * time.Second, Getenv: noEnv})
			if err != nil {
				t.Fatal(err)
			}
			a := attempt{Request: collectors.Request{Verb: collectors.List, Urgency: crucial}, within: s.config.patience(crucial)}
			began := time.Now()
			var after atomic.Int64
			stop := s.giveUpWithOthers("api", a, &trace{at: stageWaiting}, func(error) { after.Store(int64(time.Since(began))) })
			time.Sleep(10 * time.Second)
			for range others { // that began when it did
				s.breaker.fails("api", itStore, failure{how: silent})
			}
			time.Sleep(time.Minute)
			stop()
			want := time.Duration(0)
			if others == storeSilencesToOpen-1 { // and itself
				want = 10500 * time.Millisecond
			}
			if after := time.Duration(after.Load()); after != want {
				t.Errorf("%d others hang: given up after %v, want %v (0: not at all)", others, after, want)
			}
		})
	}
}

func TestTurnThatComesTooLateIsNotTaken(t *testing.T) {
	hang := make(chan struct{})
	s, srv := newKubeSource(t, func(_ http.ResponseWriter, r *http.Request) { <-hang })
	s.limit = newLimiter(1, 1000, 1000)
	s.looks.began = time.Now()
	go s.Fetch(t.Context(), collectors.Request{Verb: collectors.Get, URL: "kube:/version"})
	for srv.requests.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	const window = 300 * time.Millisecond
	for _, r := range []collectors.Request{
		{Verb: collectors.Get, URL: "kube:/livez", After: window},
		{Verb: collectors.Scrape, URL: "kube:/metrics", Sample: collectors.First, After: window},
		{Verb: collectors.Get, URL: "pod+http://ns/p:80/healthz", After: window},
	} {
		_, _, gap := fetch(t, s, r)
		wantGap(t, gap, collectors.Canceled, "the window was over before it was its turn")
	}
	close(hang)
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
