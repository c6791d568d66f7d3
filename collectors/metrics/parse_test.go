package metrics

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func TestBrokenBodiesAreErrors(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"nothing", "", "the body holds no metrics"},
		{"only comments", "# HELP a b\n# TYPE a counter\n", "the body holds no metrics"},
		{"HTML", "<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>", `the body is HTML or XML, not metrics: "<!DOCTYPE html>"`},
		{"HTML in one line without end", "<html>login</html>", `the body is HTML or XML, not metrics: "<html>login</html>"`},
		{"a Status of the Kubernetes API", `{"kind":"Status"}`, `the body is JSON, not metrics: "{\"kind\":\"Status\"}"`},
		{"broken off in a name", "a 1\nb", `the body breaks off in line 2: "b"`},
		{"broken off in a value", "a 1\nb 12", `the body breaks off in line 2: "b 12"`},
		{"no value", "a 1\nb\n", `line 2: not a sample: "b"`},
		{"no number", "a x\n", `line 1: no value: "a x"`},
		{"labels without end", "a{b=\"c\n", "line 1: broken labels: \"a{b=\\\"c\""},
		{"label without value", "a{b} 1\n", `line 1: broken labels: "a{b} 1"`},
		{"prose", "upstream connect error\n", `line 1: no value: "upstream connect error"`},
		{"prose with punctuation", "Error: no\n", `line 1: no value: "Error: no"`},
		{"endless line", "a 1\n" + strings.Repeat("x", 2<<20), "line 2 is over 1048576 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set, err := Parse(strings.NewReader(tc.body), nil)
			if err == nil || err.Error() != tc.want || set != nil {
				t.Errorf("got %v, %v\nwant nothing and %q", set, err, tc.want)
			}
		})
	}
}

func TestABodyThatStopsIsAnError(t *testing.T) {
	r := io.MultiReader(strings.NewReader("a 1\nb 2\n"), &failing{})
	if set, err := Parse(r, nil); err == nil || !strings.Contains(err.Error(), "breaks off after line 2: connection reset") {
		t.Errorf("got %v, %v", set, err)
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, fmt.Errorf("connection reset") }

const body = `# HELP req requests
# TYPE req counter
req{verb="GET",code="200",who="a"} 10
req{verb="GET",code="200",who="b"} 5
req{verb="GET",code="500",who="a"} 1
req{verb="LIST",code="200",who="a \"quoted\" \\ and\nlong"} 7 1700000000000
# TYPE lat histogram
lat_bucket{verb="GET",le="0.1"} 90
lat_bucket{verb="GET",le="1"} 99
lat_bucket{verb="GET",le="+Inf"} 100
lat_sum{verb="GET"} 12.5
lat_count{verb="GET"} 100
other_thing 3
nan NaN
`

func TestUnwantedLabelsAreSummedAway(t *testing.T) {
	set, err := Parse(strings.NewReader(body), []Select{{Name: "req", By: []string{"code"}}, {Name: "lat"}})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	set.WriteTo(&got)
	want := `# TYPE lat histogram
# TYPE req counter
lat_bucket{le="+Inf"} 100
lat_bucket{le="0.1"} 90
lat_bucket{le="1"} 99
lat_count 100
lat_sum 12.5
req{code="200"} 22
req{code="500"} 1
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWhatIsWrittenReadsTheSame(t *testing.T) {
	first, err := Parse(strings.NewReader(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	var once, twice bytes.Buffer
	first.WriteTo(&once)
	second, err := Parse(&once, nil)
	if err != nil {
		t.Fatal(err)
	}
	first.WriteTo(&once)
	second.WriteTo(&twice)
	if diff := cmp.Diff(once.String(), twice.String()); diff != "" {
		t.Errorf("-first +second:\n%s", diff)
	}
}

func TestCovers(t *testing.T) {
	ab := []Select{{Name: "a", By: []string{"x", "y"}}, {Name: "b", By: []string{All}}}
	for _, tc := range []struct {
		want []Select
		ok   bool
	}{
		{[]Select{{Name: "a"}}, true},
		{[]Select{{Name: "a", By: []string{"y"}}, {Name: "b", By: []string{"z"}}}, true},
		{[]Select{{Name: "a", By: []string{"z"}}}, false},
		{[]Select{{Name: "c"}}, false},
	} {
		if got := Covers(ab, tc.want); got != tc.ok {
			t.Errorf("Covers(%v) = %v", tc.want, got)
		}
		if !Covers(Merge(ab, tc.want), tc.want) || !Covers(Merge(ab, tc.want), ab) {
			t.Errorf("Merge with %v does not cover both", tc.want)
		}
	}
}

// FuzzParse holds the reader against expfmt: of what both read, the values of
// every sample name must add up to the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(body))
	f.Add([]byte("a{b=\"c\",} 1e3\n"))
	f.Add([]byte("a { b = \"c\" } +Inf 12\n"))
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		set, err := Parse(bytes.NewReader(b), nil)
		if err == nil {
			var w bytes.Buffer
			set.WriteTo(&w)
			again, err := Parse(&w, nil)
			if err != nil {
				t.Fatalf("what was written does not read: %v", err)
			}
			if diff := cmp.Diff(set.Names(), again.Names()); diff != "" {
				t.Fatal(diff)
			}
		}
		if err != nil {
			return // expfmt takes more: "A+0", or a body that breaks off in a number
		}
		for name, fam := range reference(b) {
			var want float64
			for _, m := range fam.GetMetric() {
				if m.Untyped == nil && m.Gauge == nil && m.Counter == nil {
					want = math.NaN() // families of summaries and histograms are put together differently
				}
				want += m.GetUntyped().GetValue() + m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
			got, ok := set.Sum(name)
			if !math.IsNaN(want) && (!ok || got != want && math.Abs(got-want) > 1e-9*math.Abs(want)) {
				t.Fatalf("%s: expfmt reads %v, Parse %v, %v", name, want, got, ok)
			}
		}
	})
}

// reference reads with expfmt; nil where it finds an error, or panics, as it
// does on "{}0".
func reference(b []byte) (out map[string]*dto.MetricFamily) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	return families
}

// TestRealBodies reads real bodies whole, and holds the sums of every sample
// name against expfmt's.
func TestRealBodies(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.metrics")
	if len(files) == 0 {
		t.Fatal("no bodies in testdata")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			set, err := Parse(bytes.NewReader(b), nil)
			if err != nil {
				t.Fatal(err)
			}
			p := expfmt.NewTextParser(model.LegacyValidation)
			families, err := p.TextToMetricFamilies(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			for name, fam := range families {
				var want float64
				sample := name
				for _, m := range fam.GetMetric() {
					switch {
					case m.Histogram != nil:
						sample = name + "_count"
						want += float64(m.Histogram.GetSampleCount())
					case m.Summary != nil:
						sample = name + "_count"
						want += float64(m.Summary.GetSampleCount())
					default:
						want += m.GetUntyped().GetValue() + m.GetGauge().GetValue() + m.GetCounter().GetValue()
					}
				}
				if got, ok := set.Sum(sample); !ok || math.Abs(got-want) > 1e-6*math.Abs(want) {
					t.Errorf("%s: got %v, %v; want %v", sample, got, ok, want)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	// Shaped like the body of a large API server: one family dominates.
	var body bytes.Buffer
	for v := range 8 {
		for r := range 400 {
			for le := range 30 {
				fmt.Fprintf(&body, "apiserver_request_duration_seconds_bucket{component=\"apiserver\",dry_run=\"\",group=\"apps\",resource=\"res%d\",scope=\"cluster\",subresource=\"\",verb=\"V%d\",version=\"v1\",le=\"%d\"} %d\n", r, v, le, le*r)
			}
		}
	}
	b.SetBytes(int64(body.Len()))
	for _, bc := range []struct {
		name string
		want []Select
	}{
		{"all", nil},
		{"two labels", []Select{{Name: "apiserver_request_duration_seconds", By: []string{"verb", "scope"}}}},
		{"unwanted", []Select{{Name: "etcd_request_duration_seconds"}}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.SetBytes(int64(body.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(bytes.NewReader(body.Bytes()), bc.want); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
