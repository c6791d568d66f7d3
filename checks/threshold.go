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
	d := span(x).Round(time.Microsecond)
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
	return span(p.At(t))
}

// span is a number of seconds as a duration, the longest that there is at most.
func span(x float64) time.Duration {
	return time.Duration(min(x*float64(time.Second), float64(math.MaxInt64/2)))
}

// attribute names, beside each limit that was moved, the place where that is
// written instead of the source of the default.
func (p *Pass) attribute() {
	moved := p.tuning[p.check.ID]
	if len(moved) == 0 {
		return
	}
	for _, f := range p.findings {
		if f.Status == Unknown || f.Status == OutOfScope {
			continue
		}
		said := map[string]bool{}
		for i := range f.Evidence {
			if from := movedOf(moved, f.Evidence[i], p.check.Thresholds); from != "" {
				f.Evidence[i].Source, said[from] = from, true
			}
		}
		for _, t := range p.check.Thresholds { // what no evidence shows is told all the same
			if m, ok := moved[t.Name]; ok && !said[m.From] {
				f.Evidence = append(f.Evidence, Evidence{Target: f.Target, Field: "threshold " + t.Name, Value: "moved from " + t.String(), Limit: t.Unit.Format(m.Value), Source: m.From})
			}
		}
	}
}

// movedOf returns where the limit of a piece of evidence was moved, if it was. A limit
// is known by how it is written; one that is written otherwise, as of a sum, by
// its source, unless a threshold that was not moved has that too.
func movedOf(moved map[string]Moved, e Evidence, ts []*Threshold) string {
	if e.Limit == "" {
		return ""
	}
	from, stays := "", false
	for _, t := range ts {
		m, ok := moved[t.Name]
		switch {
		case ok && written(m.Value, e.Limit):
			return m.From
		case ok && e.Source == t.Source:
			from = m.From
		case !ok && (e.Source == t.Source || written(t.Default, e.Limit)):
			stays = true
		}
	}
	if stays {
		return ""
	}
	return from
}

// written reports whether a limit's text is, or begins with, a number in one of
// the ways in which checks write them.
func written(x float64, limit string) bool {
	for _, s := range []string{Percent(x), Seconds(x), Span(span(x)), Bytes(int64(x)), fmt.Sprintf("%g", x), fmt.Sprintf("%.0f", x)} {
		if rest, ok := strings.CutPrefix(limit, s); ok && (rest == "" || rest[0] == ' ' || rest[0] == '/') {
			return true
		}
	}
	return false
}

func (p *Pass) reads(t *Threshold) {
	for _, have := range p.check.Thresholds {
		if have == t {
			return
		}
	}
	panic(fmt.Sprintf("check %s reads the threshold %s, which its Thresholds do not list", p.check.ID, t.Name))
}

// Limits are the latencies of those that have a threshold, as it is now.
func (p *Pass) Limits(ls []Limit) []Limit {
	out := append([]Limit(nil), ls...)
	for i := range out {
		if t := out[i].At; t != nil {
			out[i].Seconds = p.At(t)
		}
	}
	return out
}

// Secs is a duration as the default of a threshold in seconds.
func Secs(d time.Duration) float64 { return d.Seconds() }

// Whole is At of a threshold that is a number of things or of bytes.
func (p *Pass) Whole(t *Threshold) int64 { return int64(min(p.At(t), 1<<62)) }
