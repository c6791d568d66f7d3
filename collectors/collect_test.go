package collectors_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/collectors/objects"
)

// fake answers by verb and URL, and counts what it was asked.
type fake struct {
	answers map[string]func(collectors.Request) (*collectors.Reply, error)
	mu      sync.Mutex
	asked   []string
}

func (f *fake) Fetch(ctx context.Context, r collectors.Request) (*collectors.Reply, error) {
	f.mu.Lock()
	f.asked = append(f.asked, r.Key()+r.Page)
	f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a, ok := f.answers[string(r.Verb)+" "+r.URL]
	if !ok {
		return nil, collectors.Gapf(collectors.Unreachable, "nobody at %s", r.URL)
	}
	return a(r)
}

func says(body string) func(collectors.Request) (*collectors.Reply, error) {
	return func(r collectors.Request) (*collectors.Reply, error) {
		at := time.Unix(100, 0)
		if r.Sample == collectors.Last {
			at = at.Add(r.After)
		}
		return &collectors.Reply{At: at, Status: 200, From: r.URL, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

var self = collectors.Target{Component: collectors.Cluster}

func get(id, url string) *collectors.Fact[string] {
	return &collectors.Fact[string]{
		ID: id, Targets: collectors.Single(self),
		Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
			return []collectors.Request{{Verb: collectors.Get, URL: url}}
		},
		Read: func(rs []collectors.Answered) (string, error) { return string(rs[0].Body), nil },
	}
}

func scrape(id, family string, by ...string) *collectors.Fact[float64] {
	return collectors.WindowFact(id, "", nil, collectors.Single(self),
		func(*collectors.Snapshot, collectors.Target) []collectors.Request {
			return collectors.Scrapes("kube:/metrics", nil, metrics.Select{Name: family, By: by})
		},
		func(w metrics.Window) (float64, error) {
			d, ok := w.Last.Sum(family)
			if !ok {
				return 0, collectors.AbsentMetric(family)
			}
			return d, nil
		})
}

func collect(ctx context.Context, src collectors.Source, facts ...collectors.Any) *collectors.Snapshot {
	return collectors.Collect(ctx, src, time.Unix(0, 0), 10*time.Second, collectors.Options{}, facts...).Snapshot
}

func TestFactsThatWantTheSameReplyShareOneRequest(t *testing.T) {
	src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){
		"scrape kube:/metrics": says("a{x=\"1\",y=\"1\"} 1\nb 2\nc 3\n"),
	}}
	a, b := scrape("a", "a", "x"), scrape("b", "b")
	s := collect(context.Background(), src, a, b)
	if len(src.asked) != 2 {
		t.Errorf("asked %q, want the first and the last look once each", src.asked)
	}
	if v, gap := a.One(s); gap != nil || v != 1 {
		t.Errorf("a = %v, %v", v, gap)
	}
	if v, gap := b.One(s); gap != nil || v != 2 {
		t.Errorf("b = %v, %v", v, gap)
	}
}

func TestFailuresAreGapsOfTheFactsConcerned(t *testing.T) {
	src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){
		"get kube:/ok":    says("fine"),
		"get kube:/panic": func(collectors.Request) (*collectors.Reply, error) { panic("boom") },
		"get kube:/deadline": func(collectors.Request) (*collectors.Reply, error) {
			return nil, fmt.Errorf("wait: %w", context.DeadlineExceeded)
		},
		"get kube:/breaks": func(r collectors.Request) (*collectors.Reply, error) {
			return &collectors.Reply{From: r.URL, Body: io.NopCloser(io.MultiReader(strings.NewReader("x"), broken{}))}, nil
		},
		"get kube:/endless": func(r collectors.Request) (*collectors.Reply, error) {
			return &collectors.Reply{From: r.URL, Body: io.NopCloser(endless{})}, nil
		},
		"scrape kube:/metrics": says("<html>"),
	}}
	readPanics := get("read panics", "kube:/ok")
	readPanics.Read = func([]collectors.Answered) (string, error) { panic("in Read") }
	targetsPanic := get("targets panic", "kube:/ok")
	targetsPanic.Targets = func(*collectors.Snapshot) ([]collectors.Target, error) { panic("in Targets") }
	askPanics := get("ask panics", "kube:/ok")
	askPanics.Ask = func(*collectors.Snapshot, collectors.Target) []collectors.Request { panic("in Ask") }
	noTargets := get("no targets", "kube:/ok")
	noTargets.Targets = func(*collectors.Snapshot) ([]collectors.Target, error) {
		return nil, collectors.Gapf(collectors.OutOfScope, "no etcd here")
	}
	derived := &collectors.Fact[string]{
		ID: "derived", Needs: []collectors.Any{readPanics}, Targets: collectors.Single(self),
		Derive: func(s *collectors.Snapshot, _ collectors.Target) (string, error) {
			v, gap := readPanics.One(s)
			if gap != nil {
				return "", gap
			}
			return v, nil
		},
	}
	facts := []collectors.Any{
		get("ok", "kube:/ok"), get("panic", "kube:/panic"), get("deadline", "kube:/deadline"), get("breaks", "kube:/breaks"), get("endless", "kube:/endless"),
		get("nobody", "kube:/nobody"), readPanics, targetsPanic, askPanics, noTargets, derived, scrape("html", "a"),
	}
	s := collect(context.Background(), src, facts...)
	want := map[string]string{
		"ok":            "",
		"panic":         "bug in ktriage: get kube:/panic: boom",
		"deadline":      "timeout: wait: context deadline exceeded",
		"breaks":        "malformed: read reply of kube:/breaks: connection reset",
		"endless":       "malformed: kube:/endless: the reply is over 16777216 bytes",
		"nobody":        "unreachable: nobody at kube:/nobody",
		"read panics":   "bug in ktriage: fact read panics, cluster: in Read",
		"targets panic": "bug in ktriage: fact targets panic: in Targets",
		"ask panics":    "bug in ktriage: fact ask panics: in Ask",
		"no targets":    "out of scope: no etcd here",
		"derived":       "bug in ktriage: fact read panics, cluster: in Read",
		"html":          `malformed: read metrics of kube:/metrics: the body is HTML or XML, not metrics: "<html>"`,
	}
	for _, f := range facts {
		var gap *collectors.Gap
		switch f := f.(type) {
		case *collectors.Fact[string]:
			_, gap = f.One(s)
		case *collectors.Fact[float64]:
			_, gap = f.One(s)
		}
		got := ""
		if gap != nil {
			got = gap.Error()
		}
		if got != want[f.Name()] {
			t.Errorf("%s: got %q, want %q", f.Name(), got, want[f.Name()])
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestAnEndedContextMakesGapsNotVerdicts(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := get("ok", "kube:/ok")
	s := collect(ctx, &fake{}, f)
	if _, gap := f.One(s); gap == nil || gap.Reason != collectors.Canceled {
		t.Errorf("got %v, want canceled", gap)
	}
}

// podNames is a fact of pods' names.
func podNames(id string) *collectors.Fact[[]string] {
	return &collectors.Fact[[]string]{
		ID: id, Targets: collectors.Single(self),
		Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
			return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/pods"}}
		},
		Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]string] {
			var out []string
			return collectors.Folder[[]string]{
				Add: func(_ int, o objects.Object) {
					if o.GetName() == "poison" && id == "fragile" {
						panic("cannot read this pod")
					}
					out = append(out, o.(*corev1.Pod).Name)
				},
				Done: func([]collectors.Answered) ([]string, error) { return out, nil },
			}
		},
	}
}

func pages(ps map[string]string) func(collectors.Request) (*collectors.Reply, error) {
	return func(r collectors.Request) (*collectors.Reply, error) {
		p, ok := ps[r.Page]
		if !ok {
			return nil, collectors.Gapf(collectors.ServerError, "410 Gone")
		}
		return &collectors.Reply{From: r.URL, Media: objects.JSON, Body: io.NopCloser(strings.NewReader(p))}, nil
	}
}

func TestListsAreReadPageByPageForAllWhoWantThem(t *testing.T) {
	src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){
		"list kube:/api/v1/pods": pages(map[string]string{
			"":   `{"kind":"PodList","metadata":{"continue":"t1"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"poison"}}]}`,
			"t1": `{"kind":"PodList","items":[{"metadata":{"name":"b"}}]}`,
		}),
	}}
	sturdy, fragile := podNames("sturdy"), podNames("fragile")
	s := collect(context.Background(), src, sturdy, fragile)
	if diff := cmp.Diff([]string{"list kube:/api/v1/pods", "list kube:/api/v1/podst1"}, src.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	got, gap := sturdy.One(s)
	if diff := cmp.Diff([]string{"a", "poison", "b"}, got); diff != "" || gap != nil {
		t.Errorf("%v\n%s", gap, diff)
	}
	if _, gap := fragile.One(s); gap == nil || gap.Error() != "bug in ktriage: /poison: cannot read this pod" {
		t.Errorf("a fold that panics: got %v", gap)
	}
}

func TestAListThatFailsHalfWayIsAGap(t *testing.T) {
	src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){
		"list kube:/api/v1/pods": pages(map[string]string{"": `{"kind":"PodList","metadata":{"continue":"expired"},"items":[{"metadata":{"name":"a"}}]}`}),
	}}
	f := podNames("pods")
	if v, gap := f.One(collect(context.Background(), src, f)); gap == nil || gap.Error() != "server error: page 2: 410 Gone" || v != nil {
		t.Errorf("got %v, %v", v, gap)
	}
}

func TestTheWindowCanBeExtended(t *testing.T) {
	n := 0
	src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){
		"scrape kube:/metrics": func(r collectors.Request) (*collectors.Reply, error) {
			n++
			return says(fmt.Sprintf("a %d\n", n))(r)
		},
	}}
	f := collectors.WindowFact("rate", "", nil, collectors.Single(self),
		func(*collectors.Snapshot, collectors.Target) []collectors.Request {
			return collectors.Scrapes("kube:/metrics", nil, metrics.Select{Name: "a"})
		},
		func(w metrics.Window) (string, error) {
			d, ok := w.Delta("a")
			return fmt.Sprintf("%v in %s, %v", d, w.Elapsed(), ok), nil
		})
	c := collectors.Collect(context.Background(), src, time.Unix(0, 0), 10*time.Second, collectors.Options{}, f)
	first := c.Snapshot
	second := c.Extend(context.Background(), 30*time.Second)
	for _, tc := range []struct {
		s    *collectors.Snapshot
		want string
	}{{first, "1 in 10s, true"}, {second, "2 in 30s, true"}} {
		if got, gap := f.One(tc.s); gap != nil || got != tc.want {
			t.Errorf("got %q, %v; want %q", got, gap, tc.want)
		}
	}
}

func TestASecondLookThatFailsLeavesTheLifetime(t *testing.T) {
	src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){
		"scrape kube:/metrics": func(r collectors.Request) (*collectors.Reply, error) {
			if r.Sample == collectors.Last {
				return nil, collectors.Gapf(collectors.Unreachable, "gone")
			}
			return says("a 5\n")(r)
		},
	}}
	var broken string
	f := collectors.WindowFact("f", "", nil, collectors.Single(self),
		func(*collectors.Snapshot, collectors.Target) []collectors.Request {
			return collectors.Scrapes("kube:/metrics", nil, metrics.Select{Name: "a"})
		},
		func(w metrics.Window) (float64, error) {
			broken = w.Broken
			v, _ := w.Last.Sum("a")
			return v, nil
		})
	if v, gap := f.One(collect(context.Background(), src, f)); gap != nil || v != 5 || broken != "the second look failed: unreachable: gone" {
		t.Errorf("got %v, %v, %q", v, gap, broken)
	}
}

// follow is a fact that asks url once first is known.
func follow(id, url string, first collectors.Any) *collectors.Fact[string] {
	f := get(id, url)
	f.Needs = []collectors.Any{first}
	return f
}

func TestWhatIsSlowDelaysOnlyWhatFollowsFromIt(t *testing.T) {
	asked := make(chan struct{})
	src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){
		"get kube:/slow": func(r collectors.Request) (*collectors.Reply, error) {
			select {
			case <-asked:
			case <-time.After(10 * time.Second):
				t.Error("what does not need the slow fact waits for it")
			}
			return says("slow")(r)
		},
		"get kube:/quick": says("quick"),
		"get kube:/then":  says("then"),
		"get kube:/last": func(r collectors.Request) (*collectors.Reply, error) {
			close(asked)
			return says("last")(r)
		},
	}}
	slow, quick := get("slow", "kube:/slow"), get("quick", "kube:/quick")
	then := follow("then", "kube:/then", quick)
	last := follow("last", "kube:/last", then)
	both := &collectors.Fact[string]{
		ID: "both", Needs: []collectors.Any{slow, last}, Targets: collectors.Single(self),
		Derive: func(s *collectors.Snapshot, _ collectors.Target) (string, error) {
			a, _ := slow.One(s)
			b, _ := last.One(s)
			return a + " " + b, nil
		},
	}
	if v, gap := both.One(collect(context.Background(), src, both)); gap != nil || v != "slow last" {
		t.Errorf("got %q, %v", v, gap)
	}
}

func TestAFactSeesOnlyWhatItNeeds(t *testing.T) {
	src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){"get kube:/a": says("a"), "get kube:/b": says("b")}}
	a, b := get("a", "kube:/a"), get("b", "kube:/b")
	nosy := &collectors.Fact[string]{
		ID: "nosy", Needs: []collectors.Any{b}, Targets: collectors.Single(self),
		Derive: func(s *collectors.Snapshot, _ collectors.Target) (string, error) {
			v, gap := a.One(s)
			if gap != nil {
				return "", gap
			}
			return v, nil
		},
	}
	if v, gap := nosy.One(collect(context.Background(), src, a, nosy)); gap == nil || gap.Error() != "bug in ktriage: a is read by a fact that does not need it" {
		t.Errorf("got %q, %v", v, gap)
	}
}

func TestARequestUnderWayIsShared(t *testing.T) {
	for _, tc := range []struct {
		family string // that the second fact wants
		asked  int    // scrapes
	}{{"a", 2}, {"b", 4}} {
		var mu sync.Mutex
		var wants []string
		released, begun := make(chan struct{}), make(chan struct{})
		var once sync.Once
		src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){
			"get kube:/quick": func(r collectors.Request) (*collectors.Reply, error) {
				<-begun
				return says("quick")(r)
			},
			"get kube:/after": func(r collectors.Request) (*collectors.Reply, error) {
				close(released)
				return says("after")(r)
			},
			"scrape kube:/metrics": func(r collectors.Request) (*collectors.Reply, error) {
				mu.Lock()
				var names []string
				for _, w := range r.Want {
					names = append(names, w.Name)
				}
				wants = append(wants, strings.Join(names, "+"))
				mu.Unlock()
				once.Do(func() { close(begun) })
				<-released
				return says("a 1\nb 2\n")(r)
			},
		}}
		quick := get("quick", "kube:/quick")
		first, second := scrape("first", "a"), scrape("second", tc.family)
		second.Needs = []collectors.Any{quick}
		// Asked when the second is, so that the scrape ends after that.
		after := follow("after", "kube:/after", quick)
		s := collect(context.Background(), src, first, second, after)
		want := map[string]float64{"a": 1, "b": 2}[tc.family]
		if v, gap := second.One(s); gap != nil || v != want {
			t.Errorf("%s: got %v, %v", tc.family, v, gap)
		}
		if v, gap := first.One(s); gap != nil || v != 1 {
			t.Errorf("%s: got %v, %v for the first", tc.family, v, gap)
		}
		if len(wants) != tc.asked {
			t.Errorf("%s: scraped %q, want %d scrapes", tc.family, wants, tc.asked)
		}
		if tc.family == "b" && !strings.HasPrefix(wants[1], "a") {
			t.Errorf("the second scrape wants %s only: a recording of it would lack what the first brought", wants[1])
		}
	}
}

func TestTheLastLookWaitsForNothingElse(t *testing.T) {
	looked := make(chan struct{})
	src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){
		"get kube:/slow": func(r collectors.Request) (*collectors.Reply, error) {
			select {
			case <-looked:
			case <-time.After(10 * time.Second):
				t.Error("the last look waits for what has nothing to do with it")
			}
			return says("slow")(r)
		},
		"scrape kube:/metrics": func(r collectors.Request) (*collectors.Reply, error) {
			if r.Sample == collectors.Last {
				close(looked)
			}
			return says("a 1\n")(r)
		},
	}}
	rate, slow := scrape("rate", "a"), get("slow", "kube:/slow")
	s := collect(context.Background(), src, rate, slow)
	if v, gap := rate.One(s); gap != nil || v != 1 {
		t.Errorf("got %v, %v", v, gap)
	}
	if v, gap := slow.One(s); gap != nil || v != "slow" {
		t.Errorf("got %v, %v", v, gap)
	}
}

func TestWithoutAFirstLookThereIsNothingToWaitFor(t *testing.T) {
	for _, answered := range []bool{false, true} {
		var after time.Duration
		src := &fake{answers: map[string]func(collectors.Request) (*collectors.Reply, error){
			"scrape kube:/metrics": func(r collectors.Request) (*collectors.Reply, error) {
				if r.Sample == collectors.Last {
					after = r.After
				}
				return nil, collectors.Gapf(collectors.Unreachable, "gone")
			},
		}}
		facts := []collectors.Any{scrape("dead", "a")}
		if answered {
			src.answers["scrape etcd:/metrics"] = says("a 1\n")
			facts = append(facts, collectors.WindowFact("alive", "", nil, collectors.Single(self),
				func(*collectors.Snapshot, collectors.Target) []collectors.Request {
					return collectors.Scrapes("etcd:/metrics", nil, metrics.Select{Name: "a"})
				},
				func(metrics.Window) (float64, error) { return 0, nil }))
		}
		collect(context.Background(), src, facts...)
		want := time.Duration(0)
		if answered {
			want = 10 * time.Second
		}
		if after != want {
			t.Errorf("answered %v: the second look comes after %v, want %v", answered, after, want)
		}
	}
}
