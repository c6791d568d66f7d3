package live

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

func TestRequestsInFlightAreBounded(t *testing.T) {
	var now, peak atomic.Int64
	full := make(chan struct{})
	const most = defaultMaxInFlight - defaultMaxInFlight/4 // at one server
	var once sync.Once
	s, srv := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
		}
		if n == most {
			once.Do(func() { close(full) })
		}
		<-full // none is answered before as many as may are in flight
	})
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "kube:/version", Urgency: crucial}); gap != nil {
				t.Error(gap)
			}
		})
	}
	wg.Wait()
	cost := s.Cost()
	if peak.Load() != most || cost.PeakInFlight != most {
		t.Errorf("got a peak of %d at the server and %d by our count, want %d", peak.Load(), cost.PeakInFlight, most)
	}
	if cost.Requests != 30 || srv.requests.Load() != 30 || cost.Bytes == 0 {
		t.Errorf("got cost %+v and %d requests at the server, want 30", cost, srv.requests.Load())
	}
}

func TestRequestsASecondAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(100, 20, 20)
		began := time.Now()
		var wg sync.WaitGroup
		for range 60 {
			wg.Go(func() {
				release, err := l.acquire(t.Context(), "a", 0)
				if err != nil {
					t.Error(err)
					return
				}
				release()
			})
		}
		wg.Wait()
		// 20 at once, the other 40 at 20 a second.
		if got := time.Since(began).Round(100 * time.Millisecond); got != 2*time.Second {
			t.Errorf("60 requests took %v, want about 2s", got)
		}
	})
}

func TestWaitForATurnEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, l := range []*limiter{newLimiter(1, 1000, 1000), newLimiter(10, 0.001, 1)} {
			release, err := l.acquire(t.Context(), "a", 0)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := l.acquire(ctx, "a", 0); err == nil {
				t.Error("got a turn, want none")
			}
			cancel()
			release()
			release() // as a body that is closed twice does
			if n := l.taken + len(l.waiting); n != 0 {
				t.Errorf("%d slots are still taken", n)
			}
		}
	})
}

func TestLastWaitsForTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Getenv: noEnv, MaxInFlight: 1})
		if err != nil {
			t.Fatal(err)
		}
		req := collectors.Request{Verb: collectors.Get, URL: "config:/etcd", Sample: collectors.First}
		first, _, gap := fetch(t, s, req)
		if gap != nil {
			t.Fatal(gap)
		}
		time.Sleep(3 * time.Second) // other things are asked meanwhile
		req.Sample, req.After = collectors.Last, 10*time.Second
		last, _, gap := fetch(t, s, req)
		if gap != nil {
			t.Fatal(gap)
		}
		if got := last.At.Sub(first.At); got != 10*time.Second {
			t.Errorf("the second look came after %v, want 10s", got)
		}
		req.After = 30 * time.Second // the window is extended
		if last, _, _ = fetch(t, s, req); last.At.Sub(first.At) != 30*time.Second {
			t.Errorf("the third look came after %v, want 30s", last.At.Sub(first.At))
		}
		began := time.Now()
		fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "config:/etcd?x", Sample: collectors.Last, After: time.Hour})
		if got := time.Since(began); got != 0 {
			t.Errorf("a second look without a first waited %v", got)
		}
	})
}

func TestStopEndsTheWaitForTheWindow(t *testing.T) {
	s, srv := newKubeSource(t, func(http.ResponseWriter, *http.Request) {})
	s.limit = newLimiter(1, 1000, 1000)
	req := collectors.Request{Verb: collectors.Get, URL: "kube:/readyz", Sample: collectors.First}
	if _, _, gap := fetch(t, s, req); gap != nil {
		t.Fatal(gap)
	}
	req.Sample, req.After = collectors.Last, time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan *collectors.Gap)
	go func() {
		_, _, gap := fetchCtx(t, ctx, s, req)
		done <- gap
	}()
	// One slot is all there is, and the waiting request must not hold it.
	if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "kube:/livez"}); gap != nil {
		t.Error(gap)
	}
	cancel()
	wantGap(t, <-done, collectors.Canceled)
	if n := srv.requests.Load(); n != 2 {
		t.Errorf("got %d requests, want 2", n)
	}
}

func TestSilentAddressIsGivenUpLater(t *testing.T) {
	b := newBreaker()
	f := failure{reason: collectors.Timeout, words: "no answer", how: silent}
	for range silencesToOpen - 1 {
		b.fails("a", itself, f)
	}
	b.fails("a", itself, failure{how: ourselves})
	if _, dead := b.refuses("a", itself); dead {
		t.Fatalf("given up after %d silences", silencesToOpen-1)
	}
	b.fails("a", itself, f)
	got, dead := b.refuses("a", itself)
	if !dead {
		t.Fatalf("not given up after %d silences", silencesToOpen)
	}
	wantGap(t, got.gap("way"), collectors.Timeout, "way: no answer", "not tried again after 8 failures in a row")
	if _, dead := b.refuses("b", itself); dead {
		t.Error("another address is given up too")
	}
	b.fails("a", itself, failure{how: answered})
	if _, dead := b.refuses("a", itself); dead {
		t.Error("still given up after an answer")
	}
}
