package metrics

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const groupFirst = `# TYPE c counter
c{a="x",b="1"} 1
c{a="x",b="2"} 2
c{a="y",b="1"} 5
# TYPE h histogram
h_bucket{a="x",le="1"} 1
h_bucket{a="x",le="+Inf"} 1
h_sum{a="x"} 0.5
h_count{a="x"} 1
`

const groupLast = `# TYPE c counter
c{a="x",b="1"} 4
c{a="x",b="2"} 2
c{a="y",b="1"} 5
c{a="z",b="1"} 7
# TYPE h histogram
h_bucket{a="x",le="1"} 3
h_bucket{a="x",le="+Inf"} 4
h_sum{a="x"} 9
h_count{a="x"} 4
h_bucket{a="y",le="1"} 2
h_bucket{a="y",le="+Inf"} 2
h_sum{a="y"} 1
h_count{a="y"} 2
`

func window(t *testing.T) Window {
	t.Helper()
	first, err := Parse(strings.NewReader(groupFirst), nil)
	if err != nil {
		t.Fatal(err)
	}
	last, err := Parse(strings.NewReader(groupLast), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1000, 0)
	return NewWindow(first, last, at, at.Add(10*time.Second))
}

func byA(s Series) (string, bool) { return s.Get("a"), true }

func TestGrowths(t *testing.T) {
	got := Growths(window(t), "c", byA)
	want := map[string]Growth{"x": {3, 6}, "y": {0, 5}, "z": {7, 7}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w := window(t)
	w.First, w.Broken = nil, "there was only one look"
	if got := Growths(w, "c", byA)["x"]; got != (Growth{0, 6}) {
		t.Errorf("without a window: got %v", got)
	}
}

func TestLatenciesAgreeWithLatency(t *testing.T) {
	w := window(t)
	got := Latencies(w, "h", byA)
	for _, a := range []string{"x", "y"} {
		want, ok := w.Latency("h", Eq("a", a))
		if !ok {
			t.Fatal("no latency of", a)
		}
		if diff := cmp.Diff(want, got[a]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", a, diff)
		}
	}
	all, _ := w.Latency("h")
	if diff := cmp.Diff(all, got["x"].Add(got["y"])); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
}

func TestAddOfDifferentBuckets(t *testing.T) {
	a := Histogram{Buckets: []Bucket{{1, 2}, {math.Inf(1), 3}}, Count: 3, Sum: 4}
	if diff := cmp.Diff(a, a.Add(Histogram{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(a, Histogram{}.Add(a)); diff != "" {
		t.Error(diff)
	}
}

// TestHistogramsThatAreCutOff has what is left where somebody copied the upper part
// of a body: what lies beyond the last bucket counts only if it is known to be next
// to nothing.
func TestHistogramsThatAreCutOff(t *testing.T) {
	for _, c := range []struct {
		name, body string
		count      float64 // 0: there is no histogram
	}{
		{"the tail is missing", "h_bucket{le=\"1\"} 9990\nh_bucket{le=\"2\"} 9999\n", 9999},
		{"half of it may be missing", "h_bucket{le=\"1\"} 40\nh_bucket{le=\"2\"} 90\n", 0},
		{"one bucket", "h_bucket{le=\"1\"} 40\n", 0},
		{"the bucket +Inf alone is missing", "h_bucket{le=\"1\"} 40\nh_bucket{le=\"2\"} 90\nh_sum 80\nh_count 100\n", 100},
		{"no bucket", "h_sum 80\nh_count 100\n", 0},
	} {
		set, err := Parse(strings.NewReader("# TYPE h histogram\n"+c.body), nil)
		if err != nil {
			t.Fatal(err)
		}
		h, ok := set.Histogram("h")
		if ok != (c.count != 0) || ok && (h.Count != c.count || !math.IsInf(h.Buckets[len(h.Buckets)-1].LE, 1)) {
			t.Errorf("%s: %v %+v, want a count of %v", c.name, ok, h, c.count)
		}
	}
}
