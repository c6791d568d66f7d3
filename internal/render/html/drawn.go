package html

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/term"
	"github.com/ktriage/ktriage/internal/vitals"
)

// A Past is what the vitals were in an earlier run.
type Past struct {
	At     time.Time
	Vitals []vitals.Vital
}

// A point is one number of an earlier run.
type point struct {
	at    time.Time
	value float64
}

// key tells which numbers of two runs are of one thing.
func key(v vitals.Vital) string {
	return strings.Join([]string{string(v.Component), v.Target.String(), v.Name, v.Of, v.Unit, string(v.Basis)}, "\x00")
}

// courses are the numbers of earlier runs by what they are of, the earliest
// first, as past is.
func courses(past []Past) map[string][]point {
	out := map[string][]point{}
	for _, p := range past {
		for _, v := range p.Vitals {
			out[key(v)] = append(out[key(v)], point{p.At, v.Value})
		}
	}
	return out
}

const (
	courseWidth  = 96
	courseHeight = 22
)

// course draws a number over earlier runs and this one. A scale of its own
// begins at zero, so that a number that hardly moves looks like it. Runs at
// different distances stand at different distances.
func course(v vitals.Vital, before []point) template.HTML {
	if len(before) < 2 || bad(v.Value) || v.Text != "" { // a name has no course
		return ""
	}
	most, first := v.Value, before[0].at
	for _, p := range before {
		if bad(p.value) {
			return ""
		}
		most = max(most, p.value)
	}
	// The present run is as far from the last as runs are from each other.
	last := before[len(before)-1].at
	step := last.Sub(first) / time.Duration(len(before)-1)
	span := float64(last.Add(step).Sub(first))
	if most <= 0 || span <= 0 {
		return ""
	}
	const pad = 2
	place := func(at time.Time, value float64) (x, y float64) {
		return pad + (courseWidth-2*pad)*float64(at.Sub(first))/span, courseHeight - pad - (courseHeight-2*pad)*max(0, value)/most
	}
	var line strings.Builder
	for _, p := range before {
		x, y := place(p.at, p.value)
		fmt.Fprintf(&line, "%.1f,%.1f ", x, y)
	}
	x, y := place(last.Add(step), v.Value)
	fmt.Fprintf(&line, "%.1f,%.1f", x, y)
	scale := v
	scale.Value, scale.AtLeast, scale.Text, scale.Basis = most, false, "", checks.AtInstant
	label := fmt.Sprintf("%s over %d runs, at most %s", v.Name, len(before)+1, scale.String())
	return template.HTML(fmt.Sprintf(`<svg class="course" role="img" aria-label="%s" width="%d" height="%d" viewBox="0 0 %d %d"><title>%s</title><polyline points="%s"/><circle cx="%.1f" cy="%.1f" r="2"/></svg>`,
		escaped(label), courseWidth, courseHeight, courseWidth, courseHeight, escaped(label), line.String(), x, y))
}

const (
	bucketWidth  = 7
	bucketHeight = 22
	// maxBuckets bounds a drawing: what is in a file is not ours. The histograms
	// of Kubernetes have up to 40.
	maxBuckets = 60
)

// buckets draws how the observations are spread that a quantile was taken from.
func buckets(v vitals.Vital) template.HTML {
	most, all := 0.0, 0.0
	for _, b := range v.Buckets {
		if bad(b.Count) || bad(b.Over) || bad(b.UpTo) || b.Count < 0 {
			return ""
		}
		most, all = max(most, b.Count), all+b.Count
	}
	if most <= 0 || len(v.Buckets) > maxBuckets {
		return ""
	}
	width := bucketWidth * len(v.Buckets)
	first, last := v.Buckets[0], v.Buckets[len(v.Buckets)-1]
	label := fmt.Sprintf("%.0f observations of %s, %s", all, v.Name, within(v, first, last))
	svg := fmt.Sprintf(`<svg class="spread" role="img" aria-label="%s" width="%d" height="%d" viewBox="0 0 %d %d">`, escaped(label), width, bucketHeight+1, width, bucketHeight+1)
	for i, b := range v.Buckets {
		h := bucketHeight * b.Count / most
		if b.Count > 0 {
			h = max(h, 1) // what is there is seen
		}
		svg += fmt.Sprintf(`<rect x="%d" y="%.1f" width="%d" height="%.1f"><title>%s</title></rect>`, i*bucketWidth, bucketHeight-h, bucketWidth-1, h, escaped(fmt.Sprintf("%s: %.0f", within(v, b, b), b.Count)))
	}
	return template.HTML(svg + fmt.Sprintf(`<path d="M0 %.1fH%d"/></svg> <small>%s</small>`, bucketHeight+.5, width, escaped(fmt.Sprintf("%.0f, %s", all, within(v, first, last)))))
}

// within says between which limits the observations of some buckets are.
func within(v vitals.Vital, first, last vitals.Bucket) string {
	switch {
	case last.UpTo <= 0:
		return "above " + edge(v, first.Over)
	case first.Over <= 0:
		return "up to " + edge(v, last.UpTo)
	}
	return edge(v, first.Over) + " to " + edge(v, last.UpTo)
}

// edge writes a limit of a bucket as the vital is written.
func edge(v vitals.Vital, x float64) string {
	return vitals.Vital{Value: x, Unit: v.Unit}.String()
}

func bad(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

func escaped(s string) string { return template.HTMLEscapeString(term.Clean(s)) }
