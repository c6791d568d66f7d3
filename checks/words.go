package checks

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// Bytes writes a size as an operator reads it: "1.9 GiB".
func Bytes(n int64) string {
	const unit = 1024
	if n > -unit && n < unit {
		return strconv.FormatInt(n, 10) + " B"
	}
	x, i := float64(n)/unit, 0
	for math.Abs(x) >= 999.5 && i < 4 {
		x /= unit
		i++
	}
	digits := 1
	if math.Abs(x) >= 99.95 {
		digits = 0
	}
	return strconv.FormatFloat(x, 'f', digits, 64) + " " + "KMGTP"[i:i+1] + "iB"
}

// Seconds writes a duration in seconds with two or three digits: "3.4 ms".
func Seconds(s float64) string {
	switch a := math.Abs(s); {
	case a >= 3600:
		return Span(time.Duration(s * float64(time.Second)))
	case a >= 99.5:
		return fmt.Sprintf("%.0f s", s)
	case a >= 1:
		return fmt.Sprintf("%.2g s", s)
	case a >= 0.0995:
		return fmt.Sprintf("%.0f ms", s*1e3)
	case a >= 0.001:
		return fmt.Sprintf("%.2g ms", s*1e3)
	case a == 0:
		return "0 s"
	case a >= 99.5e-6:
		return fmt.Sprintf("%.0f µs", s*1e6)
	}
	return fmt.Sprintf("%.2g µs", s*1e6)
}

// Span writes a long time with one unit, two where it helps: "3d 4h", "12s".
func Span(d time.Duration) string {
	d = d.Abs().Round(time.Second)
	switch {
	case d >= 48*time.Hour:
		return pair(d, 24*time.Hour, "d", time.Hour, "h")
	case d >= time.Hour:
		return pair(d, time.Hour, "h", time.Minute, "m")
	case d >= time.Minute:
		return pair(d, time.Minute, "m", time.Second, "s")
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

func pair(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	b, s := d/big, d%big/small
	if s == 0 {
		return fmt.Sprintf("%d%s", b, bigName)
	}
	return fmt.Sprintf("%d%s %d%s", b, bigName, s, smallName)
}

// Percent writes a ratio: "98%", "0.3%".
func Percent(ratio float64) string {
	p := ratio * 100
	switch {
	case p == 0 || p >= 9.95:
		return fmt.Sprintf("%.0f%%", p)
	case p >= 0.095:
		return fmt.Sprintf("%.1f%%", p)
	}
	return fmt.Sprintf("%.2g%%", p)
}

// Quantile writes an estimate of a quantile: "12 ms", ">8.2 s".
func Quantile(q metrics.Quantile) string {
	if q.Beyond {
		return ">" + Seconds(q.Value)
	}
	return Seconds(q.Value)
}

// Count writes a number with its noun: "1 pod", "3 pods".
func Count[N int | int64 | int32 | float64](n N, noun string) string {
	s := strconv.FormatFloat(float64(n), 'f', -1, 64)
	if n == 1 {
		return s + " " + noun
	}
	switch {
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ey"):
		return s + " " + strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "s"):
		return s + " " + noun + "es"
	}
	return s + " " + noun + "s"
}

// List writes names, the first few of many: "a, b, c and 5 more".
func List(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
