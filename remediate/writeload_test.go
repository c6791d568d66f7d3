package remediate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

func TestWriteLoadIsBounded(t *testing.T) {
	for _, size := range LoadSizes {
		l, err := NewWriteLoad(size, MaxLoad, "/x/")
		if err != nil || l.Writes() != l.Rate*60 || l.Bytes() < int64(l.Writes())*(LoadKey+LoadValue) {
			t.Errorf("%s: got %+v, %v", size, l, err)
		}
	}
	for _, bad := range []struct {
		size string
		d    time.Duration
	}{{"", time.Second * 10}, {"S", time.Second * 10}, {"s", time.Second}, {"s", time.Hour}} {
		if _, err := NewWriteLoad(bad.size, bad.d, "/x/"); err == nil {
			t.Errorf("%+v: got no error", bad)
		}
	}
}

func TestLoadIsGuardedAndProved(t *testing.T) {
	l, _ := NewWriteLoad("s", 10*time.Second, "/x/")
	says := func(bad checks.ID, s checks.Status) Look {
		return func(_ context.Context, cs []*checks.Check) (fs []checks.Finding) {
			for _, c := range cs {
				f := checks.Finding{Check: c.ID, Status: checks.OK}
				if c.ID == bad {
					f.Status = s
				}
				fs = append(fs, f)
			}
			return fs
		}
	}
	for _, tc := range []struct {
		name  string
		look  Look
		fail  error
		lost  error
		begun bool
		err   string
		wrote []Event
	}{
		{"all well", says("", checks.OK), nil, nil, true, "", []Event{Began, Ended}},
		{"a member is silent", says("etcd-member-unreachable", checks.Unknown), nil, nil, false, "etcd-member-unreachable", []Event{Refused}},
		{"no room", says("etcd-load-room", checks.Warning), nil, nil, false, "etcd-load-room", []Event{Refused}},
		{"nothing is judged", func(context.Context, []*checks.Check) []checks.Finding { return nil }, nil, nil, false, "gave no verdict", []Event{Refused}},
		{"the lock is lost", says("", checks.OK), nil, errors.New("lost"), false, "lost", nil},
		{"it fails", says("", checks.OK), errors.New("no"), nil, true, "no", []Event{Began, Failed}},
		{"keys are left", says("etcd-load-gone", checks.Warning), nil, nil, true, "etcd-load-gone", []Event{Began, Failed}},
	} {
		did := false
		var wrote []Event
		f := &fake{lock: tc.lost, now: time.Unix(1, 0)}
		r := &LoadRun{
			Load: l, Look: tc.look, Do: func(context.Context, WriteLoad) error { did = true; return tc.fail },
			Lock: f, Clock: f, Who: Who{User: "u"},
			Journal: NewJournal(f, func(x Record) {
				if wrote = append(wrote, x.Event); x.Plan != l.ID() || x.At.IsZero() || x.Event == Began && x.Who.User != "u" {
					t.Errorf("%s: got the record %+v", tc.name, x)
				}
			}),
		}
		begun, err := r.Run(context.Background())
		if !slices.Equal(wrote, tc.wrote) {
			t.Errorf("%s: the journal has %v, want %v", tc.name, wrote, tc.wrote)
		}
		if begun != tc.begun || did != tc.begun || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: begun %v, did %v, %v", tc.name, begun, did, err)
		}
	}
	for _, c := range l.LoadChecks() {
		if c.Deep {
			t.Errorf("%s reads the whole database", c.ID)
		}
	}
}

func TestWhyNot(t *testing.T) {
	f := func(id checks.ID, s checks.Status, name string) checks.Finding {
		f := checks.Finding{Check: id, Status: s, Target: collectors.Target{Component: collectors.Etcd, Name: name}, Summary: "because"}
		if s == checks.Unknown || s == checks.OutOfScope {
			f.Gap = collectors.Gapf(collectors.Timeout, "because")
		}
		return f
	}
	for _, tc := range []struct {
		name string
		fs   []checks.Finding
		want string
	}{
		{"nothing known", nil, "nothing is known"},
		{"all well", []checks.Finding{f("a", checks.OK, "m1"), f("b", checks.Info, "m1"), f("c", checks.OutOfScope, "m1")}, ""},
		{"a warning", []checks.Finding{f("a", checks.OK, "m1"), f("b", checks.Warning, "m1")}, "b is warning on etcd/m1: because"},
		{"how its pods were started is not known", []checks.Finding{f("a", checks.OK, "m1"), f("etcd-shared-with-others", checks.Unknown, "m1")}, ""},
		{"its pods were started differently", []checks.Finding{f("etcd-shared-with-others", checks.Warning, "m1")}, "etcd-shared-with-others is warning"},
		{"unknown", []checks.Finding{f("a", checks.OK, "m1"), f("b", checks.Unknown, "m2"), f("c", checks.Unknown, "m2")}, "etcd/m2: not known is b, c: timeout: because"},
	} {
		got := strings.Join(WhyNot(tc.fs), "; ")
		if got != tc.want && (tc.want == "" || !strings.Contains(got, tc.want)) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestRulesOnFlagsExist holds that what is excused is there to be excused.
func TestRulesOnFlagsExist(t *testing.T) {
	l, _ := NewWriteLoad("s", 10*time.Second, "/x/")
	for _, id := range ofFlags {
		if !slices.ContainsFunc(l.LoadChecks(), func(c *checks.Check) bool { return c.ID == id }) {
			t.Errorf("there is no %s", id)
		}
	}
}

func TestRoomOfALoad(t *testing.T) {
	l, _ := NewWriteLoad("m", time.Minute, "/x/") // about 100 MB
	quota := int64(1 << 30)
	for _, tc := range []struct {
		name string
		db   etcd.Space
		want checks.Status
	}{
		{"room", etcd.Space{Size: 100 << 20, Quota: quota}, checks.OK},
		{"the load itself goes over 60%", etcd.Space{Size: 550 << 20, Quota: quota}, checks.Warning},
		{"over already", etcd.Space{Size: 700 << 20, Quota: quota}, checks.Warning},
		{"quota not known", etcd.Space{Size: 1 << 20}, checks.Unknown},
		{"unlimited", etcd.Space{Size: 1 << 40, Quota: -1}, checks.OK},
	} {
		if got := roomFor(l, tc.db); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestLoadVerdicts(t *testing.T) {
	l, _ := NewWriteLoad("s", 10*time.Second, "/x/")
	fast := make([]time.Duration, 1500)
	for i := range fast {
		fast[i] = 3 * time.Millisecond
	}
	slow := append([]time.Duration{501 * time.Millisecond}, fast...)
	for _, tc := range []struct {
		name string
		r    LoadResult
		fail []string
	}{
		{"good", LoadResult{Load: l, Took: fast, Elapsed: 10 * time.Second}, nil},
		{"too few", LoadResult{Load: l, Took: fast[:1300], Elapsed: 10 * time.Second}, []string{"writes a second"}},
		{"one slow", LoadResult{Load: l, Took: slow, Elapsed: 10 * time.Second}, []string{"slowest write"}},
		{"failed", LoadResult{Load: l, Took: fast, Failed: 1, Elapsed: 10 * time.Second}, []string{"failed writes"}},
		{"nothing done", LoadResult{Load: l}, []string{"writes a second", "slowest write", "standard deviation"}},
	} {
		var fail []string
		for _, v := range tc.r.Verdicts() {
			if !v.Pass {
				fail = append(fail, v.Name)
			}
		}
		if strings.Join(fail, ",") != strings.Join(tc.fail, ",") {
			t.Errorf("%s: fails by %v, want %v", tc.name, fail, tc.fail)
		}
	}
}
