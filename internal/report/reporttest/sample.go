// Package reporttest has reports for tests of what reads one.
package reporttest

import (
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/vitals"
)

// Target makes a target of its name: "etcd/cp-1".
func Target(s string) collectors.Target {
	c, name, _ := strings.Cut(s, "/")
	return collectors.Target{Component: collectors.Component(c), Name: name, Node: name}
}

// Made is a report of verdicts, each written as "check target status".
func Made(verdicts ...string) *report.Report {
	var fs []checks.Finding
	for _, v := range verdicts {
		w := strings.Fields(v)
		f := checks.Finding{Check: checks.ID(w[0]), Target: Target(w[1]), Summary: v}
		if err := f.Status.UnmarshalJSON([]byte(`"` + w[2] + `"`)); err != nil {
			panic(err)
		}
		if f.Status == checks.Unknown || f.Status == checks.OutOfScope {
			f.Gap = collectors.Gapf(collectors.Timeout, "no answer")
		}
		fs = append(fs, f)
	}
	return report.New(report.Run{Snapshot: &collectors.Snapshot{}, Findings: fs})
}

// Sample is a report of every kind of trouble. Its findings are made up; what
// is tried is how they are told.
func Sample() *report.Report {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	fsync := &checks.Check{ID: "etcd-wal-fsync-slow", Component: collectors.Etcd, Remedies: []checks.Remedy{
		{Title: "see who else writes to the disk of {node}", Command: "ssh {node} iostat -x 1 5", Risk: checks.ReadOnly},
		{Title: "put etcd before others", Command: "ionice -c2 -n0 -p $(pgrep -x etcd)", Risk: checks.Safe},
	}}
	other := func(id checks.ID, c collectors.Component) *checks.Check { return &checks.Check{ID: id, Component: c} }
	none := &collectors.Gap{Reason: collectors.Forbidden, Detail: "user \"ops\" may not get /metrics", Remedy: "kubectl create clusterrole ktriage-metrics --verb=get --non-resource-url=/metrics"}
	r := report.Run{
		Version: "v1.2.3", Source: "live", Duration: 11230 * time.Millisecond, Cost: collectors.Cost{Requests: 42, Bytes: 1 << 20, PeakInFlight: 8},
		Snapshot: &collectors.Snapshot{At: at, Window: 10 * time.Second},
		Checks:   []*checks.Check{fsync, other("etcd-backend-commit-slow", collectors.Etcd), other("apiserver-etcd-latency", collectors.APIServer), other("apiserver-write-latency-slo", collectors.APIServer), other("scheduler-unschedulable-pods", collectors.Scheduler), other("etcd-db-quota-usage", collectors.Etcd), other("apf-requests-rejected", collectors.APIServer)},
		Findings: []checks.Finding{
			{Check: "apf-requests-rejected", Target: Target("apiserver/cp-1"), Status: checks.Unknown, Summary: none.Detail, Gap: none},
			{Check: "apiserver-etcd-latency", Target: Target("apiserver/cp-1"), Status: checks.Critical, Summary: "calls to etcd: p99 6.2 s, 31 of 44 above 5 s"},
			{Check: "apiserver-write-latency-slo", Target: Target("apiserver/cp-1"), Status: checks.Critical, Summary: "writes: p99 6.4 s, 30 of 40 above 1 s"},
			{Check: "etcd-backend-commit-slow", Target: Target("etcd/cp-1"), Status: checks.Warning, Summary: "commits: p99 1.4 s, 12 of 12 above 256 ms"},
			{Check: "etcd-db-quota-usage", Target: Target("etcd/cp-1"), Status: checks.OK, Summary: "database fills 2.4% of its 2.0 GiB quota"},
			{Check: "etcd-db-quota-usage", Target: Target("etcd/cp-2"), Status: checks.Info, Summary: "database fills 66% of its 2.0 GiB quota"},
			{Check: "etcd-wal-fsync-slow", Target: Target("etcd/cp-1"), Status: checks.Critical, Summary: "log syncs: p99 2 s, 14 of 14 above 1 s; it is the leader", Marks: []string{"leader", "write-path"},
				Evidence: []checks.Evidence{{Fact: "etcd.wal-fsync", Target: Target("etcd/cp-1"), Field: "p99", Value: "2 s", Limit: "1 s", Source: "etcd-mixin"}, {Fact: "etcd.wal-fsync", Field: "observations", Value: "14"}}},
			{Check: "etcd-wal-fsync-slow", Target: Target("etcd/cp-2"), Status: checks.Warning, Summary: "log syncs: p99 800 ms, 13 of 13 above 512 ms", Marks: []string{"write-path"}},
			{Check: "scheduler-unschedulable-pods", Target: Target("pods"), Status: checks.Warning, Summary: "900 pods cannot be placed: 900 Insufficient cpu, for example shop/web-\x1b[31m1"},
		},
		Vitals: []vitals.Vital{
			{Component: collectors.Etcd, Target: Target("etcd/cp-1"), Name: "fsync p99", Value: 2.048, Unit: "s", Basis: checks.OverWindow, AtLeast: true,
				Buckets: []vitals.Bucket{{Over: 0.512, UpTo: 1.024, Count: 3}, {Over: 1.024, UpTo: 2.048}, {Over: 2.048, Count: 11}}},
			{Component: collectors.Etcd, Target: Target("etcd/cp-2"), Name: "fsync p99", Value: 0.8, Unit: "s", Basis: checks.OverLifetime},
			{Component: collectors.Etcd, Target: Target("etcd/cp-1"), Name: "db size", Value: 5e7, Unit: "B", Basis: checks.AtInstant},
			{Component: collectors.Leases, Target: Target("leases/kube-system/kube-scheduler"), Name: "renewed", Value: 1, Unit: "s", Basis: checks.AtInstant, Text: "cp-2"},
		},
	}
	return report.New(r)
}
