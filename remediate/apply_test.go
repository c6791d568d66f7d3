package remediate

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/checktest"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/etcd"
)

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// A fake is everything round a run: it does nothing, tells what is asked of it,
// and its clock goes forward by waiting only.
type fake struct {
	now   time.Time
	did   []string
	looks int
	bad   func(f *fake, id checks.ID) checks.Status // what a check says; nil: OK
	do    func(Action) error
	lock  error
	state State
	log   bytes.Buffer
}

func (f *fake) Do(ctx context.Context, a Action) (Outcome, error) {
	f.did = append(f.did, describe(Step{Action: a}))
	f.now = f.now.Add(time.Second)
	if ctx.Err() != nil {
		return nil, errors.New("the action was cut off")
	}
	if f.do != nil {
		return nil, f.do(a)
	}
	return Outcome{"x": "y"}, nil
}
func (f *fake) Now() time.Time { return f.now }
func (f *fake) Sleep(ctx context.Context, d time.Duration) error {
	f.now = f.now.Add(d)
	return ctx.Err()
}
func (f *fake) Held() error                 { return f.lock }
func (f *fake) Write(b []byte) (int, error) { return f.log.Write(b) }
func (f *fake) Sync() error                 { return nil }

func (f *fake) look(ctx context.Context, cs []*checks.Check) (fs []checks.Finding) {
	f.looks++
	for _, c := range cs {
		st := checks.OK
		if f.bad != nil {
			st = f.bad(f, c.ID)
		}
		if ctx.Err() != nil {
			st = checks.Unknown
		}
		fs = append(fs, checks.Finding{Check: c.ID, Target: etcd.Cluster, Status: st, Summary: "so it is"})
	}
	return fs
}

func (f *fake) run(p *Plan) *Run {
	return &Run{
		Plan: p, Look: f.look, State: func(context.Context) (State, error) { return f.state, nil },
		Do: f, Clock: f, Lock: f, Journal: NewJournal(f, nil), Who: Who{User: "u", Host: "h", PID: 1, Tool: "t"},
	}
}

func planOf(t *testing.T) (*Plan, *fake) {
	t.Helper()
	p, err := make3(t, &Defrag, Options{Settle: DefaultSettle}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, &fake{now: checktest.Now, state: p.State}
}

var fourSteps = []string{"defragment cp-2", "defragment cp-3", "let cp-2 lead in place of cp-1", "defragment cp-1"}

func TestApplyTakesAllSteps(t *testing.T) {
	p, f := planOf(t)
	if err := f.run(p).Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.did, fourSteps) {
		t.Errorf("did %q", f.did)
	}
	if took := f.now.Sub(checktest.Now); took < 3*time.Duration(DefaultSettle) {
		t.Errorf("it took %s: the pauses between members are missing", took)
	}
	rs, _, err := ReadJournal(&f.log, p.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if s := Stands(rs); !s.Ended || len(s.Done) != 4 {
		t.Errorf("the journal stands at %+v", s)
	}
	if rs[0].Who == nil || rs[0].Who.User != "u" || rs[0].Recipe != Defrag.ID {
		t.Errorf("the journal does not say who: %+v", rs[0])
	}
}

func TestApplyStopsUnlessEverythingIsKnownToBeRight(t *testing.T) {
	after := func(n int, id checks.ID, s checks.Status) func(*fake, checks.ID) checks.Status {
		return func(f *fake, x checks.ID) checks.Status {
			if len(f.did) >= n && x == id {
				return s
			}
			return checks.OK
		}
	}
	for _, tt := range []struct {
		name    string
		set     func(*fake, *Plan)
		did     int
		words   string
		touched bool
		unsure  bool
	}{
		{"a guard is not known", func(f *fake, _ *Plan) { f.bad = after(0, "cure-lag", checks.Unknown) }, 0, "cure-lag: of etcd it is not known", false, false},
		{"a guard is out of scope", func(f *fake, _ *Plan) { f.bad = after(0, "cure-lag", checks.OutOfScope) }, 0, "cure-lag", false, false},
		{"a guard forbids", func(f *fake, _ *Plan) { f.bad = after(0, "cure-alarms", checks.Warning) }, 0, "cure-alarms", false, false},
		{"the lock is lost", func(f *fake, _ *Plan) { f.lock = errors.New("the lock is lost") }, 0, "the lock is lost", false, false},
		{"the cluster does not become whole", func(f *fake, _ *Plan) { f.bad = after(1, "cure-whole", checks.Unknown) }, 1, "the cluster is not whole after", true, false},
		{"a member does not catch up", func(f *fake, _ *Plan) { f.bad = after(2, "cure-lag", checks.Warning) }, 2, "the cluster is not whole after", true, false},
		{"leadership does not arrive", func(f *fake, _ *Plan) { f.bad = after(3, "cure-leader", checks.Warning) }, 3, "cure-leader", true, false},
		{"the action fails", func(f *fake, _ *Plan) { f.do = func(Action) error { return errors.New("broken pipe") } }, 1, "broken pipe", true, true},
		{"it is another cluster", func(f *fake, _ *Plan) { f.state.ClusterID = "8" }, 0, "this is another cluster", false, false},
		{"the leader changed", func(f *fake, _ *Plan) { f.state.Leader = "cp-3" }, 0, "the leader was cp-1, and is cp-3", false, false},
		{"a member was replaced", func(f *fake, _ *Plan) {
			f.state.Members = slices.Clone(f.state.Members)
			f.state.Members[1].ID = "99"
		}, 0, "cp-2 is another", false, false},
		{"an alarm was raised", func(f *fake, _ *Plan) { f.state.Alarms = []string{"NOSPACE"} }, 0, "the alarms were", false, false},
		{"a member went down", func(f *fake, _ *Plan) { f.state.Down = []string{"cp-3"} }, 0, "did not answer", false, false},
		{"the API server went away", func(f *fake, _ *Plan) { f.state.Kubernetes = false }, 0, "the API server answered, and does not", false, false},
		{"the plan is stale", func(f *fake, p *Plan) { f.now = f.now.Add(2 * time.Hour) }, 0, "the plan is 2h old", false, false},
		{"the plan is from the future", func(f *fake, p *Plan) { f.now = f.now.Add(-time.Hour) }, 0, "from the future", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, f := planOf(t)
			tt.set(f, p)
			err := f.run(p).Apply(t.Context())
			var h *Halt
			if !errors.As(err, &h) {
				t.Fatalf("got %v", err)
			}
			if len(f.did) != tt.did || h.Touched != tt.touched || h.Unsure != tt.unsure || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("did %q, touched %v, unsure %v: %v", f.did, h.Touched, h.Unsure, err)
			}
			rs, _, rerr := ReadJournal(&f.log, p.Digest)
			if rerr != nil || Stands(rs).Ended {
				t.Errorf("the journal says done: %v %v", rs, rerr)
			}
		})
	}
}

// TestStopNeverCutsAnActionOff holds that a signal is heeded between steps.
func TestStopNeverCutsAnActionOff(t *testing.T) {
	p, f := planOf(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.do = func(Action) error {
		if len(f.did) == 2 {
			cancel()
		}
		return nil
	}
	err := f.run(p).Apply(ctx)
	var h *Halt
	if !errors.As(err, &h) || !h.Asked || !h.Touched || h.Unsure || !h.Acted || len(f.did) != 2 {
		t.Fatalf("did %q: %v", f.did, err)
	}
	if !strings.Contains(err.Error(), "step 2 was carried out, and after it the cluster was not seen to be whole") {
		t.Errorf("it does not say where it stands: %v", err)
	}
}

// TestResumeFromEveryLine cuts the journal off after each of its lines, and in
// the middle of each, and demands that a resumed run does what is left and
// nothing that was done.
func TestResumeFromEveryLine(t *testing.T) {
	p, f := planOf(t)
	if err := f.run(p).Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := f.log.Bytes()
	for cut := 0; cut < len(all); cut += 1 + len(all)/200 {
		rs, whole, err := ReadJournal(bytes.NewReader(all[:cut]), p.Digest)
		if err != nil || whole > int64(cut) {
			t.Fatalf("cut at %d: %d, %v", cut, whole, err)
		}
		s := Stands(rs)
		_, g := planOf(t)
		if s.Done[3] || s.Open[3] {
			g.state.Leader = "cp-2"
		}
		r := g.run(p)
		r.Resume = &s
		if err := r.Apply(t.Context()); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		for i, what := range fourSteps {
			n := i + 1
			times := 0
			for _, d := range g.did {
				if d == what {
					times++
				}
			}
			want := 1
			if s.Acted[n] || s.Done[n] || n == 3 && s.Open[n] {
				want = 0
			}
			if times != want {
				t.Errorf("cut at %d: step %d was done %d times, want %d; the journal stands at %+v", cut, n, times, want, s)
			}
		}
	}
}

// TestLostEffectIsMadeAgain holds that a member which got the leader's file after
// it was defragmented is defragmented again, not called done. lab/chaos found it.
func TestLostEffectIsMadeAgain(t *testing.T) {
	p, f := planOf(t)
	rs := []Record{{Event: Began, Step: 1, Before: map[string]float64{"size": 1 << 30}}, {Event: Acted, Step: 1, Seconds: 1}}
	s := Stands(rs)
	f.bad = func(f *fake, id checks.ID) checks.Status {
		if id == shrunkID && len(f.did) == 0 {
			return checks.Warning
		}
		return checks.OK
	}
	r := f.run(p)
	r.Resume = &s
	if err := r.Apply(t.Context()); err != nil || !slices.Equal(f.did, fourSteps) {
		t.Errorf("did %q: %v", f.did, err)
	}
	for _, tt := range []struct {
		size, inUse string
		ok          bool
	}{
		{"1073741824", "314572800", false}, // as before
		{"1073741824", "1060000000", true}, // it was not fragmented, and the rule was true
		{"330000000", "314572800", true},
		{"600000000", "314572800", true}, // a compaction came right after
		{"1173741824", "1173741824", false},
	} {
		g := newGate(p)
		g.before["cp-2"] = 1 << 30
		c := []*checks.Check{g.shrunk("cp-2")}
		change := map[string]string{status2: status(2, map[string]string{"dbSize": tt.size, "dbSizeInUse": tt.inUse})}
		if err := demand(c, checks.Run(snapshot(t, change, checks.Facts(c)...), c)); (err == nil) != tt.ok {
			t.Errorf("%s of %s in use: got %v", tt.inUse, tt.size, err)
		}
	}
}

func TestPlanFileIsRefusedIfItWasChanged(t *testing.T) {
	p, _ := planOf(t)
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(bytes.NewReader(b)); err != nil {
		t.Fatalf("as it was written: %v", err)
	}
	for _, tt := range []struct{ old, new, words string }{
		{"defragment", "defragmemt", "digest does not match"},
		{`"leader":"cp-1"`, `"leader":"cp-2"`, "digest does not match"},
		{`"schemaVersion":1`, `"schemaVersion":2`, "schema version"},
		{`"recipe"`, `"cipe"`, "unknown field"},
		{"{", "[", "invalid character"},
	} {
		changed := strings.Replace(string(b), tt.old, tt.new, 1)
		if _, err := Read(strings.NewReader(changed)); err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: got %v, want %q", tt.new, err, tt.words)
		}
	}
	// Who makes the digest fit still cannot take a guard out.
	q := *p
	q.Steps = slices.Clone(p.Steps)
	q.Steps[0].Guards = q.Steps[0].Guards[1:]
	q.seal()
	b, _ = json.Marshal(q)
	if _, err := Read(bytes.NewReader(b)); err == nil || !strings.Contains(err.Error(), "other guards") {
		t.Errorf("without a guard: got %v", err)
	}
}

// FuzzPlan reads plans that are broken or hostile: also those whose digests and
// guards someone made fit.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":1,"recipe":"etcd-defrag","steps":[{"action":{"kind":"etcd.defragment"}}]}`))
	for _, kind := range []Kind{Snapshot, Compact, Defragment, MoveLeader, Disarm, VerifyWrite, OpenHook, RemoveAPIService, PruneEvents, HandOver, "etcd.delete-all"} {
		f.Add(fmt.Appendf(nil, `{"schemaVersion":1,"recipe":"etcd-defrag","created":"2026-01-02T03:04:05Z","validFor":"1h","options":{"settle":"1s","settleTimeout":"1s","window":"x","rule":"1"},
			"state":{"clusterID":"7","members":[{"name":"cp-1","id":"zz"}],"leader":"cp-9"},"steps":[{"action":{"kind":%q,"target":"etcd/cp-1","args":{"revision":"-9","notBefore":"soon","before":"x","limit":"1e9","memberID":"-1","seconds":"x"}}}]}`, kind))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Read(bytes.NewReader(b))
		if err != nil {
			var q Plan
			if json.Unmarshal(b, &q) != nil {
				return
			}
			g := newGate(&q)
			for i := range q.Steps {
				guards, clears := g.of(i)
				q.Steps[i].Guards, q.Steps[i].Clears = ids(guards), ids(clears)
			}
			q.seal()
			fit, err := json.Marshal(q)
			if err != nil {
				return
			}
			if p, err = Read(bytes.NewReader(fit)); err != nil {
				return
			}
		}
		// One that passes must stop at its guards, not at a fault of ours.
		g := newGate(p)
		for i, s := range p.Steps {
			guards, clears := g.of(i)
			if len(guards) == 0 {
				t.Errorf("%s has no guards", s.Action.Kind)
			}
			for _, c := range append(guards, clears...) {
				for _, x := range checks.Run(nothing, []*checks.Check{c}) {
					if x.Gap != nil && x.Gap.Reason == collectors.Bug {
						t.Errorf("%s: %s", c.ID, x.Summary)
					}
				}
			}
			s.Describe()
			g.done(s.Action, 0)
		}
		p.State.Differences(State{})
	})
}

// nothing is a look that saw nothing.
var nothing = collectors.Collect(context.Background(), capture.NewScript(checktest.Now, 0), checktest.Now, 0, collectors.Options{}).Snapshot

func TestWindow(t *testing.T) {
	at := func(s string) time.Time {
		x, err := time.Parse("2006-01-02 15:04", s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, tt := range []struct {
		window, at string
		left       time.Duration
	}{
		{"01:00-05:00", "2026-01-02 03:00", 2 * time.Hour},
		{"01:00-05:00", "2026-01-02 05:00", 0},
		{"01:00-05:00", "2026-01-02 00:59", 0},
		{"22:00-04:00", "2026-01-02 23:00", 5 * time.Hour},
		{"22:00-04:00", "2026-01-02 03:00", time.Hour},
		{"sat,sun 22:00-04:00", "2026-01-02 23:00", 0}, // a Friday
		{"sat,sun 22:00-04:00", "2026-01-03 23:00", 5 * time.Hour},
		{"sat,sun 22:00-04:00", "2026-01-05 03:00", time.Hour}, // Monday, of the window that began on Sunday
	} {
		w, err := ParseWindow(tt.window)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Left(at(tt.at)); got != tt.left {
			t.Errorf("%s at %s: %s left, want %s", tt.window, tt.at, got, tt.left)
		}
	}
	for _, bad := range []string{"", "now", "01:00", "01:00-01:00", "25:00-26:00", "mon", "xyz 01:00-02:00", "mon tue 01:00-02:00"} {
		if _, err := ParseWindow(bad); err == nil {
			t.Errorf("%q is taken for a window", bad)
		}
	}
}

func TestRule(t *testing.T) {
	db := etcd.Space{Size: 1 << 30, InUse: 1 << 29, Quota: 2 << 30}
	for text, want := range map[string]bool{
		DefaultRule: true, "fragmentation > 0.6": false, "free == 512*MiB": true, "usage == 0.5": true, "true": true,
	} {
		r, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.Matches(db); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"size", "size >", "bytes > 1", "1/0 == 1", "size > 1.0", strings.Repeat("size > 1 && ", 5000) + "true"} {
		if _, err := ParseRule(bad); err == nil {
			t.Errorf("%.20s is taken for a rule", bad)
		}
	}
	// Of a quota that is not known nothing is assumed, and what does not depend
	// on it is judged all the same.
	r, _ := ParseRule(DefaultRule)
	db.Quota = 0
	if got, err := r.Matches(db); err != nil || !got {
		t.Errorf("got %v, %v: its fragmentation suffices", got, err)
	}
	db.InUse = db.Size - 100<<20
	if _, err := r.Matches(db); !errors.Is(err, errNoQuota) {
		t.Errorf("got %v, want %v", err, errNoQuota)
	}
}
