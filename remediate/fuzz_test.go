package remediate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/ktriage/ktriage/checks/checktest"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// FuzzJournal resumes a plan from a journal that is broken or hostile: no step
// that it calls done is done again, none is done twice, and what it says of
// itself is told without a fault of ours.
func FuzzJournal(f *testing.F) {
	record := func(event Event, step int, more string) string {
		return fmt.Sprintf(`{"at":"2026-01-02T03:04:05Z","event":%q,"plan":"x","step":%d%s}`+"\n", event, step, more)
	}
	f.Add([]byte(record(Began, 0, "") + record(Began, 1, `,"before":{"size":1e9}`) + record(Acted, 1, `,"seconds":2`) + record(Done, 1, `,"after":{"size":5e8}`) + record(Began, 2, "")))
	f.Add([]byte(record(Began, 3, "") + record(Failed, 3, `,"error":"x"`)))
	f.Add([]byte(record(Done, -1, "") + record(Done, 99999, `,"seconds":1e300,"before":{"size":-1}`) + record(Skipped, 4, "")))
	f.Add([]byte(record(Ended, 0, "") + record(Acted, 2, `,"outcome":{"deleted":"99999999999999999999"}`)[:40]))
	f.Fuzz(func(t *testing.T, b []byte) {
		rs, whole, err := ReadJournal(bytes.NewReader(b), "x")
		if err != nil {
			return
		}
		if whole > int64(len(b)) || whole > 0 && b[whole-1] != '\n' {
			t.Errorf("%d of %d bytes are sound", whole, len(b))
		}
		p, fake := planOf(t)
		Account(p, rs)
		s := Stands(rs)
		run := fake.run(p)
		run.Resume = &s
		run.Rehearse(t.Context())
		if len(fake.did) > 0 || fake.log.Len() > 0 {
			t.Fatalf("a rehearsal did %q", fake.did)
		}
		run.Apply(t.Context())
		times := map[string]int{}
		for _, d := range fake.did {
			times[d]++
		}
		for i, what := range fourSteps {
			if times[what] > 1 || times[what] > 0 && s.Done[i+1] {
				t.Errorf("%q was done %d times; the journal stands at %+v", what, times[what], s)
			}
		}
	})
}

// FuzzRule reads expressions: one that is taken judges every database, or says
// that the quota is not known, and does so at a bounded cost.
func FuzzRule(f *testing.F) {
	for _, s := range []string{DefaultRule, "true", "size / free > 1", "usage > 0.8", "quota == 0", "size", "free - inUse * 9223372036854775807 > 0", "[1,2,3].all(x, [1,2].exists(y, x > y && size > x))", "'a'.matches('(a+)+$')", "size > size ? true : 1/0 > 0", "-size < 0 && !(inUse > 1)"} {
		f.Add(s, int64(1<<30), int64(1<<29), int64(2<<30))
	}
	f.Add("size/quota > 0", int64(0), int64(0), int64(-1))
	f.Fuzz(func(t *testing.T, text string, size, inUse, quota int64) {
		r, err := ParseRule(text)
		if err != nil {
			return
		}
		for _, db := range []etcd.Space{{Size: size, InUse: inUse, Quota: quota}, {Size: size, InUse: inUse}, {}} {
			r.Matches(db)
		}
	})
}

// FuzzWindow reads windows: one that is taken has a part of a day left, or none.
func FuzzWindow(f *testing.F) {
	for _, s := range []string{"01:00-05:00", "sat,sun 22:00-04:00", "SAT 00:00-23:59", "1:00-2:00", "mon,mon 03:00-02:59", "x", "01:00-01:00", "01:00-05:00-06:00"} {
		f.Add(s, int64(1_767_000_000))
	}
	f.Fuzz(func(t *testing.T, s string, at int64) {
		w, err := ParseWindow(s)
		if err != nil {
			return
		}
		const year = 366 * 24 * 3600
		if left := w.Left(time.Unix(at%(200*year), 0)); left < 0 || left > 24*time.Hour {
			t.Errorf("%q has %s left", s, left)
		}
	})
}

// FuzzDatedRevisions gives a plan what was seen of revisions, true or not: none is
// called old that nothing shows to be, and none is taken that is not there.
func FuzzDatedRevisions(f *testing.F) {
	f.Add([]byte(`[{"at":"2026-01-02T02:50:05Z","revision":980}]`), int64(600), int64(900), int64(3600), int64(950), int64(900))
	f.Add([]byte(`[{"at":"2027-01-02T02:50:05Z","revision":980},{"at":"0001-01-01T00:00:00Z","revision":9223372036854775807}]`), int64(300), int64(0), int64(-1), int64(-9), int64(0))
	f.Add([]byte(`[{"at":"2026-01-02T03:04:05+14:00","revision":-1}]`), int64(1), int64(1), int64(1<<62), int64(1<<62), int64(1))
	f.Fuzz(func(t *testing.T, b []byte, keepSeconds, compacted, since, written, target int64) {
		var seen []Sight
		keep := time.Duration(keepSeconds) * time.Second
		if json.Unmarshal(b, &seen) != nil || keep <= 0 {
			return
		}
		plan, _ := planOf(t)
		plan.Options.Seen = seen
		p := &planner{Plan: plan, snap: snapshot(t, nil, CompactHistory.Facts(Options{}, checktest.Now)...)}
		last := LastRevision(p.snap, p.State)
		h := etcd.History{Revision: last, Compacted: compacted, HasAge: true, SinceCompaction: time.Duration(since)}
		rev, age, how := p.dated(keep, h, etcd.Compactor{Target: target, Written: written})
		if rev == 0 {
			return
		}
		shown := h.SinceCompaction >= keep+clockMargin && rev == written && target == compacted
		for _, s := range seen {
			shown = shown || s.Revision == rev && checktest.Now.Sub(s.At) >= keep
		}
		if !shown || age < keep || rev < 0 || rev > last || how == "" {
			t.Errorf("revision %d of %d is called %s old, keep is %s: %s", rev, last, age, keep, how)
		}
	})
}
