package metrics

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Label is one name and value of a series.
type Label struct{ Name, Value string }

// A Series is one sample with its labels, sorted by name.
type Series struct {
	Labels []Label
	Value  float64
}

// Get returns the value of a label, or "" if the series does not have it.
func (s Series) Get(name string) string {
	for _, l := range s.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// A Match is a condition on a series.
type Match func(Series) bool

// Eq matches series whose label has one of the values.
func Eq(name string, values ...string) Match {
	return func(s Series) bool { return slices.Contains(values, s.Get(name)) }
}

// Not matches series whose label has none of the values.
func Not(name string, values ...string) Match {
	return func(s Series) bool { return !slices.Contains(values, s.Get(name)) }
}

func matches(s Series, ms []Match) bool {
	for _, m := range ms {
		if !m(s) {
			return false
		}
	}
	return true
}

// A Set is what was kept of one scrape. It does not change once parsed.
type Set struct {
	series map[string][]Series // by sample name, _bucket and the like included
	types  map[string]string   // by family name
}

// Has reports whether a family, or a sample, of this name was served. A family
// that was served with all its series at zero is there.
func (s *Set) Has(name string) bool {
	return len(s.series[name]) > 0 || len(s.series[name+"_bucket"]) > 0 || len(s.series[name+"_count"]) > 0
}

// First returns the first of the names that was served: what a metric was
// called over time. It returns the first name if none was.
func (s *Set) First(names ...string) string {
	for _, n := range names {
		if s.Has(n) {
			return n
		}
	}
	return names[0]
}

// Series returns the series of a sample name that match. The caller must not
// change them.
func (s *Set) Series(name string, ms ...Match) []Series {
	if len(ms) == 0 {
		return s.series[name]
	}
	var out []Series
	for _, x := range s.series[name] {
		if matches(x, ms) {
			out = append(out, x)
		}
	}
	return out
}

// Sum adds the series of a sample name that match. It is false if none does.
func (s *Set) Sum(name string, ms ...Match) (float64, bool) {
	var sum float64
	xs := s.Series(name, ms...)
	for _, x := range xs {
		sum += x.Value
	}
	return sum, len(xs) > 0
}

// Max returns the largest of the series of a sample name that match. It is
// false if none does.
func (s *Set) Max(name string, ms ...Match) (float64, bool) {
	xs := s.Series(name, ms...)
	if len(xs) == 0 {
		return 0, false
	}
	return slices.MaxFunc(xs, func(a, b Series) int { return cmp.Compare(a.Value, b.Value) }).Value, true
}

// Values returns the values of a label among the series of a sample name, sorted.
func (s *Set) Values(name, label string, ms ...Match) []string {
	seen := map[string]bool{}
	for _, x := range s.Series(name, ms...) {
		seen[x.Get(label)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Histogram adds up the histograms of a family that match. It is false if none
// does.
func (s *Set) Histogram(name string, ms ...Match) (Histogram, bool) {
	h, ok := histograms(s, name, together(ms))[struct{}{}]
	return h, ok
}

// together is the key of one group, of the series that match.
func together(ms []Match) Key[struct{}] {
	return func(s Series) (struct{}, bool) { return struct{}{}, matches(s, ms) }
}

// Names returns the sample names of the set, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.series)) }

// WriteTo writes the set in the text format, in a stable order, so that Parse
// reads the same set again.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	bw := bufio.NewWriter(w)
	var n int64
	for _, f := range slices.Sorted(maps.Keys(s.types)) {
		k, _ := fmt.Fprintf(bw, "# TYPE %s %s\n", f, s.types[f])
		n += int64(k)
	}
	for _, name := range s.Names() {
		for _, x := range s.series[name] {
			bw.WriteString(name)
			n += int64(len(name))
			if len(x.Labels) > 0 {
				var b strings.Builder
				for i, l := range x.Labels {
					b.WriteByte("{,"[min(i, 1)])
					b.WriteString(l.Name)
					b.WriteString(`="`)
					b.WriteString(escape.Replace(l.Value))
					b.WriteByte('"')
				}
				b.WriteByte('}')
				bw.WriteString(b.String())
				n += int64(b.Len())
			}
			v := strconv.FormatFloat(x.Value, 'g', -1, 64)
			bw.WriteString(" " + v + "\n")
			n += int64(len(v) + 2)
		}
	}
	return n, bw.Flush()
}

var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
