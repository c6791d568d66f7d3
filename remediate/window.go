package remediate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Window is a time of the day, in UTC, on all or some days of the week.
type Window struct {
	days     []time.Weekday // on which it begins; all if empty
	from, to time.Duration  // since midnight; to is before from if it ends the next day
	text     string
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// ParseWindow reads "01:00-05:00" or "sat,sun 22:00-04:00".
func ParseWindow(s string) (*Window, error) {
	bad := fmt.Errorf("%q is not a time such as 01:00-05:00 or sat,sun 22:00-04:00, in UTC", s)
	fields := strings.Fields(strings.ToLower(s))
	w := &Window{text: s}
	if len(fields) == 2 {
		for d := range strings.SplitSeq(fields[0], ",") {
			i := slices.Index(weekdays, d)
			if i < 0 {
				return nil, bad
			}
			w.days = append(w.days, time.Weekday(i))
		}
		fields = fields[1:]
	}
	if len(fields) != 1 {
		return nil, bad
	}
	from, to, ok := strings.Cut(fields[0], "-")
	a, err1 := time.Parse("15:04", from)
	b, err2 := time.Parse("15:04", to)
	if !ok || err1 != nil || err2 != nil || a.Equal(b) {
		return nil, bad
	}
	midnight := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	w.from, w.to = a.Sub(midnight), b.Sub(midnight)
	return w, nil
}

// Left is how much of the window is left at a time; 0 outside of it.
func (w *Window) Left(at time.Time) time.Duration {
	at = at.UTC()
	midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	for _, day := range []time.Time{midnight, midnight.AddDate(0, 0, -1)} {
		if len(w.days) > 0 && !slices.Contains(w.days, day.Weekday()) {
			continue
		}
		begin, end := day.Add(w.from), day.Add(w.to)
		if !end.After(begin) {
			end = end.AddDate(0, 0, 1)
		}
		if !at.Before(begin) && at.Before(end) {
			return end.Sub(at)
		}
	}
	return 0
}

// String returns the window as it was given.
func (w *Window) String() string { return w.text + " UTC" }
