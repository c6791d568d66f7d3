package etcd

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed db_growth.md
var dbGrowthDoc string

// DBGrowth looks for databases that will reach their quota soon at the rate at
// which they are written to.
var DBGrowth = &checks.Check{
	ID:        "etcd-db-growth",
	Component: collectors.Etcd,
	Title:     "no etcd database grows towards its quota",
	Doc:       dbGrowthDoc,
	Needs:     []collectors.Any{etcd.WriteMetrics, etcd.DB, apiserver.StoreDemand, etcd.LeaseMetrics},
	Remedies: []checks.Remedy{
		{Title: "see which resource is written the most", Command: "kubectl get --raw /metrics | grep -E '^apiserver_request_total.*verb=\"(POST|PUT|PATCH|APPLY)\"' | sort -k2 -g -r | head -20", Risk: checks.ReadOnly},
		{Title: "see which resource has the most objects", Command: "kubectl get --raw /metrics | grep -E '^apiserver_(storage|resource)_objects' | sort -k2 -g -r | head", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{growthHorizonAt},
	Run:        dbGrowth,
}

const (
	// growthHorizon is how far ahead etcd-mixin looks, etcdExcessiveDatabaseGrowth.
	growthHorizon = 4 * time.Hour
	growthSource  = "etcd-mixin etcdExcessiveDatabaseGrowth: full within 4 h"
	// retained is how much history there is before a compaction: the API server
	// compacts every 5 minutes what is 5 minutes old. Source: kube-apiserver,
	// --etcd-compaction-interval.
	retained       = 10 * time.Minute
	retainedSource = "kube-apiserver --etcd-compaction-interval=5m: 5 to 10 minutes are kept"
	// growthFew is of how many new keys on their rate says anything [exp].
	growthFew = 100
)

var growthHorizonAt = checks.NewThreshold("horizon", checks.InSeconds, checks.Secs(growthHorizon), "until the quota is reached at the present rate", growthSource)

func dbGrowth(p *checks.Pass) {
	for m, w := range checks.Each(p, etcd.WriteMetrics) {
		db, gap := checks.Of(p, etcd.DB, m)
		switch {
		case gap != nil:
			p.Unknown(m, gap)
			continue
		case !w.Bytes.Watched || w.Bytes.Elapsed <= 0:
			p.Unknown(m, collectors.Gapf(collectors.NotAsked, "how fast it grows is not known: %s", w.Bytes.Why))
			continue
		case db.Quota <= 0:
			p.Nothing(m, "writes of %s/s, and no quota that is known", checks.Bytes(int64(w.Bytes.Delta/w.Bytes.Elapsed)))
			continue
		}
		rate := w.Bytes.Delta / w.Bytes.Elapsed
		room := float64(db.Quota - db.InUse)
		history := rate * retained.Seconds()
		var v *checks.Verdict
		switch full, ok := untilFull(w, room); {
		case history >= room && rate > 0:
			v = p.Warn(m, "%s/s are written, and the history of %s that is kept will not fit: %s are left below the quota", checks.Bytes(int64(rate)), checks.Span(retained), checks.Bytes(int64(room))).
				Saw(etcd.WriteMetrics, "written", checks.Bytes(int64(history))+" in "+checks.Span(retained), checks.Bytes(int64(room)), retainedSource)
		case ok && full <= p.Span(growthHorizonAt):
			v = p.Warn(m, "%.0f new keys in %s, %s/s: at that rate the %s below the quota are full in %s", w.New(), checks.Seconds(w.Bytes.Elapsed), checks.Bytes(int64(w.New()*keySize(w)/w.Bytes.Elapsed)), checks.Bytes(int64(room)), checks.Span(full)).
				Saw(etcd.WriteMetrics, "full in", checks.Span(full), checks.Span(p.Span(growthHorizonAt)), growthSource).Number("full", full.Seconds()).TooFew() // a burst may be over soon
		default:
			v = p.OK(m, "%s/s are written, %.0f more keys in %s; %s are left below the quota", checks.Bytes(int64(rate)), max(0, w.New()), checks.Seconds(w.Bytes.Elapsed), checks.Bytes(int64(max(0, room)))).
				Saw(etcd.WriteMetrics, "new keys", fmt.Sprintf("%.0f", w.New()), "", growthSource)
		}
		v.Number("rate", rate).Number("new", w.New())
		if v.Status.Bad() {
			loaded(p, v, m)
		}
	}
}

// keySize is how large what is written is on average.
func keySize(w etcd.Writes) float64 { return w.Bytes.Delta / max(1, w.Puts.Delta) }

// untilFull is when new keys will have filled the room, if as many go on being
// added. What is overwritten is compacted, and adds nothing in the long run.
func untilFull(w etcd.Writes, room float64) (time.Duration, bool) {
	if w.New() < growthFew || w.Keys.Looks < 2 || w.Puts.Delta <= 0 {
		return 0, false
	}
	seconds := room / (w.New() * keySize(w) / w.Bytes.Elapsed)
	return time.Duration(min(max(0, seconds), 1e9) * float64(time.Second)), true
}
