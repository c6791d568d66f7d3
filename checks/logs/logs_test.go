package logs

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/checktest"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/logs"
)

func TestWithoutLogsNothingIsJudged(t *testing.T) {
	for _, line := range checktest.Judge(capture.NewScript(checktest.Now, checktest.Window), All...) {
		if !strings.HasPrefix(line, "outOfScope ") {
			t.Errorf("a run without logs says %s", line)
		}
	}
}

func TestVerdicts(t *testing.T) {
	const script = `
-- get log:/signatures --
{"logs":[{"name":"etcd.log","role":"etcd","lines":100,"first":"2026-01-02T01:00:00Z","last":"2026-01-02T03:04:00Z","at":"2026-01-02T03:04:05Z","hits":[%s]}]}
`
	for _, c := range []struct{ name, hit, want string }{
		{"none", ``, "ok etcd: none of 100 lines in 1 log tells of syncs of the write-ahead log that took over a second"},
		{"one, just now", `{"id":"etcd-log-slow-fsync","count":1,"first":"2026-01-02T03:04:00Z","last":"2026-01-02T03:04:00Z","sample":"x","worst":1200000000}`,
			"warning etcd/etcd.log: 1 line: syncs of the write-ahead log that took over a second, at 2026-01-02 03:04:00, the longest took 1.2 s"},
		{"over for hours", `{"id":"etcd-log-slow-fsync","count":50,"first":"2026-01-02T01:00:00Z","last":"2026-01-02T01:30:00Z","sample":"x"}`,
			"info etcd/etcd.log: 50 lines: syncs of the write-ahead log that took over a second, 2026-01-02 01:00:00 to 01:30:00; the last was 1h 34m before the evidence ends"},
		{"over, and the log goes on", `{"id":"etcd-log-slow-fsync","count":50,"first":"2026-01-02T02:30:00Z","last":"2026-01-02T02:40:00Z","sample":"x"}`,
			"info etcd/etcd.log: 50 lines: syncs of the write-ahead log that took over a second, 2026-01-02 02:30:00 to 02:40:00; the log goes on for 24m without"},
		{"it lasts", `{"id":"etcd-log-slow-fsync","count":50,"first":"2026-01-02T02:30:00Z","last":"2026-01-02T03:04:00Z","sample":"x"}`,
			"warning etcd/etcd.log: 50 lines: syncs of the write-ahead log that took over a second, 2026-01-02 02:30:00 to 03:04:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := capture.NewScript(checktest.Now, checktest.Window, txtar.Parse([]byte(strings.Replace(script, "%s", c.hit, 1))))
			for _, k := range All {
				if k.ID != "etcd-log-slow-fsync" {
					continue
				}
				if got := checktest.Judge(src, k); len(got) != 1 || got[0] != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}

func TestWhatAComponentMeetsWhileItStartsIsNoTrouble(t *testing.T) {
	at := func(s string) time.Time {
		d, err := time.Parse(time.TimeOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return time.Date(2026, 1, 2, d.Hour(), d.Minute(), d.Second(), 0, time.UTC)
	}
	s, _ := logs.Find("refl-watch")
	l := logs.Log{First: at("03:00:00"), Last: at("03:04:00"), At: at("03:04:05")}
	h := logs.Hit{ID: s.ID, Count: 9, First: at("03:00:01"), Last: at("03:00:30")}
	if got, why := weigh(&s, l, h); got != checks.Info || why == "" {
		t.Errorf("%s %s", got, why)
	}
	h.Last = at("03:03:59")
	if got, _ := weigh(&s, l, h); got != checks.Warning {
		t.Errorf("%s, although it goes on", got)
	}
}

// TestPages holds the pages that the documentation links to against the table
// that they are made of; -update writes them.
func TestPages(t *testing.T) {
	update := flag.Lookup("update").Value.String() == "true"
	for _, c := range All {
		file := strings.ReplaceAll(string(c.ID), "-", "_") + ".md"
		if update {
			if err := os.WriteFile(file, []byte(c.Doc), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != c.Doc {
			t.Errorf("%s is not the page of its check (%v): go test ./checks/logs -update", file, err)
		}
	}
}
