package remediate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// An Event is what a line of the journal tells.
type Event string

// The events.
const (
	Began   Event = "began"   // a run, or a step: it may have been carried out from here on
	Acted   Event = "acted"   // the step was carried out; whether the cluster is whole is not known yet
	Done    Event = "done"    // the step had its effect and the cluster is whole
	Skipped Event = "skipped" // the step had its effect already
	Refused Event = "refused" // the step was not begun
	Failed  Event = "failed"  // the step may have been carried out or not
	Stopped Event = "stopped" // by the operator, between steps
	Ended   Event = "ended"   // the run, with all steps done
)

// A Record is one line of the journal. Nothing in it is a credential: what it
// is made of has none.
type Record struct {
	At      time.Time          `json:"at"`
	Event   Event              `json:"event"`
	Plan    string             `json:"plan"`
	Recipe  string             `json:"recipe,omitempty"`
	Step    int                `json:"step,omitempty"` // from 1; 0 of a run
	Kind    Kind               `json:"kind,omitempty"`
	Target  *collectors.Target `json:"target,omitempty"`
	Seconds float64            `json:"seconds,omitempty"` // that the action took
	Before  map[string]float64 `json:"before,omitempty"`
	After   map[string]float64 `json:"after,omitempty"`
	Outcome Outcome            `json:"outcome,omitempty"`
	Error   string             `json:"error,omitempty"`
	Who     *Who               `json:"who,omitempty"` // of a run
}

// Who is whose process it is.
type Who struct {
	User string `json:"user"`
	Host string `json:"host"`
	PID  int    `json:"pid"`
	Tool string `json:"tool"`
}

// A Log is where the journal goes: a file.
type Log interface {
	io.Writer
	Sync() error
}

// A Journal writes records, each on the disk before the next thing is done.
type Journal struct {
	log  Log
	seen func(Record) // is shown each record too; may be nil
}

// NewJournal makes a journal that goes to a log.
func NewJournal(l Log, seen func(Record)) *Journal { return &Journal{l, seen} }

func (j *Journal) write(r Record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if _, err := j.log.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if err := j.log.Sync(); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if j.seen != nil {
		j.seen(r)
	}
	return nil
}

// ReadJournal reads the records of a plan's journal. A last line that was cut
// off, by the end of the process that wrote it, is left out, and whole says how
// many bytes are sound.
func ReadJournal(r io.Reader, plan string) (rs []Record, whole int64, err error) {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return rs, whole, nil // line has no end: it was cut off
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read journal: %w", err)
		}
		var x Record
		if err := json.Unmarshal(bytes.TrimSpace(line), &x); err != nil {
			return nil, 0, fmt.Errorf("read journal: line %d: %w", n, err)
		}
		if x.Plan != plan {
			return nil, 0, fmt.Errorf("read journal: line %d is of another plan", n)
		}
		rs = append(rs, x)
		whole += int64(len(line))
	}
}

// A Standing is how far a plan got, by its journal.
type Standing struct {
	Done  map[int]bool // steps, from 1
	Acted map[int]bool // carried out, and not seen to be done
	Open  map[int]bool // may have been carried out
	Sizes map[int]map[string]float64
	Took  map[int]time.Duration
	Ended bool
}

// Stands tells how far a plan got.
func Stands(rs []Record) Standing {
	s := Standing{Done: map[int]bool{}, Acted: map[int]bool{}, Open: map[int]bool{}, Sizes: map[int]map[string]float64{}, Took: map[int]time.Duration{}}
	for _, r := range rs {
		switch {
		case r.Step == 0:
			s.Ended = s.Ended || r.Event == Ended
		case r.Event == Began:
			s.Open[r.Step] = true
			s.Sizes[r.Step] = r.Before
		case r.Event == Acted:
			s.Acted[r.Step] = true
			s.Took[r.Step] = time.Duration(r.Seconds * float64(time.Second))
		case r.Event == Done || r.Event == Skipped:
			s.Done[r.Step] = true
		}
	}
	return s
}
