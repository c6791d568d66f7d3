package logs

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// A Log is what one log says.
type Log struct {
	Name   string       `json:"name"`
	Of     string       `json:"of,omitempty"`   // the instance whose it is, as targets name it; empty if it is not known
	Role   cluster.Role `json:"role,omitempty"` // whose it is; empty if it does not say
	Lines  int          `json:"lines"`
	First  time.Time    `json:"first,omitzero"`
	Last   time.Time    `json:"last,omitzero"`
	Year   int          `json:"year,omitempty"`   // of lines that do not tell theirs, as others do; 0 if none does
	NoYear bool         `json:"noYear,omitempty"` // the year of its times is a guess
	At     time.Time    `json:"at"`               // when it was read: what stopped long before is history
	Hits   []Hit        `json:"hits,omitempty"`
}

// A Hit is what a log has of one signature.
type Hit struct {
	ID     string         `json:"id"`
	Count  int            `json:"count"`
	First  time.Time      `json:"first,omitzero"`
	Last   time.Time      `json:"last,omitzero"`
	Sample string         `json:"sample"`          // one line, cut; the worst where lines tell how long it took
	Worst  time.Duration  `json:"worst,omitempty"` // the longest that a line tells
	Causes map[string]int `json:"causes,omitempty"`
}

// Cause is the most frequent of the causes that the lines give.
func (h Hit) Cause() string {
	best := ""
	for c, n := range h.Causes {
		if n > h.Causes[best] || n == h.Causes[best] && c < best {
			best = c
		}
	}
	return best
}

// A Tally is all logs that there are.
type Tally struct {
	Logs   []Log    `json:"logs"`
	Missed []Missed `json:"missed,omitempty"`
}

// A Missed log is one that was to be read, and was not.
type Missed struct {
	Of   string          `json:"of"`
	Role cluster.Role    `json:"role"`
	Gap  *collectors.Gap `json:"gap"`
}

const maxSample = 400

// A Reader takes in a log line by line.
type Reader struct {
	log    Log
	hits   map[string]*Hit
	byZap  int
	byKlog int
}

// NewReader starts a log. Its name may tell whose it is.
func NewReader(name string) *Reader {
	r := &Reader{log: Log{Name: name}, hits: map[string]*Hit{}}
	for _, role := range [...]cluster.Role{cluster.RoleAPIServer, cluster.RoleScheduler, cluster.RoleCloudController, cluster.RoleControllers, cluster.RoleEtcd} {
		if strings.Contains(name, string(role)) {
			r.log.Role = role
			break
		}
	}
	return r
}

// Add takes in one line.
func (r *Reader) Add(b []byte) {
	if len(b) == 0 {
		return
	}
	l := Parse(b[:min(len(b), maxLine)])
	r.log.Lines++
	switch l.Kind {
	case Zap, Capnslog:
		r.byZap++
	case Klog:
		r.byKlog++
	}
	if l.Kind == Klog && r.log.Year == 0 && !l.At.IsZero() && l.At.Year() == 0 {
		r.log.Year = yearIn(l)
	}
	if !l.At.IsZero() {
		if r.log.First.IsZero() || l.At.Before(r.log.First) {
			r.log.First = l.At
		}
		if r.log.Last.IsZero() || l.At.After(r.log.Last) {
			r.log.Last = l.At
		}
	}
	lower := strings.ToLower(l.Text)
	for i := range Signatures {
		s := &Signatures[i]
		if s.Of(r.role()) && s.match(l.Text, lower) {
			r.hit(s, l)
		}
	}
}

var fullDate = regexp.MustCompile(`\b(20\d\d)-(\d\d)-(\d\d)[T ]\d\d:`)

// yearIn finds the year of a line in a whole date of the same day in its text.
func yearIn(l Line) int {
	m := fullDate.FindStringSubmatch(l.Text)
	if m == nil || m[2]+m[3] != l.At.Format("0102") {
		return 0
	}
	y, _ := strconv.Atoi(m[1])
	return y
}

// Date puts times without a year into the log's year or, where it tells none,
// into the one that makes them the latest not after ref. It reports whether
// the year is a guess.
func (l *Log) Date(ref time.Time) (guess bool) {
	guess = l.Year == 0 && !l.Last.IsZero() && l.Last.Year() == 0
	if l.Year != 0 {
		ref = time.Date(l.Year, 12, 31, 0, 0, 0, 0, time.UTC)
	}
	for _, t := range []*time.Time{&l.First, &l.Last} {
		*t = Dated(*t, ref)
	}
	for i := range l.Hits {
		for _, t := range []*time.Time{&l.Hits[i].First, &l.Hits[i].Last} {
			*t = Dated(*t, ref)
		}
	}
	l.NoYear = guess
	return guess
}

// role is whose the log is as far as its lines tell by now.
func (r *Reader) role() cluster.Role {
	if r.log.Role == "" && r.byZap > r.byKlog {
		return cluster.RoleEtcd
	}
	return r.log.Role
}

func (r *Reader) hit(s *Signature, l Line) {
	h := r.hits[s.ID]
	if h == nil {
		h = &Hit{ID: s.ID, Causes: map[string]int{}}
		r.hits[s.ID] = h
	}
	h.Count++
	if !l.At.IsZero() {
		if h.First.IsZero() || l.At.Before(h.First) {
			h.First = l.At
		}
		if h.Last.IsZero() || l.At.After(h.Last) {
			h.Last = l.At
		}
	}
	took := duration(l.Text)
	if h.Sample == "" || took > h.Worst {
		h.Sample = cut(l.Text)
	}
	h.Worst = max(h.Worst, took)
	if c := causeOf(l.Text); c != "" && !(c == etcdCause && s.Only == cluster.RoleEtcd) { // etcd's own lines all name it
		h.Causes[c]++
	}
}

// cut leaves out the middle of a long line: it begins with what happened, and
// the error stands at its end.
func cut(s string) string {
	const head = maxSample * 3 / 5
	if len(s) <= maxSample {
		return s
	}
	return strings.ToValidUTF8(s[:head]+"…"+s[len(s)-maxSample+head:], "")
}

// Log returns what was taken in.
func (r *Reader) Log() Log {
	l := r.log
	l.Role = r.role()
	for _, h := range r.hits {
		l.Hits = append(l.Hits, *h)
	}
	slices.SortFunc(l.Hits, func(a, b Hit) int { return strings.Compare(a.ID, b.ID) })
	return l
}

var tookText = regexp.MustCompile(`(?:took too long \(|"took":"|total time: |sync duration of |"time spent":"|client-side throttling.{0,80}|Waited for )([0-9][0-9.]*(?:h|m|s|ms|µs|us|ns)+)`)

// duration is how long a line says that something took; 0 if it does not.
func duration(s string) time.Duration {
	m := tookText.FindStringSubmatch(s)
	if m == nil {
		return 0
	}
	d, err := time.ParseDuration(m[1])
	if err != nil || d < 0 {
		return 0
	}
	return d
}

const etcdCause = "etcd"

// causes are words in the tail of an error that tell what is behind it, the
// more particular first.
var causes = []struct{ words, cause string }{
	{"certificate has expired", "an expired certificate"},
	{"certificate signed by unknown authority", "a certificate of an unknown authority"},
	{"x509:", "a certificate"},
	{"no endpoints available", "no endpoints behind the Service"},
	{"mvcc: database space exceeded", "etcd is out of space"},
	{"etcdserver:", etcdCause},
	{"Too large resource version", "the server's data is older than the client's"},
	{"the object has been modified", "a conflict: it was modified by another"},
	{"connection refused", "connection refused"},
	{"no such host", "the name is not resolved"},
	{"i/o timeout", "no connection in time"},
	{"TLS handshake timeout", "no TLS handshake in time"},
	{"Client.Timeout exceeded", "no answer in time"},
	{"context deadline exceeded", "no answer in time"},
	{"timed out waiting for the condition", "no answer in time"},
	{"is forbidden", "not permitted"},
	{"Unauthorized", "not authenticated"},
	{"oo many requests", "too many requests"},
	{"could not find the requested resource", "a resource that is not served"},
	{"connection lost", "the connection broke"},
	{"EOF", "the connection broke"},
}

func causeOf(s string) string {
	for _, c := range causes {
		if strings.Contains(s, c.words) {
			return c.cause
		}
	}
	return ""
}
