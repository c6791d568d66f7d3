package vitals

import (
	"fmt"
	"math"
	"time"

	"github.com/ktriage/ktriage/checks"
)

// String writes a vital's number with its unit, and what it rests on where that
// is not the window or the moment.
func (v Vital) String() string {
	var s string
	switch v.Unit {
	case "s":
		s = span(v.Value)
	case "B":
		s = checks.Bytes(int64(v.Value))
	case "%":
		s = checks.Percent(v.Value)
	case "1/s":
		s = number(v.Value) + "/s"
	default:
		s = number(v.Value)
	}
	if v.AtLeast {
		s = ">" + s
	}
	switch {
	case v.Text != "" && (v.Value == 1 || v.Value < 0): // the leader's name; "unlimited"
		s = v.Text
	case v.Text != "":
		s = v.Text + " " + s
	}
	switch v.Basis {
	case checks.OverLifetime:
		s += " (since start)"
	case checks.OverWindow:
		if v.Unit == "" {
			s += " (in window)"
		}
	}
	return s
}

// Held says, of a lease, who holds it and since when it was not renewed.
func (v Vital) Held() string {
	held := "held by " + v.Text
	if v.Text == "" {
		held = "held by nobody"
	}
	age := "under 1 s"
	if v.Value >= 1 {
		age = span(v.Value)
	}
	return held + ", renewed " + age + " ago"
}

// span writes seconds: exactly where they are few, else as a time.
func span(s float64) string {
	if s >= 60 {
		return checks.Span(time.Duration(s * float64(time.Second)))
	}
	return checks.Seconds(s)
}

func number(x float64) string {
	switch a := math.Abs(x); {
	case x == math.Trunc(x) && a < 1e7, a >= 100:
		return fmt.Sprintf("%.0f", x)
	case a >= 0.1:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2g", x)
}
