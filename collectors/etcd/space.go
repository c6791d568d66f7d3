package etcd

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// DefaultQuota is what etcd takes where --quota-backend-bytes is 0 or not
// given. Source: etcd server, DefaultQuotaBytes.
const DefaultQuota = 2 << 30

// A Space is the size of a member's database and its limit, in bytes.
type Space struct {
	Size  int64
	InUse int64 // less than Size by the free pages, which only a defragmentation gives back
	Quota int64 // negative: unlimited; 0: it could not be learned
	// QuotaFrom says where Quota comes from.
	QuotaFrom string
}

// Free is how much of the file a defragmentation would give back.
func (s Space) Free() int64 { return max(0, s.Size-s.InUse) }

// spaceMetrics is what the gauges say.
var spaceMetrics = windowFact("etcd.space-metrics", "database size, size in use and quota, by each member's metrics",
	func(w metrics.Window) (Space, error) {
		name := w.Last.First("etcd_mvcc_db_total_size_in_bytes", "etcd_debugging_mvcc_db_total_size_in_bytes")
		size, ok := w.Last.Sum(name)
		if !ok {
			return Space{}, collectors.AbsentMetric("etcd_mvcc_db_total_size_in_bytes", "etcd_debugging_mvcc_db_total_size_in_bytes")
		}
		sp := Space{Size: int64(size)}
		if v, ok := w.Last.Sum("etcd_mvcc_db_total_size_in_use_in_bytes"); ok {
			sp.InUse = int64(v)
		} else {
			sp.InUse = sp.Size // 3.3 and older do not tell: claim no free page that was not seen
		}
		if v, ok := w.Last.Sum("etcd_server_quota_backend_bytes"); ok {
			sp.Quota, sp.QuotaFrom = int64(v), "etcd_server_quota_backend_bytes"
			if sp.Quota == 0 {
				sp.Quota, sp.QuotaFrom = DefaultQuota, "etcd's default"
			}
		}
		return sp, nil
	},
	metrics.Select{Name: "etcd_mvcc_db_total_size_in_bytes"},
	metrics.Select{Name: "etcd_debugging_mvcc_db_total_size_in_bytes"},
	metrics.Select{Name: "etcd_mvcc_db_total_size_in_use_in_bytes"},
	metrics.Select{Name: "etcd_server_quota_backend_bytes"},
)

// DB is the size of each member's database against its quota: by its metrics,
// or by its status where metrics cannot be had.
var DB = &collectors.Fact[Space]{
	ID:      "etcd.db",
	Doc:     "the size of each member's database, how much of it is in use, and its quota",
	Needs:   []collectors.Any{Members, spaceMetrics, Status},
	Targets: MemberTargets,
	Derive: func(s *collectors.Snapshot, t collectors.Target) (Space, error) {
		sp, gap := spaceMetrics.Of(s, t)
		st, stGap := Status.Of(s, t)
		switch {
		case gap == nil:
			return sp, nil
		case stGap == nil:
			sp = Space{Size: st.DBSize, InUse: st.DBSizeInUse}
			if sp.InUse == 0 {
				sp.InUse = sp.Size // before 3.4 it does not tell
			}
			if quotaInStatusIsRight(st.Version) {
				sp.Quota, sp.QuotaFrom = st.Quota, "member status"
			}
			return sp, nil
		}
		return sp, failure(stGap, gap)
	},
}
