package etcdview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	etcdchecks "github.com/ktriage/ktriage/checks/etcd"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/remediate"
)

// A Perf is how fast etcd is.
type Perf struct {
	SchemaVersion string        `json:"schemaVersion"`
	Source        string        `json:"source"`
	At            time.Time     `json:"at"`
	WindowSeconds float64       `json:"windowSeconds"`
	Status        checks.Status `json:"status"`
	Members       []PerfMember  `json:"members"`
	Findings      []PerfFinding `json:"findings"`
	Load          *Load         `json:"load,omitempty"`
	Gaps          []Gap         `json:"gaps"`
}

// A PerfMember is one member. What is null could not be measured.
type PerfMember struct {
	Name   string `json:"name"`
	Role   string `json:"role,omitempty"`
	Own    *Times `json:"serializableReads"` // from its own copy
	Agreed *Times `json:"linearizableReads"` // with the word of the leader
	Fsync  *Times `json:"fsync"`
	Commit *Times `json:"commit"`
	Apply  *Times `json:"apply"`
	Peer   *Times `json:"peerRoundTrip"` // to the slowest peer
	Failed int    `json:"readsFailed"`
}

// Times is how long something took, in seconds.
type Times struct {
	Count   float64      `json:"count"`
	P50     float64      `json:"p50"`
	P90     float64      `json:"p90"`
	P99     float64      `json:"p99"`
	Max     *float64     `json:"max,omitempty"`
	AtLeast bool         `json:"atLeast,omitempty"` // the p99 is beyond what is counted
	Basis   checks.Basis `json:"basis"`             // window, lifetime

	over int  // took much longer than the fastest
	slow bool // so many that it is no chance
}

// A PerfFinding is one verdict.
type PerfFinding struct {
	Check   checks.ID     `json:"check"`
	Target  string        `json:"target"`
	Status  checks.Status `json:"status"`
	Summary string        `json:"summary"`
	Limits  []string      `json:"limits,omitempty"`
}

// A Load is what the test of writes measured.
type Load struct {
	Size      string                  `json:"size"`
	Rate      int                     `json:"targetPerSecond"`
	Seconds   float64                 `json:"seconds"`
	Writes    int                     `json:"writes"`
	Failed    int                     `json:"failed"`
	Error     string                  `json:"error,omitempty"`
	PerSecond float64                 `json:"perSecond"`
	Took      *Times                  `json:"took"`
	Pass      bool                    `json:"pass"`
	Verdicts  []remediate.LoadVerdict `json:"verdicts"`
	Stopped   string                  `json:"stopped,omitempty"`
	Prefix    string                  `json:"prefix"`
	KeysLeft  *int64                  `json:"keysLeft"` // null if not known
	Wrote     int64                   `json:"bytesWritten"`
}

// PerfChecks are the checks on how fast etcd is.
var PerfChecks = []*checks.Check{
	etcdchecks.WALFsyncSlow, etcdchecks.BackendCommitSlow, etcdchecks.PeerRTTHigh, etcdchecks.ApplySlow, etcdchecks.GRPCSlow,
	etcdchecks.HeartbeatFailures, etcdchecks.LeaderFlapping, etcdchecks.ProposalsPending, etcdchecks.ProposalsFailed, etcdchecks.MemberUnreachable, etcdchecks.NoLeader,
}

// A read is slow from here on, besides the way to the member, which the
// fastest read of it shows.
const (
	readSlow       = 150 * time.Millisecond
	readShare      = 0.01
	readSlowSource = "etcd-mixin etcdGRPCRequestsSlow"
	readCheck      = checks.ID("etcd perf")
)

// PerfFacts are what NewPerf reads, besides those of the checks.
func PerfFacts(series *collectors.Fact[etcd.Series]) []collectors.Any {
	return append([]collectors.Any{etcd.Members, etcd.Roles, etcd.FsyncLatency, etcd.CommitLatency, etcd.PeerMetrics, etcd.ApplyMetrics, series}, checks.Facts(PerfChecks)...)
}

// NewPerf makes the document of a snapshot. Under a load of our own the timed
// reads are shown and not judged: this process is then busy itself.
func NewPerf(s *collectors.Snapshot, source string, series *collectors.Fact[etcd.Series], loaded bool) *Perf {
	d := &Perf{SchemaVersion: SchemaVersion, Source: source, At: s.At.UTC(), WindowSeconds: s.Window.Seconds(), Members: []PerfMember{}, Findings: []PerfFinding{}, Gaps: []Gap{}}
	fs := checks.Run(s, PerfChecks)
	ts, err := etcd.MemberTargets(s)
	if err != nil {
		g := collectors.AsGap(err, collectors.Bug)
		d.Gaps = append(d.Gaps, Gap{"etcd", "who its members are", g.Reason, g.Detail, g.Remedy})
		return d
	}
	for _, t := range ts {
		d.Members = append(d.Members, d.member(s, t, series))
	}
	slices.SortFunc(d.Members, func(a, b PerfMember) int { return cmp.Compare(a.Name, b.Name) })
	var worst []checks.Finding
	if !loaded {
		worst = d.readings()
	}
	for _, f := range fs {
		if f.Status == checks.OutOfScope {
			continue
		}
		x := PerfFinding{Check: f.Check, Target: f.Target.Name, Status: f.Status, Summary: f.Summary}
		for _, e := range f.Evidence {
			if e.Limit != "" {
				x.Limits = append(x.Limits, fmt.Sprintf("%s %s, limit %s (%s)", e.Field, e.Value, e.Limit, e.Source))
			}
		}
		d.Findings = append(d.Findings, x)
	}
	d.Status = checks.Worst(append(worst, fs...))
	return d
}

func (d *Perf) member(s *collectors.Snapshot, t collectors.Target, series *collectors.Fact[etcd.Series]) PerfMember {
	m := PerfMember{Name: t.Name}
	gap := func(what string, g *collectors.Gap) {
		d.Gaps = append(d.Gaps, Gap{t.Name, what, g.Reason, g.Detail, g.Remedy})
	}
	if r, gap := etcd.Roles.Of(s, t); gap == nil {
		m.Role = map[bool]string{true: "leader", false: "follower"}[r.IsLeader]
		if r.Learner {
			m.Role = "learner"
		}
	}
	if x, g := series.Of(s, t); g != nil {
		gap("timed reads", g)
	} else {
		m.Own, m.Agreed, m.Failed = times(x.Serializable), times(x.Linearizable), x.Failed
		if x.Gap != nil {
			gap(fmt.Sprintf("%d of %d timed reads", x.Failed, x.Failed+len(x.Serializable)+len(x.Linearizable)), x.Gap)
		}
	}
	var metricsGap *collectors.Gap
	histogram := func(l metrics.Latency, g *collectors.Gap) *Times {
		if g != nil {
			metricsGap = cmp.Or(metricsGap, g)
			return nil
		}
		return quantiles(l)
	}
	m.Fsync = histogram(etcd.FsyncLatency.Of(s, t))
	m.Commit = histogram(etcd.CommitLatency.Of(s, t))
	if a, g := etcd.ApplyMetrics.Of(s, t); g == nil && a.HasTime {
		m.Apply = quantiles(a.Duration)
	}
	if p, g := etcd.PeerMetrics.Of(s, t); g == nil {
		for id, l := range p.RTT {
			if active, ever := p.Active[id]; ever && !active {
				continue
			}
			if q := quantiles(l); q != nil && (m.Peer == nil || q.P99 > m.Peer.P99) {
				m.Peer = q
			}
		}
	}
	if metricsGap != nil {
		gap("fsync, commit, apply and round trips, which its metrics tell", metricsGap)
	}
	return m
}

// readings judges the timed reads.
func (d *Perf) readings() []checks.Finding {
	var out []checks.Finding
	for _, m := range d.Members {
		for _, r := range []struct {
			kind string
			t    *Times
		}{{"serializable", m.Own}, {"linearizable", m.Agreed}} {
			f := checks.Finding{Check: readCheck, Target: collectors.Target{Component: collectors.Etcd, Name: m.Name}}
			switch {
			case r.t == nil:
				f.Summary = "no " + r.kind + " read was timed; see below"
				f.Gap = collectors.Gapf(collectors.Unreachable, "%s", f.Summary)
			case r.t.slow:
				f.Status = checks.Warning
				f.Summary = fmt.Sprintf("%s reads take p99 %s: %d of %.0f took over %s more than the fastest", r.kind, checks.Seconds(r.t.P99), r.t.over, r.t.Count, checks.Seconds(readSlow.Seconds()))
			default:
				f.Status = checks.OK
				f.Summary = fmt.Sprintf("%s reads take p99 %s: %d of %.0f took over %s more than the fastest", r.kind, checks.Seconds(r.t.P99), r.t.over, r.t.Count, checks.Seconds(readSlow.Seconds()))
			}
			out = append(out, f)
			d.Findings = append(d.Findings, PerfFinding{f.Check, m.Name, f.Status, f.Summary, []string{"limit " + checks.Seconds(readSlow.Seconds()) + " (" + readSlowSource + ")"}})
		}
	}
	return out
}

// times sums up single measurements.
func times(all []time.Duration) *Times {
	if len(all) == 0 {
		return nil
	}
	s := slices.Sorted(slices.Values(all))
	at := func(q float64) float64 { return s[min(len(s)-1, int(q*float64(len(s))))].Seconds() }
	t := &Times{Count: float64(len(s)), P50: at(.5), P90: at(.9), P99: at(.99), Max: ptr(s[len(s)-1].Seconds()), Basis: checks.OverWindow}
	for _, x := range s {
		if x-s[0] > readSlow {
			t.over++
		}
	}
	t.slow = metrics.Exceeds(t.Count, float64(t.over), readShare)
	return t
}

// quantiles sums up a histogram: over the window, or where it holds nothing,
// since the start.
func quantiles(l metrics.Latency) *Times {
	h, basis := l.Window, checks.OverWindow
	if h.Count == 0 {
		h, basis = l.Lifetime, checks.OverLifetime
	}
	p50, ok := h.Quantile(.5)
	p90, _ := h.Quantile(.9)
	p99, _ := h.Quantile(.99)
	if !ok {
		return nil
	}
	return &Times{Count: h.Count, P50: p50.Value, P90: p90.Value, P99: p99.Value, AtLeast: p99.Beyond, Basis: basis}
}

// AddLoad adds what a test of writes measured.
func (d *Perf) AddLoad(r remediate.LoadResult) {
	l := &Load{Size: r.Load.Size, Rate: r.Load.Rate, Seconds: r.Elapsed.Seconds(), Writes: len(r.Took), Failed: r.Failed, Error: r.Error, PerSecond: r.PerSecond(),
		Took: times(r.Took), Verdicts: r.Verdicts(), Stopped: r.Stopped, Prefix: r.Load.Prefix, Wrote: int64(len(r.Took)) * (remediate.LoadKey + remediate.LoadValue)}
	l.Pass = r.Stopped == "" && !slices.ContainsFunc(l.Verdicts, func(v remediate.LoadVerdict) bool { return !v.Pass })
	if r.Left >= 0 {
		l.KeysLeft = ptr(r.Left)
	}
	d.Load = l
	if !l.Pass && d.Status.Severity() < checks.Warning.Severity() {
		d.Status = checks.Warning
	}
}

// Text writes the document for a terminal.
func (d *Perf) Text(bool) string {
	var b strings.Builder
	head := fmt.Sprintf("%s · watched for %s", strings.ToUpper(d.Status.String()), checks.Seconds(d.WindowSeconds))
	if d.Source != "live" {
		head += " · from " + d.Source + " of " + d.At.Format(time.RFC3339)
	}
	said(&b, "", "  ", "%s", head)
	if len(d.Members) > 0 {
		b.WriteString("\n")
		t := table{titles: []string{"member", "role", "own reads p50", "  p99", "  slowest", "agreed reads p50", "  p99", "  slowest", "fsync p50", "  p99", "commit p99", "apply p99", "peer rtt p99"}}
		for _, m := range d.Members {
			peer := p(m.Peer, .99)
			if m.Peer == nil && len(d.Members) == 1 {
				peer = untold
			}
			t.add(m.Name, cmp.Or(m.Role, unknown), p(m.Own, .5), p(m.Own, .99), p(m.Own, 1), p(m.Agreed, .5), p(m.Agreed, .99), p(m.Agreed, 1),
				p(m.Fsync, .5), p(m.Fsync, .99), p(m.Commit, .99), p(m.Apply, .99), peer)
		}
		t.columnwise(&b)
		legend := "own: serializable, from the member's own copy; agreed: linearizable, with the leader and a majority"
		if strings.Contains(b.String(), sinceStart) {
			legend += ";" + sinceStart + " since its start, as the window holds none"
		}
		said(&b, "", "  ", "%s", legend)
	}
	d.verdicts(&b)
	d.load(&b)
	gaps(&b, d.Gaps)
	return b.String()
}

// sinceStart marks a number that is not of the window.
const sinceStart = " *"

func p(t *Times, q float64) string {
	if t == nil {
		return unknown
	}
	v := map[float64]float64{.5: t.P50, .99: t.P99}[q]
	if q == 1 && t.Max != nil {
		v = *t.Max
	}
	s := checks.Seconds(v)
	if q == .99 && t.AtLeast {
		s = ">" + s
	}
	if t.Basis == checks.OverLifetime {
		s += sinceStart
	}
	return s
}

func (d *Perf) verdicts(b *strings.Builder) {
	good := 0
	var of []string // the rules that are OK wherever they were judged
	var lines []PerfFinding
	for _, f := range d.Findings {
		if f.Status == checks.OK {
			good++
			if !slices.Contains(of, string(f.Check)) {
				of = append(of, string(f.Check))
			}
		} else {
			lines = append(lines, f)
		}
	}
	lines = foldUnknown(lines)
	slices.SortStableFunc(lines, func(x, y PerfFinding) int { return y.Status.Severity() - x.Status.Severity() })
	if len(lines)+good > 0 {
		b.WriteString("\n")
	}
	for _, f := range lines {
		said(b, "", "  ", "%-8s  %s/%s: %s", strings.ToUpper(f.Status.String()), f.Check, cmp.Or(f.Target, "etcd"), f.Summary)
		for _, l := range f.Limits {
			said(b, "  - ", "    ", "%s", l)
		}
	}
	if good > 0 {
		said(b, "", "  ", "OK        %s of %s", checks.Count(good, "verdict"), strings.Join(of, ", "))
	}
}

// foldUnknown tells once of a member what of it is not known: most often that
// is all, for one reason.
func foldUnknown(all []PerfFinding) []PerfFinding {
	var out []PerfFinding
	at := map[string]int{}
	more := map[string]int{}
	for _, f := range all {
		if f.Status != checks.Unknown {
			out = append(out, f)
			continue
		}
		if _, ok := at[f.Target]; ok {
			more[f.Target]++
			continue
		}
		at[f.Target] = len(out)
		f.Limits = nil
		out = append(out, f)
	}
	for t, n := range more {
		out[at[t]].Summary += fmt.Sprintf(" (and %s more)", checks.Count(n, "rule"))
	}
	return out
}

func (d *Perf) load(b *strings.Builder) {
	l := d.Load
	if l == nil {
		return
	}
	b.WriteString("\n")
	verdict := "FAIL"
	switch {
	case l.Pass:
		verdict = "PASS"
	case l.Stopped != "":
		verdict = "ENDED EARLY"
	}
	said(b, "", "  ", "%s load %s: %s of %d bytes in %s (%s); as etcdctl check perf judges it", verdict, l.Size, checks.Count(l.Writes, "write"), remediate.LoadValue, checks.Seconds(l.Seconds), checks.Bytes(l.Wrote))
	var t table
	t.titles = []string{"", "measured>", "limit>", ""}
	for _, v := range l.Verdicts {
		t.add(v.Name, v.Value, v.Limit, map[bool]string{true: "pass", false: "FAIL"}[v.Pass])
	}
	t.rowwise(b)
	if l.Took != nil {
		said(b, "", "  ", "write p50 %s · p90 %s · p99 %s · slowest %s", checks.Seconds(l.Took.P50), checks.Seconds(l.Took.P90), checks.Seconds(l.Took.P99), checks.Seconds(*l.Took.Max))
	}
	if l.Error != "" {
		said(b, "", "  ", "the first write that failed: %s", l.Error)
	}
	if l.Stopped != "" {
		said(b, "", "  ", "it ended early: %s", l.Stopped)
	}
	switch {
	case l.KeysLeft == nil:
		said(b, "", "  ", "whether keys are left below %s is not known; they expire by themselves", l.Prefix)
	case *l.KeysLeft > 0:
		said(b, "", "  ", "%s are left below %s; they expire by themselves", checks.Count(*l.KeysLeft, "key"), l.Prefix)
	default:
		said(b, "", "  ", "no key of it is left. Nothing was compacted: its history stays until the API server's next compaction, within 10 minutes, and its pages are free after that")
	}
}
