package etcd

import (
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// suspects are the facts that tell what a slow member waits for.
var suspects = []collectors.Any{etcd.FsyncLatency, etcd.CommitLatency, etcd.ProcessMetrics, etcd.DefragMetrics, etcd.SnapshotMetrics, cluster.Machines}

// fullShare is how busy a processor is that has nothing left [exp].
const fullShare = 0.9

// short says what a slow member is short of, or what it is not, as far as that
// is known: "; its disk is slow (syncs p99 600 ms)". The second is the mark of
// the culprit: "disk", "cpu", "defrag", "snapshot"; empty if none was found.
func short(p *checks.Pass, m collectors.Target) (words, mark string) {
	var well []string
	if d, gap := checks.Of(p, etcd.DefragMetrics, m); gap == nil && (d.Now || d.Before) {
		return "; it is being defragmented, and answers nothing meanwhile", "defrag"
	}
	if s, gap := checks.Of(p, etcd.SnapshotMetrics, m); gap == nil && s.Applying > 0 {
		return "; it takes in a snapshot from another member", "snapshot"
	} else if gap == nil && s.Sending > 0 {
		return "; it sends a snapshot to another member", "snapshot"
	}
	for _, d := range []struct {
		what   string
		fact   *collectors.Fact[metrics.Latency]
		limits []checks.Limit
	}{{"log syncs", etcd.FsyncLatency, fsyncLimits}, {"commits", etcd.CommitLatency, commitLimits}} {
		l, gap := checks.Of(p, d.fact, m)
		if gap != nil {
			continue
		}
		j := judge(l, d.limits)
		if j.Basis != checks.OverWindow || j.Status == checks.Unknown {
			continue
		}
		if j.Status.Bad() {
			return "; its disk is slow: " + d.what + " take p99 " + checks.Quantile(j.P99), "disk"
		}
		if d.fact == etcd.FsyncLatency {
			well = append(well, "its disk is quick (log syncs take p99 "+checks.Quantile(j.P99)+")")
		}
	}
	if used, of, ok := processors(p, m); ok {
		if used >= fullShare*of {
			return "; it uses " + cores(used) + " of the " + cores(of) + " processors that it has", "cpu"
		}
		well = append(well, "it uses "+cores(used)+" of "+cores(of)+" processors itself")
	}
	if len(well) == 0 {
		return "", ""
	}
	return "; " + strings.Join(well, ", "), ""
}

// marked gives a finding the mark of the culprit, if one was found.
func marked(v *checks.Verdict, mark string) *checks.Verdict {
	if mark == "" {
		return v
	}
	return v.Mark("short=" + mark)
}
