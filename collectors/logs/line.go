package logs

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"time"
)

// A Line is one line of a log, freed of what carried it.
type Line struct {
	At   time.Time // zero if it does not say; of klog without a carrier, in the year 0
	Text string    // as the component wrote it
	Kind Kind
}

// A Kind is the shape of a line.
type Kind int

// The kinds. Other is a line that carries on another, or is of no shape known.
const (
	Other Kind = iota
	Klog
	Zap
	Capnslog
)

var (
	klogLine   = regexp.MustCompile(`^[IWEF](\d{4} \d\d:\d\d:\d\d\.\d{6})\s+\d+ [^:\s]+:\d+\] `)
	capnsLine  = regexp.MustCompile(`^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+) [DINWEC] \| `)
	criLine    = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\S+) (?:stdout|stderr) [FP] `)
	sinceLine  = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|[-+]\d\d:\d\d)) `)                       // kubectl logs --timestamps
	kernelLine = regexp.MustCompile(`^\[ *\d+\.\d{6}\] |^\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] `) // dmesg, and dmesg -T
	goFatal    = regexp.MustCompile(`^(fatal error: |runtime: out of memory|panic: )`)
	journal    = regexp.MustCompile(`^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ ([\w./@-]+)(?:\[\d+\])?: `)
	errorLine  = regexp.MustCompile(`^(Error from server|error:|Error:|Unable to connect to the server|x509: |The connection to the server )`)
)

// Parse reads one line. It never fails: what has no known shape is Other.
func Parse(b []byte) Line {
	s := strings.ToValidUTF8(string(bytes.TrimLeft(b, "\x00")), "?")
	var l Line
	if s == "" {
		return l
	}
	for range 3 { // carriers may be nested: journald around Docker
		rest, at, ok := uncarry(s)
		if !ok {
			break
		}
		s = rest
		if !at.IsZero() {
			l.At = at
		}
	}
	l.Text = s
	if s == "" {
		return l
	}
	switch c := s[0]; {
	case c == 'I' || c == 'W' || c == 'E' || c == 'F':
		m := klogLine.FindStringSubmatch(s)
		if m == nil {
			break
		}
		l.Kind = Klog
		if l.At.IsZero() || l.At.Year() == 0 {
			l.At, _ = time.Parse("0102 15:04:05.000000", m[1])
		}
	case digit(c):
		m := capnsLine.FindStringSubmatch(s)
		if m == nil {
			break
		}
		l.Kind = Capnslog
		if t, err := time.Parse("2006-01-02 15:04:05.999999999", m[1]); err == nil {
			l.At = t
		}
	case c == '{':
		l.json(s)
	}
	return l
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// uncarry takes off the prefix of what carried a line.
func uncarry(s string) (rest string, at time.Time, ok bool) {
	const shortest = len("Jan  2 15:04:05")
	switch {
	case len(s) < shortest:
		return s, at, false
	case digit(s[0]) && s[10] == 'T':
		for _, re := range [...]*regexp.Regexp{criLine, sinceLine} {
			if m := re.FindStringSubmatch(s); m != nil {
				at, _ = time.Parse(time.RFC3339Nano, m[1])
				return s[len(m[0]):], at, true
			}
		}
	case s[3] == ' ' && s[6] == ' ' && s[9] == ':':
		if m := journal.FindString(s); m != "" {
			at, _ = time.Parse("Jan _2 15:04:05", s[:shortest]) // as klog, without its year
			return s[len(m):], at, true
		}
	}
	if strings.HasPrefix(s, `{"log":"`) {
		var d struct {
			Log  string
			Time time.Time
		}
		if json.Unmarshal([]byte(s), &d) == nil {
			return strings.TrimRight(d.Log, "\n"), d.Time, true
		}
	}
	return s, at, false
}

// json reads a line of zap or of klog in JSON.
func (l *Line) json(s string) {
	var v struct {
		Level  string
		TS     any
		Msg    *string
		Caller string
	}
	if json.Unmarshal([]byte(s), &v) != nil || v.TS == nil || v.Msg == nil {
		return
	}
	switch ts := v.TS.(type) {
	case string:
		for _, f := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700"} {
			if t, err := time.Parse(f, ts); err == nil {
				l.At = t
				break
			}
		}
	case float64:
		if ts > 1e11 {
			ts /= 1e3
		}
		if ts > 1e8 && ts < 1e11 {
			sec, frac := math.Modf(ts)
			l.At = time.Unix(int64(sec), int64(frac*1e9)).UTC()
		}
	}
	l.Kind = Klog
	if v.Level != "" {
		l.Kind = Zap
	}
	l.Text = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(s)
}

// Looks reports whether a line looks like one of a log, or like what a client
// prints when a request fails.
func Looks(line string) bool {
	if errorLine.MatchString(line) {
		return true
	}
	if kernelLine.MatchString(line) || goFatal.MatchString(line) {
		return true
	}
	if m := journal.FindStringSubmatch(line); m != nil && (m[1] == "kernel" || m[1] == "kubelet") {
		return true
	}
	return Parse([]byte(line[:min(len(line), maxLine)])).Kind != Other
}

const maxLine = 32 << 10

// Dated puts a time without a year into the year that makes it the latest that
// is not after ref by more than a day: clocks differ, and klog has no year.
func Dated(t, ref time.Time) time.Time {
	if t.IsZero() || t.Year() != 0 {
		return t
	}
	out := time.Date(ref.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	if out.After(ref.Add(24 * time.Hour)) {
		out = time.Date(ref.Year()-1, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	}
	return out
}
