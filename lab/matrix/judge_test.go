package matrix

import (
	"testing"

	"github.com/ktriage/ktriage/lab/faults"
)

func TestJudge(t *testing.T) {
	dead := Problem{Finding: Finding{Check: "etcd-member-unreachable", Target: "etcd/cp-3", Status: "critical"}}
	fragile := Problem{Finding: Finding{Check: "etcd-quorum-fragile", Target: "etcd", Status: "warning"}}
	fault := faults.Fault{
		Want: faults.Problem{Check: "etcd-member-unreachable", Target: "etcd/cp-3"},
		Or:   []faults.Problem{{Check: "etcd-quorum-lost"}},
		Also: []string{"etcd-quorum-fragile"},
	}
	shape := faults.Fault{}
	fine := []Finding{{Check: "etcd-no-leader", Target: "etcd", Status: "ok"}}
	other := dead
	other.Target = "etcd/cp-1"
	for _, tt := range []struct {
		name   string
		fault  faults.Fault
		report Report
		wrong  int
	}{
		{"the cause comes first", fault, Report{Exit: 2, Problems: []Problem{dead, fragile}}, 0},
		{"another cause that is as true comes first", fault, Report{Exit: 2, Problems: []Problem{{Finding: Finding{Check: "etcd-quorum-lost", Target: "etcd"}}}}, 0},
		{"a symptom comes first", fault, Report{Exit: 2, Problems: []Problem{fragile, dead}}, 1},
		{"the wrong member is blamed", fault, Report{Exit: 2, Problems: []Problem{other}}, 1},
		{"what has nothing to do with it stands beside it", fault, Report{Exit: 2, Problems: []Problem{dead, {Finding: Finding{Check: "lease-expired"}}}}, 1},
		{"nothing is found", fault, Report{Exit: 2}, 1},
		{"a broken cluster is called healthy", fault, Report{Findings: fine}, 2},
		{"a healthy cluster is called healthy", shape, Report{Findings: fine}, 0},
		{"a healthy cluster has a warning", shape, Report{Exit: 1, Findings: []Finding{fragile.Finding}}, 2},
		{"nothing was looked at", shape, Report{}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Judge(tt.report, tt.fault); len(got) != tt.wrong {
				t.Errorf("got %d complaints, want %d: %q", len(got), tt.wrong, got)
			}
		})
	}
}
