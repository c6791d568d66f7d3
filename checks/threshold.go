package checks

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Unit says what a threshold is a number of. It is kept in base units.
type Unit string

// The units.
const (
	InRatio   Unit = "ratio"   // of a whole: 0.8, or 80%
	InSeconds Unit = "seconds" // 0.25, or 250ms, 5m, 30d
	InBytes   Unit = "bytes"   // 1073741824, or 1GiB
	InRate    Unit = "a second"
	InNumber  Unit = "number" // of things, or times
)

// A Threshold is a number that a check judges by, and that the configuration can
// move. It is declared beside the check, with its reason and its source.
type Threshold struct {
	Name    string // "warn"; unique within the check, for ever
	Unit    Unit
	Default float64
	Doc     string // what it is a number of, so that "warn: 0.7 of the file descriptors that it may open" can be read
	Source  string // where the default comes from
}

// NewThreshold declares a threshold.
func NewThreshold(name string, unit Unit, value float64, doc, source string) *Threshold {
	return &Threshold{name, unit, value, doc, source}
}

// String writes the default: "70%".
func (t *Threshold) String() string { return t.Unit.Format(t.Default) }

// Format writes a number of the unit as a reader likes it, and Parse reads it.
func (u Unit) Format(x float64) string {
	switch u {
	case InRatio:
		return strconv.FormatFloat(math.Round(x*1e6)/1e4, 'f', -1, 64) + "%"
	case InSeconds:
		return seconds(x)
	case InBytes:
		for i, name := range []string{"TiB", "GiB", "MiB", "KiB"} {
			size := math.Pow(1024, float64(4-i))
			if n := x / size; n >= 1 && n < 1024 && n == math.Trunc(n) {
				return strconv.FormatFloat(n, 'f', -1, 64) + name
			}
		}
		return strconv.FormatFloat(x, 'f', -1, 64)
	case InRate:
		return strconv.FormatFloat(x, 'g', 6, 64) + "/s"
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func seconds(x float64) string {
	d := time.Duration(math.Round(x * float64(time.Second)))
	switch {
	case d >= 48*time.Hour && d%(24*time.Hour) == 0:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	case d == 0:
		return "0s"
	}
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} { // 5m0s
		if cut, ok := strings.CutSuffix(s, zero); ok {
			s = cut + zero[:1]
		}
	}
	return s
}

// Parse reads a number of the unit. The error says what would be understood.
func (u Unit) Parse(s string) (float64, error) {
	s = strings.TrimSpace(s)
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		x, err = u.parse(s)
	}
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return 0, fmt.Errorf("%q is no number %s", s, map[Unit]string{
			InRatio: "such as 0.8 or 80%", InSeconds: "of seconds such as 0.25, 250ms, 5m or 30d", InBytes: "of bytes such as 2147483648, 2GiB or 500MB",
			InRate: "a second such as 50 or 50/s", InNumber: "such as 100",
		}[u])
	}
	return x, nil
}

func (u Unit) parse(s string) (float64, error) {
	cut := func(suffix string, factor float64) (float64, error) {
		x, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, suffix)), 64)
		return x * factor, err
	}
	switch u {
	case InRatio:
		if strings.HasSuffix(s, "%") {
			return cut("%", 0.01)
		}
	case InSeconds:
		if strings.HasSuffix(s, "d") {
			return cut("d", 24*3600)
		}
		d, err := time.ParseDuration(s)
		return d.Seconds(), err
	case InRate:
		if strings.HasSuffix(s, "/s") {
			return cut("/s", 1)
		}
	case InBytes:
		for _, size := range []struct {
			name   string
			factor float64
		}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}} {
			if strings.HasSuffix(s, size.name) {
				return cut(size.name, size.factor)
			}
		}
	}
	return 0, strconv.ErrSyntax
}

// A Moved threshold has another value than its default.
type Moved struct {
	Value float64
	From  string // where that is written: "/etc/ktriage/ktriage.yaml:12"
}

// A Tuning holds the thresholds that are moved. A nil one moves none.
type Tuning map[ID]map[string]Moved

// At returns what a threshold of the running check is: the configured value, or
// its default.
func (p *Pass) At(t *Threshold) float64 {
	p.reads(t)
	if m, ok := p.tuning[p.check.ID][t.Name]; ok {
		return m.Value
	}
	return t.Default
}

// Span is At of a threshold in seconds, as a duration.
func (p *Pass) Span(t *Threshold) time.Duration {
	return time.Duration(p.At(t) * float64(time.Second))
}

// Source says where the limits of a verdict come from: where one of them is
// moved, the place where that is written, else the source of the first.
func (p *Pass) Source(ts ...*Threshold) string {
	for _, t := range ts {
		p.reads(t)
		if m, ok := p.tuning[p.check.ID][t.Name]; ok {
			return m.From
		}
	}
	return ts[0].Source
}

func (p *Pass) reads(t *Threshold) {
	for _, have := range p.check.Thresholds {
		if have == t {
			return
		}
	}
	panic(fmt.Sprintf("check %s reads the threshold %s, which its Thresholds do not list", p.check.ID, t.Name))
}

// Level tells the status of a number that is bad from warn on and worse from
// critical on, and the limit with its source to show it with.
func (p *Pass) Level(x float64, warn, critical *Threshold) (s Status, limit float64, source string) {
	s, limit = Level(x, p.At(warn), p.At(critical))
	if s == Critical {
		return s, limit, p.Source(critical)
	}
	return s, limit, p.Source(warn)
}

// Limits are the latencies of those that have a threshold, as it is now.
func (p *Pass) Limits(ls []Limit) []Limit {
	out := append([]Limit(nil), ls...)
	for i := range out {
		if t := out[i].At; t != nil {
			out[i].Seconds, out[i].Source = p.At(t), p.Source(t)
		}
	}
	return out
}
