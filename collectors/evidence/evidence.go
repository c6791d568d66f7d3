package evidence

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ktriage/ktriage/collectors/logs"
)

// Evidence is what was read of a set of files. It is a Source, and safe for
// use by several goroutines once it is read.
type Evidence struct {
	// At is when the evidence is from: as the caller gave it, else the latest
	// time in it, else the time of its newest file.
	At    time.Time
	Dated string    // how At is known, as words that follow it
	Read  []string  // names of the files that were read, sorted
	Left  []Skipped // those that were not, or not whole

	// Window is the time between the two samples of a process of which there are
	// two, the longest of several; zero if there are none.
	Window time.Duration

	given     bool          // the caller gave At
	apart     time.Duration // between samples, as the caller gave it; 0 if not
	noYear    bool          // the latest time is of a log that does not tell its year
	latest    time.Time
	objects   map[string]*held // by API version and kind
	bodies    []*body
	statuses  []*status
	members   []*member // of etcd's own list
	reports   []*report
	hashes    map[uint64][]byte // of what etcd's members hold, by member
	release   string            // version of the API server, "v1.30.0"
	logs      []logs.Log
	instances []*instance
	newest    time.Time // when the newest file that was read was written

	files          int // that were met in archives
	staged         []staged
	list           bool  // the staged objects are of a list
	stored, looked int64 // bytes held in memory, and looked at
}

// A Skipped file is one that was not read, and why.
type Skipped struct{ Name, Why string }

// Options are what the caller knows of the evidence.
type Options struct {
	At    time.Time     // when it is from; zero if only it tells
	Apart time.Duration // between two samples of one process; zero if only they tell
}

// New reads files into Evidence. A file that cannot be read is left out and
// said to be; it is an error if none can.
func New(files []File, o Options) (*Evidence, error) {
	e := &Evidence{At: o.At, given: !o.At.IsZero(), apart: o.Apart, objects: map[string]*held{}, hashes: map[uint64][]byte{}}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range files {
		if err := e.read(f, len(files) == 1); err != nil {
			e.skip(f.Name, err.Error())
		}
	}
	if len(e.Read) == 0 {
		return nil, fmt.Errorf("no file of %d is of a kind that ktriage reads%s", max(len(files), e.files), e.examples())
	}
	slices.Sort(e.Read)
	newest := e.newest
	e.dateLogs(newest)
	switch {
	case e.given:
		e.Dated = "as given"
	case !e.latest.IsZero() && e.noYear:
		e.At, e.Dated = e.latest, "the latest time in it; the year is a guess"
	case !e.latest.IsZero():
		e.At, e.Dated = e.latest, "the latest time in it"
	case !newest.IsZero():
		// Objects date to the second: what is half a second later than they could
		// say would make ages of 40 s into 41 s.
		e.At, e.Dated = newest.Truncate(time.Second), "the time of its newest file, as it holds none itself"
	default:
		e.At, e.Dated = time.Unix(0, 0), "unknown"
	}
	e.At = e.At.UTC()
	e.date()
	e.supersede()
	e.explain()
	e.pair()
	e.unround()
	e.assemble()
	e.nameLogs()
	return e, nil
}

func (e *Evidence) read(f File, alone bool) error {
	in, c, err := e.input(f)
	if err != nil {
		return err
	}
	defer c.Close()
	in.alone = alone
	return e.take(in)
}

func (e *Evidence) examples() string {
	var out []string
	for _, s := range e.Left[:min(len(e.Left), 3)] {
		out = append(out, plain(s.Name+": "+s.Why))
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, "; ")
}

// plain takes control characters out of what goes to a terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, s)
}

// saw takes note of a time that the evidence holds.
func (e *Evidence) saw(t time.Time) {
	if t.After(e.latest) {
		e.latest = t
	}
}

// date gives what is dated relative to the time of the evidence its own time.
func (e *Evidence) date() {
	for _, h := range e.objects {
		for _, o := range h.items {
			if created := o.GetCreationTimestamp(); o.age >= 0 && created.IsZero() {
				o.setCreated(e.At.Add(-o.age))
			}
		}
	}
	for i := range e.logs {
		e.logs[i].At = e.At
	}
}

// skip takes a file that was read out of the list of those that count.
func (e *Evidence) skip(name, why string) { e.Left = append(e.Left, Skipped{name, why}) }
