package controllers

import (
	"testing"
	"time"
)

func TestTimesThatWentBy(t *testing.T) {
	at := func(s string) time.Time {
		x, err := time.Parse(time.DateTime, s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		schedule, since, now, first string
		n                           int
	}{
		{"*/5 * * * *", "2026-01-02 03:00:00", "2026-01-02 03:04:05", "", 0},
		{"*/5 * * * *", "2026-01-02 03:00:00", "2026-01-02 03:05:30", "", 0},
		{"*/5 * * * *", "2026-01-02 03:00:00", "2026-01-02 03:17:00", "2026-01-02 03:05:00", 3},
		{"30 2 * * *", "2026-01-01 02:30:00", "2026-01-02 03:04:05", "2026-01-02 02:30:00", 1},
		{"@daily", "2026-01-01 00:00:00", "2026-01-09 03:04:05", "2026-01-02 00:00:00", 3},
		{"0 9 * * mon-fri", "2026-01-02 10:00:00", "2026-01-05 08:00:00", "", 0},
		{"0 9 * * 1-5", "2026-01-02 10:00:00", "2026-01-05 10:00:00", "2026-01-05 09:00:00", 1},
		{"0 0 13 * 5", "2026-01-02 10:00:00", "2026-01-14 10:00:00", "2026-01-09 00:00:00", 2},
		{"0 0 31 2 *", "2020-01-02 10:00:00", "2026-01-14 10:00:00", "", 0},
		{"0 0 * * 7", "2026-01-02 10:00:00", "2026-01-05 10:00:00", "2026-01-04 00:00:00", 1},
		{"@every 10m", "2026-01-02 03:00:00", "2026-01-02 03:35:00", "2026-01-02 03:10:00", 3},
	} {
		x, ok := parseCron(c.schedule)
		if !ok {
			t.Errorf("%s is not understood", c.schedule)
			continue
		}
		first, n := x.missed(at(c.since), at(c.now))
		if n != c.n || n > 0 && !first.Equal(at(c.first)) {
			t.Errorf("%s since %s at %s: %d missed, the first %s; want %d, %s", c.schedule, c.since, c.now, n, first, c.n, c.first)
		}
	}
	for _, s := range []string{"", "* * * *", "60 * * * *", "*/0 * * * *", "5-1 * * * *", "TZ=UTC * * * * *", "@every 0s", "x * * * *"} {
		if _, ok := parseCron(s); ok {
			t.Errorf("%q was understood", s)
		}
	}
}

func FuzzParseCron(f *testing.F) {
	f.Add("*/5 1-3,mon * jan ?")
	f.Add("@every 1s")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if c, ok := parseCron(s); ok {
			if _, n := c.missed(now.Add(-1000*24*time.Hour), now); n > misses {
				t.Errorf("%d", n)
			}
		}
	})
}
