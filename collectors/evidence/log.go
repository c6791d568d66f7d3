package evidence

import (
	"time"

	"github.com/ktriage/ktriage/collectors/logs"
)

func looksLikeLog(line string) bool { return logs.Looks(line) }

// readLog takes in a log, line by line.
func (e *Evidence) readLog(f File) error {
	r, done, err := f.open()
	if err != nil {
		return err
	}
	defer done()
	l := logs.NewReader(f.Name)
	if err := scanLines(r, l.Add); err != nil {
		e.skip(f.Name, "in part: it breaks off: "+err.Error())
	}
	x := l.Log()
	if x.Last.Year() != 0 {
		e.saw(x.Last)
	}
	e.logs = append(e.logs, x)
	return nil
}

// dateLogs puts logs whose lines have no year into theirs, by what else is
// dated, or by when the files were written.
func (e *Evidence) dateLogs(newest time.Time) {
	ref := e.latest
	if e.given {
		ref = e.At
	}
	if ref.IsZero() {
		ref = newest
	}
	for i := range e.logs {
		l := &e.logs[i]
		if guess := l.Date(ref); guess && l.Last.After(e.latest) {
			e.noYear = true
		}
		e.saw(l.Last)
	}
}
