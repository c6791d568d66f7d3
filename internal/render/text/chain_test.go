package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

// quorumLost is a run in which nearly nothing can be asked any more.
func quorumLost() *report.Report {
	fs := []checks.Finding{
		{Check: "etcd-quorum-lost", Target: reporttest.Target("etcd"), Status: checks.Critical, Summary: "1 of 3 voters answers"},
		{Check: "etcd-no-leader", Target: reporttest.Target("etcd/cp-1"), Status: checks.Critical, Summary: "has no leader"},
		{Check: "apiserver-etcd-errors", Target: reporttest.Target("apiserver/cp-1"), Status: checks.Critical, Summary: "all calls failed"},
		{Check: "apiserver-5xx-ratio", Target: reporttest.Target("apiserver/cp-1"), Status: checks.Critical, Summary: "all requests failed"},
	}
	for _, member := range []string{"cp-2", "cp-3"} {
		fs = append(fs, checks.Finding{Check: "etcd-member-unreachable", Target: reporttest.Target("etcd/" + member), Status: checks.Critical, Summary: "is down"})
		for i := range 20 {
			fs = append(fs, checks.Finding{Check: checks.ID(fmt.Sprint("etcd-", i)), Target: reporttest.Target("etcd/" + member), Status: checks.Unknown, Gap: &collectors.Gap{Reason: collectors.Unreachable}})
		}
	}
	return report.New(report.Run{Snapshot: &collectors.Snapshot{}, Findings: fs})
}

func TestTheChainIsOneLineAndGapsAreGrouped(t *testing.T) {
	r := quorumLost()
	var b bytes.Buffer
	if err := Write(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"chain: etcd-quorum-lost → etcd-no-leader → apiserver-etcd-errors",
		"so not judged: 40 verdicts",
		"- 40 on etcd/cp-2, etcd/cp-3: the member does not answer",
		"is down (and 1 more)",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("not said: %s\n%s", want, b.String())
		}
	}
	for _, s := range r.Problems[0].Symptoms {
		if got := s.Chain[len(s.Chain)-1]; s.Chain[0].Check != "etcd-quorum-lost" || got.Check != s.Check || !got.Target.Is(s.Target) {
			t.Errorf("the chain of %s on %s goes from %s to %s", s.Check, s.Target, s.Chain[0].Check, got.Check)
		}
	}
}

func TestManySymptomsAreCutShort(t *testing.T) {
	var fs []checks.Finding
	fs = append(fs, checks.Finding{Check: "etcd-nospace-alarm", Target: reporttest.Target("etcd"), Status: checks.Critical, Summary: "NOSPACE is raised"})
	for _, id := range []checks.ID{"apiserver-5xx-ratio", "apiserver-etcd-errors", "kcm-retries-high", "lease-expired", "lease-renew-slow", "etcd-db-fragmented"} {
		for i := range 30 {
			fs = append(fs, checks.Finding{Check: id, Target: reporttest.Target(fmt.Sprintf("leases/kube-system/l-%d", i)), Status: checks.Warning, Summary: "x"})
		}
	}
	r := report.New(report.Run{Snapshot: &collectors.Snapshot{}, Findings: fs})
	var b bytes.Buffer
	if err := Write(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "└"); n != 6 || !strings.Contains(b.String(), "x (and 29 more)") {
		t.Errorf("%d lines for 180 symptoms of 6 checks:\n%s", n, b.String())
	}
}
