package controllers

import (
	"strconv"
	"strings"
	"time"
)

// A cron is a schedule: the minutes, hours, days and months at which it is due,
// as bits; or an interval.
type cron struct {
	minute, hour, day, month, weekday uint64
	anyDay, anyWeekday                bool
	every                             time.Duration
}

var (
	months   = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	nicks    = map[string]string{
		"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
		"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
	}
)

// parseCron reads a schedule as the controller does, which is that of
// github.com/robfig/cron/v3 without seconds. A time zone in the schedule itself,
// which is no longer allowed, is not understood.
func parseCron(s string) (cron, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if rest, ok := strings.CutPrefix(s, "@every "); ok {
		d, err := time.ParseDuration(rest)
		return cron{every: d}, err == nil && d >= time.Second
	}
	if n, ok := nicks[s]; ok {
		s = n
	}
	f := strings.Fields(s)
	if len(f) != 5 {
		return cron{}, false
	}
	var c cron
	for i, x := range []struct {
		bits     *uint64
		min, max int
		names    []string
	}{{&c.minute, 0, 59, nil}, {&c.hour, 0, 23, nil}, {&c.day, 1, 31, nil}, {&c.month, 1, 12, months}, {&c.weekday, 0, 7, weekdays}} {
		bits, ok := cronField(f[i], x.min, x.max, x.names)
		if !ok {
			return cron{}, false
		}
		*x.bits = bits
	}
	if c.weekday&(1<<7) != 0 {
		c.weekday |= 1 // Sunday has two numbers
	}
	c.anyDay, c.anyWeekday = f[2][0] == '*' || f[2] == "?", f[4][0] == '*' || f[4] == "?"
	return c, true
}

// cronField reads one field, "*/5", "1-5,7", "mon-fri", as bits.
func cronField(s string, least, most int, names []string) (bits uint64, ok bool) {
	number := func(s string) (int, bool) {
		for i, n := range names {
			if s == n {
				return i + least, true
			}
		}
		n, err := strconv.Atoi(s)
		return n, err == nil && n >= least && n <= most
	}
	for part := range strings.SplitSeq(s, ",") {
		span, stepText, stepped := strings.Cut(part, "/")
		from, to := least, most
		if span != "*" && span != "?" {
			a, b, ranged := strings.Cut(span, "-")
			if from, ok = number(a); !ok {
				return 0, false
			}
			switch {
			case ranged:
				if to, ok = number(b); !ok || to < from {
					return 0, false
				}
			case !stepped:
				to = from
			}
		}
		step := 1
		if stepped {
			n, err := strconv.Atoi(stepText)
			if err != nil || n < 1 {
				return 0, false
			}
			step = n
		}
		for i := from; i <= to; i += step {
			bits |= 1 << i
		}
	}
	return bits, bits != 0
}

func has(bits uint64, n int) bool { return bits&(1<<n) != 0 }

// due reports whether the schedule has the minute of t.
func (c cron) due(t time.Time) bool {
	return has(c.minute, t.Minute()) && has(c.hour, t.Hour()) && c.dayIs(t)
}

func (c cron) dayIs(t time.Time) bool {
	day, weekday := has(c.day, t.Day()), has(c.weekday, int(t.Weekday()))
	if c.anyDay || c.anyWeekday {
		return has(c.month, int(t.Month())) && day && weekday
	}
	return has(c.month, int(t.Month())) && (day || weekday) // as cron has always had it
}

// horizon is how far back missed times are looked for.
const horizon = 400 * 24 * time.Hour

// missed counts the times after since at which the schedule was due and that are
// over for longer than Patience, up to misses, and returns the first.
func (c cron) missed(since, now time.Time) (first time.Time, n int) {
	end := now.Add(-Patience)
	if c.every > 0 {
		for t := since.Add(c.every); t.Before(end) && n < misses; t = t.Add(c.every) {
			if n++; n == 1 {
				first = t
			}
		}
		return first, n
	}
	if now.Sub(since) > horizon {
		since = now.Add(-horizon)
	}
	for t := since.Truncate(time.Minute).Add(time.Minute); t.Before(end) && n < misses; {
		switch {
		case !c.dayIs(t):
			t = time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, t.Location())
			continue
		case c.due(t):
			if n++; n == 1 {
				first = t
			}
		}
		t = t.Add(time.Minute)
	}
	return first, n
}
