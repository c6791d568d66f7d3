package evidence

import (
	"fmt"
	"io"
	"time"

	"github.com/ktriage/ktriage/collectors/logs"
)

func looksLikeLog(line string) bool { return logs.Looks(line) }

// maxLog ends the reading of a log that was packed to unpack for ever.
const maxLog = 4 << 30

// readLog takes in a log, line by line.
func (e *Evidence) readLog(in *input) error {
	l := logs.NewReader(in.name)
	most := &io.LimitedReader{R: in.in, N: maxLog}
	if err := scanLines(most, l.Add); err != nil {
		e.skip(in.name, "in part: it breaks off: "+err.Error())
	} else if most.N <= 0 {
		e.skip(in.name, fmt.Sprintf("in part: it is over %d bytes", int64(maxLog)))
	}
	x := l.Log()
	if x.Last.Year() != 0 {
		e.saw(x.Last)
	}
	e.logs = append(e.logs, x)
	return nil
}

// dateLogs puts logs whose lines have no year into theirs: first those that tell
// it somewhere, then the others by what is dated then, or else by when the files
// were written.
func (e *Evidence) dateLogs(newest time.Time) {
	for i := range e.logs {
		if l := &e.logs[i]; l.Year != 0 {
			l.Date(time.Time{})
			e.saw(l.Last)
		}
	}
	ref := e.latest
	if e.given {
		ref = e.At
	}
	if ref.IsZero() {
		ref = newest
	}
	for i := range e.logs {
		l := &e.logs[i]
		if l.Year != 0 {
			continue
		}
		if guess := l.Date(ref); guess && l.Last.After(e.latest) {
			e.noYear = true
		}
		e.saw(l.Last)
	}
}
