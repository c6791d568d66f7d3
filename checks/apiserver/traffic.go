package apiserver

import (
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

// count adds up requests over the window, or over the lifetime of the process
// where there is no window.
func count(t apiserver.Traffic, match func(apiserver.Row) bool) (float64, checks.Basis) {
	g := t.Sum(match)
	if t.Elapsed > 0 {
		return g.Window, checks.OverWindow
	}
	return g.Lifetime, checks.OverLifetime
}

// most returns the largest row of ordinary requests that match, and its count.
func most(t apiserver.Traffic, match func(apiserver.Row) bool) (apiserver.Row, float64) {
	var top apiserver.Row
	for _, r := range t.Rows {
		if t.Elapsed == 0 {
			r.Window = r.Lifetime
		}
		if r.Ordinary() && match(r) && r.Window > 0 && larger(r, top) {
			top = r
		}
	}
	return top, top.Window
}

// larger orders rows by count; of equal ones the first by name wins, so that a
// report is the same each time.
func larger(a, b apiserver.Row) bool {
	if a.Window != b.Window {
		return a.Window > b.Window
	}
	return a.Operation.String()+a.Code < b.Operation.String()+b.Code
}

// mostly names the largest part of a count: "; most: 500 POST pods (31)".
func mostly(top apiserver.Row, n float64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; most: %s %s (%.0f)", top.Code, top.Operation, n)
}

// shareOf writes a part of a whole: "0 of 412 requests", "31 of 412 requests (7.5%)".
func shareOf(k, n float64, noun string) string {
	s := fmt.Sprintf("%.0f of %s", k, checks.Count(n, noun))
	if k == 0 {
		return s
	}
	return s + " (" + percent(k/n) + ")"
}

// percent writes a ratio without telling apart what is next to nothing.
func percent(ratio float64) string {
	if ratio > 0 && ratio < 0.001 {
		return "under 0.1%"
	}
	return checks.Percent(ratio)
}
