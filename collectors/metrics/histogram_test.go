package metrics

import (
	"math"
	"strings"
	"testing"
	"time"
)

func histogram(edges []float64, cumulative ...float64) Histogram {
	h := Histogram{Count: cumulative[len(cumulative)-1]}
	for i, e := range append(edges, math.Inf(1)) {
		h.Buckets = append(h.Buckets, Bucket{e, cumulative[i]})
	}
	return h
}

func TestAbove(t *testing.T) {
	h := histogram([]float64{0.008, 0.016, 0.512}, 90, 95, 99, 100)
	for _, tc := range []struct{ limit, n, edge float64 }{
		{0.008, 10, 0.008},
		{0.01, 5, 0.016},  // the next edge up: nothing is claimed that was not counted
		{0.5, 1, 0.512},   // "p99 over 0.5 s"
		{0.512, 1, 0.512}, // an edge itself
		{1, 1, 0.512},     // beyond the last edge: that is the best there is
	} {
		if n, edge := h.Above(tc.limit); n != tc.n || edge != tc.edge {
			t.Errorf("Above(%v) = %v, %v; want %v, %v", tc.limit, n, edge, tc.n, tc.edge)
		}
	}
}

func TestQuantile(t *testing.T) {
	h := histogram([]float64{1, 2, 4}, 50, 90, 99, 100)
	for _, tc := range []struct {
		q, want float64
		beyond  bool
	}{{0.5, 1, false}, {0.9, 2, false}, {0.7, 1.5, false}, {0.999, 4, true}} {
		got, ok := h.Quantile(tc.q)
		if !ok || math.Abs(got.Value-tc.want) > 1e-9 || got.Beyond != tc.beyond {
			t.Errorf("Quantile(%v) = %v, %v; want %v", tc.q, got, ok, tc.want)
		}
	}
	if _, ok := (Histogram{}).Quantile(0.99); ok {
		t.Error("an empty histogram has a quantile")
	}
}

func TestFewObservationsProveNothing(t *testing.T) {
	for _, tc := range []struct {
		n, k              float64
		exceeds, excludes bool
	}{
		{0, 0, false, false},
		{10, 0, false, false}, // ten good ones do not make a p99
		{2, 2, false, false},  // two of two, and still only two
		{10, 2, false, false}, // 0.4%: as a run makes a hundred tests, that happens
		{10, 3, true, false},  // 0.01%
		{14, 14, true, false},
		{100, 5, false, false}, // 0.3%
		{100, 6, true, false},  // 0.05%
		{300, 0, false, true},
		{1000, 10, false, false}, // exactly the share
		{1e6, 10001, true, false},
		{1e6, 9999, false, true},
	} {
		if got := Exceeds(tc.n, tc.k, 0.01); got != tc.exceeds {
			t.Errorf("Exceeds(%v, %v) = %v", tc.n, tc.k, got)
		}
		if got := Excludes(tc.n, tc.k, 0.01); got != tc.excludes {
			t.Errorf("Excludes(%v, %v) = %v", tc.n, tc.k, got)
		}
	}
}

func TestWindowNoticesAnotherInstance(t *testing.T) {
	from := time.Unix(1000, 0)
	parse := func(s string) *Set {
		set, err := Parse(strings.NewReader(s), nil)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	for _, tc := range []struct{ name, first, last, broken string }{
		{"the same instance", "process_start_time_seconds 5\n# TYPE a counter\na 1\n", "process_start_time_seconds 5\n# TYPE a counter\na 3\n", ""},
		{"a restart", "process_start_time_seconds 5\na 1\n", "process_start_time_seconds 900\na 3\n", "another instance"},
		{"a counter that fell, without start times", "# TYPE a counter\na 5\n", "# TYPE a counter\na 3\n", "a went backwards"},
		{"a gauge that fell", "# TYPE a gauge\na 5\n", "# TYPE a gauge\na 3\n", ""},
		{"a histogram that fell", "# TYPE h histogram\nh_bucket{le=\"+Inf\"} 5\nh_count 5\n", "# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_count 2\n", "h_count went backwards"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := NewWindow(parse(tc.first), parse(tc.last), from, from.Add(10*time.Second))
			if (w.Broken == "") != (tc.broken == "") || !strings.Contains(w.Broken, tc.broken) {
				t.Errorf("Broken = %q, want %q", w.Broken, tc.broken)
			}
			d, ok := w.Delta("a")
			if tc.broken != "" && (ok || d != 0) {
				t.Errorf("a broken window has a delta %v", d)
			}
			if tc.name == "the same instance" {
				if r, ok := w.Rate("a"); !ok || r != 0.2 {
					t.Errorf("Rate = %v, %v", r, ok)
				}
			}
		})
	}
}

func TestACounterThatIsNewWasZero(t *testing.T) {
	first, _ := Parse(strings.NewReader("process_start_time_seconds 5\n"), nil)
	last, _ := Parse(strings.NewReader("process_start_time_seconds 5\nerrors{code=\"500\"} 4\n"), nil)
	w := NewWindow(first, last, time.Unix(1, 0), time.Unix(11, 0))
	if d, ok := w.Delta("errors"); !ok || d != 4 {
		t.Errorf("Delta = %v, %v", d, ok)
	}
}
