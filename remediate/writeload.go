package remediate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/ktriage/ktriage/checks"
	etcdchecks "github.com/ktriage/ktriage/checks/etcd"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// A WriteLoad is a test of how many writes etcd takes, as etcdctl check perf
// makes it, bounded in time and bytes.
type WriteLoad struct {
	Size    string // "s", "m", "l", "xl"
	Rate    int    // writes a second
	Workers int    // at a time
	For     time.Duration
	Prefix  string // of its keys, on which no other writes
}

// The sizes are those of etcdctl check perf. Source: etcd v3.7.3,
// etcdctl/ctlv3/command/check.go.
var loadSizes = map[string]WriteLoad{
	"s":  {Size: "s", Rate: 150, Workers: 50},
	"m":  {Size: "m", Rate: 1000, Workers: 200},
	"l":  {Size: "l", Rate: 8000, Workers: 500},
	"xl": {Size: "xl", Rate: 15000, Workers: 1000},
}

// LoadSizes lists the sizes, the smallest first.
var LoadSizes = []string{"s", "m", "l", "xl"}

// Bounds of a load, and what one of its writes takes.
const (
	MaxLoad   = time.Minute // as long as etcdctl's takes
	MinLoad   = 5 * time.Second
	LoadKey   = 256  // bytes, as etcdctl's
	LoadValue = 1024 // bytes, as etcdctl's
	LoadKeys  = 1000 // that are written over and over: one delete takes them away
	// overhead is what a revision takes in the database besides key and value:
	// its index, lease, revisions, and the free room of pages.
	overhead = 400
)

// NewWriteLoad returns the load of a size.
func NewWriteLoad(size string, d time.Duration, prefix string) (WriteLoad, error) {
	l, ok := loadSizes[size]
	switch {
	case !ok:
		return l, fmt.Errorf("%q is no size of a load: want s, m, l or xl", size)
	case d < MinLoad || d > MaxLoad:
		return l, fmt.Errorf("a load takes from %s to %s, not %s", MinLoad, MaxLoad, d)
	}
	l.For, l.Prefix = d, prefix
	return l, nil
}

// Writes is how many writes it makes at most.
func (l WriteLoad) Writes() int { return int(float64(l.Rate) * l.For.Seconds()) }

// Bytes is by how much the database grows at most: until the next compaction
// all revisions are kept.
func (l WriteLoad) Bytes() int64 { return int64(l.Writes()) * (LoadKey + LoadValue + overhead) }

// A LoadRun is what it takes to make a load. It is no step of a plan, since all
// that it writes is its own and expires by itself; but no other run may be under
// way in the cluster meanwhile, and the journal tells who made it and when.
type LoadRun struct {
	Load    WriteLoad
	Look    Look
	Do      func(context.Context, WriteLoad) error
	Lock    Lock
	Journal *Journal
	Clock   Clock
	Who     Who
}

// ID names the load in its journal.
func (l WriteLoad) ID() string { return "load-" + path.Base(l.Prefix) }

// Run makes the load if the cluster is fit for it by fresh facts, and demands
// proof afterwards that it is well and that no key is left. Begun tells whether
// anything may have been written.
func (r *LoadRun) Run(ctx context.Context) (begun bool, err error) {
	l := r.Load
	write := func(x Record) error {
		x.At, x.Plan, x.Recipe = r.Clock.Now(), l.ID(), "etcd-load"
		return r.Journal.write(x)
	}
	well := []*checks.Check{etcdchecks.MemberUnreachable, etcdchecks.QuorumLost, etcdchecks.NoLeader, etcdchecks.NoSpaceAlarm, etcdchecks.CorruptAlarm}
	before := append(slices.Clone(well), l.room())
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := demand(before, r.Look(ctx, before)); err != nil {
		return false, errors.Join(err, write(Record{Event: Refused, Error: err.Error(), Who: &r.Who}))
	}
	if err := r.Lock.Held(); err != nil {
		return false, err
	}
	if err := write(Record{Event: Began, Who: &r.Who, Before: map[string]float64{"writes": float64(l.Writes()), "bytes": float64(l.Bytes())}}); err != nil {
		return false, err
	}
	if err := r.Do(ctx, l); err != nil {
		return true, errors.Join(err, write(Record{Event: Failed, Error: err.Error()}))
	}
	after := append(slices.Clone(well), l.gone())
	if err := demand(after, r.Look(ctx, after)); err != nil {
		err = fmt.Errorf("the load is done, and it is not certain that all is well: %w", err)
		return true, errors.Join(err, write(Record{Event: Failed, Error: err.Error()}))
	}
	return true, write(Record{Event: Ended})
}

// LoadChecks are what must not be bad or unknown before a load: all about
// etcd that doctor judges, and the room that the load takes.
func (l WriteLoad) LoadChecks() []*checks.Check {
	all := slices.DeleteFunc(slices.Clone(etcdchecks.All), func(c *checks.Check) bool { return c.Deep })
	return append(all, l.room())
}

// ofFlags are rules on how etcd's pods were started, which only the API server
// tells. That it cannot be asked says nothing of whether etcd is well; that one
// of them is bad does count.
var ofFlags = []checks.ID{"etcd-shared-with-others", "etcd-auto-compaction-conflict", "etcd-corruption-check-off"}

// WhyNot lists why a load is not made: each finding that is bad, and of each
// target what could not be judged. An empty list allows it.
func WhyNot(fs []checks.Finding) []string {
	if len(fs) == 0 {
		return []string{"nothing is known of etcd"}
	}
	var out []string
	unknown := map[string][]checks.Finding{}
	var order []string
	for _, f := range fs {
		switch f.Status {
		case checks.OK, checks.Info, checks.OutOfScope:
		case checks.Unknown:
			if slices.Contains(ofFlags, f.Check) {
				continue
			}
			t := f.Target.String()
			if unknown[t] == nil {
				order = append(order, t)
			}
			unknown[t] = append(unknown[t], f)
		default:
			out = append(out, fmt.Sprintf("%s is %s on %s: %s", f.Check, f.Status, f.Target, f.Summary))
		}
	}
	for _, t := range order {
		var ids []string
		for _, f := range unknown[t] {
			ids = append(ids, string(f.Check))
		}
		first := unknown[t][0]
		out = append(out, fmt.Sprintf("%s: not known is %s: %s: %s", t, checks.List(ids, 3), first.Gap.Reason, first.Summary))
	}
	return out
}

// fullest is how full a database may get by a test: what remains is for the
// cluster. doctor warns at 75%.
const fullest = 0.6

func (l WriteLoad) room() *checks.Check {
	return &checks.Check{
		ID: "etcd-load-room", Component: collectors.Etcd, Title: "every database has room for the load below 60% of its quota", Needs: []collectors.Any{etcd.DB},
		Run: func(p *checks.Pass) {
			for m, db := range checks.Each(p, etcd.DB) {
				switch s := roomFor(l, db); s {
				case checks.Unknown:
					p.Unknown(m, collectors.Gapf(collectors.Absent, "it does not tell its quota").With("etcd's metrics tell it"))
				case checks.Warning:
					p.Warn(m, "the load adds up to %s to a database of %s: more than 60%% of its quota of %s", checks.Bytes(l.Bytes()), checks.Bytes(db.Size), checks.Bytes(db.Quota))
				default:
					p.OK(m, "the load adds up to %s to a database of %s", checks.Bytes(l.Bytes()), checks.Bytes(db.Size))
				}
			}
		},
	}
}

// roomFor reports whether a database may take a load; unknown if its quota is.
func roomFor(l WriteLoad, db etcd.Space) checks.Status {
	switch {
	case db.Quota == 0:
		return checks.Unknown
	case db.Quota > 0 && float64(db.Size+l.Bytes()) > fullest*float64(db.Quota):
		return checks.Warning
	}
	return checks.OK
}

// gone demands that no key of the load is left, by a read of its own.
func (l WriteLoad) gone() *checks.Check {
	left := &collectors.Fact[int64]{
		ID: "etcd.load-keys", Doc: "how many keys of the load are left", Needs: []collectors.Any{etcd.Members}, Targets: voters,
		Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
			return etcd.AskCount(s, t, l.Prefix)
		},
		Read: etcd.ReadCount,
	}
	return &checks.Check{
		ID: "etcd-load-gone", Component: collectors.Etcd, Title: "no key of the load is left", Needs: []collectors.Any{left},
		Run: func(p *checks.Pass) {
			for m, n := range checks.Each(p, left) {
				if n > 0 {
					p.Warn(m, "%s of the load are left below %s", checks.Count(n, "key"), l.Prefix)
				} else {
					p.OK(m, "no key of the load is left")
				}
			}
		},
	}
}

// voters are the members that can be read with the word of the leader.
func voters(s *collectors.Snapshot) ([]collectors.Target, error) {
	m, gap := etcd.Members.One(s)
	if gap != nil {
		return nil, gap
	}
	var out []collectors.Target
	for _, x := range m.Members {
		if x.Started && !x.Learner {
			out = append(out, x.Target())
		}
	}
	return out, nil
}

// A LoadResult is what a load measured.
type LoadResult struct {
	Load     WriteLoad
	Took     []time.Duration // of the writes that were done, in no order
	Failed   int
	Error    string // of the first that failed
	Elapsed  time.Duration
	Stopped  string // why it ended early; empty if it did not
	Left     int64  // keys that could not be taken away; −1 if that is not known
	LeftWhy  string
	TTL      time.Duration // after which they go by themselves
	Revision int64         // after it
}

// Verdicts of etcdctl check perf.
const (
	loadShare   = 0.9                    // of the rate that must be reached
	loadSlowest = 500 * time.Millisecond // that any write may take
	loadStddev  = 100 * time.Millisecond
)

// A LoadVerdict is one of the conditions of etcdctl check perf.
type LoadVerdict struct {
	Name  string `json:"name"`
	Pass  bool   `json:"pass"`
	Value string `json:"value"`
	Limit string `json:"limit"`
}

// PerSecond is how many writes were done a second.
func (r LoadResult) PerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(len(r.Took)) / r.Elapsed.Seconds()
}

// Slowest is how long the slowest write took.
func (r LoadResult) Slowest() time.Duration {
	if len(r.Took) == 0 {
		return 0
	}
	return slices.Max(r.Took)
}

// Stddev is the standard deviation of how long the writes took.
func (r LoadResult) Stddev() time.Duration {
	n := float64(len(r.Took))
	if n == 0 {
		return 0
	}
	sum, squares := 0.0, 0.0
	for _, d := range r.Took {
		sum += d.Seconds()
	}
	for _, d := range r.Took {
		squares += (d.Seconds() - sum/n) * (d.Seconds() - sum/n)
	}
	return time.Duration(math.Sqrt(squares/n) * float64(time.Second))
}

// Verdicts judges it as etcdctl check perf does.
func (r LoadResult) Verdicts() []LoadVerdict {
	ms := func(d time.Duration) string { return checks.Seconds(d.Seconds()) }
	return []LoadVerdict{
		{"writes a second", r.PerSecond() > loadShare*float64(r.Load.Rate), fmt.Sprintf("%.0f", r.PerSecond()), fmt.Sprintf("more than %.0f", loadShare*float64(r.Load.Rate))},
		{"slowest write", len(r.Took) > 0 && r.Slowest() <= loadSlowest, ms(r.Slowest()), "at most " + ms(loadSlowest)},
		{"standard deviation", len(r.Took) > 0 && r.Stddev() <= loadStddev, ms(r.Stddev()), "at most " + ms(loadStddev)},
		{"failed writes", r.Failed == 0, strconv.Itoa(r.Failed), "0"},
	}
}
