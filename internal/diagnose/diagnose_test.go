package diagnose

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/suite"
	"github.com/ktriage/ktriage/collectors"
)

func finding(id checks.ID, s checks.Status, target string, marks ...string) checks.Finding {
	c, name, _ := strings.Cut(target, "/")
	f := checks.Finding{Check: id, Status: s, Target: collectors.Target{Component: collectors.Component(c), Name: name}, Marks: marks}
	if s == checks.Unknown {
		f.Gap = &collectors.Gap{Reason: collectors.Unreachable, Detail: "refused"}
	}
	return f
}

// show writes a diagnosis as an indented tree.
func show(d Diagnosis) string {
	var b strings.Builder
	name := func(f checks.Finding) string { return fmt.Sprintf("%s %s %s", f.Status, f.Check, f.Target) }
	for _, p := range d.Problems {
		fmt.Fprintln(&b, name(p.Root))
		for _, s := range p.Siblings {
			fmt.Fprintln(&b, "+", name(s))
		}
		var below func(of int, indent string)
		below = func(of int, indent string) {
			for i, s := range p.Symptoms {
				if s.Of == of {
					fmt.Fprintln(&b, indent+name(s.Finding))
					below(i+1, indent+"  ")
				}
			}
		}
		below(0, "  ")
		for _, a := range p.AlsoPossible {
			fmt.Fprintln(&b, "  or", name(a))
		}
	}
	for _, f := range d.Unknown {
		fmt.Fprintln(&b, name(f))
	}
	return b.String()
}

func TestSlowDiskIsOneProblem(t *testing.T) {
	got := show(Diagnose([]checks.Finding{
		finding("apiserver-etcd-latency", checks.Critical, "apiserver/cp-1"),
		finding("apiserver-write-latency-slo", checks.Critical, "apiserver/cp-1"),
		finding("etcd-backend-commit-slow", checks.Warning, "etcd/cp-1"),
		finding("etcd-leader-flapping", checks.Warning, "etcd"),
		finding("etcd-wal-fsync-slow", checks.Critical, "etcd/cp-1", Leader, WritePath),
		finding("etcd-wal-fsync-slow", checks.Warning, "etcd/cp-2", WritePath),
		finding("lease-renew-slow", checks.Warning, "leases/kube-system/kube-scheduler"),
		finding("etcd-db-quota-usage", checks.OK, "etcd/cp-1"),
	}, Links))
	want := `critical etcd-wal-fsync-slow etcd/cp-1
+ warning etcd-wal-fsync-slow etcd/cp-2
  critical apiserver-etcd-latency apiserver/cp-1
    critical apiserver-write-latency-slo apiserver/cp-1
      warning lease-renew-slow leases/kube-system/kube-scheduler
  warning etcd-backend-commit-slow etcd/cp-1
  warning etcd-leader-flapping etcd
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestASingleSlowFollowerExplainsNothingElse(t *testing.T) {
	d := Diagnose([]checks.Finding{
		finding("apiserver-etcd-latency", checks.Critical, "apiserver/cp-1"),
		finding("etcd-wal-fsync-slow", checks.Warning, "etcd/cp-3"),
	}, Links)
	if len(d.Problems) != 2 || d.Problems[0].Root.Check != "apiserver-etcd-latency" {
		t.Error(show(d))
	}
}

func TestGapsOfADeadMemberAreItsSymptoms(t *testing.T) {
	got := show(Diagnose([]checks.Finding{
		finding("etcd-db-quota-usage", checks.Unknown, "etcd/cp-3"),
		finding("etcd-member-unreachable", checks.Warning, "etcd/cp-3"),
		finding("etcd-wal-fsync-slow", checks.Unknown, "etcd/cp-2"),
	}, Links))
	want := `warning etcd-member-unreachable etcd/cp-3
  unknown etcd-db-quota-usage etcd/cp-3
unknown etcd-wal-fsync-slow etcd/cp-2
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOwnEvidenceIsNotFoldedAwayByCoOccurrence(t *testing.T) {
	links := []Link{{Causes: ids{"a"}, Effects: ids{"b"}, When: Anywhere}}
	if d := Diagnose([]checks.Finding{finding("a", checks.Critical, "etcd"), finding("b", checks.Critical, "etcd", OwnEvidence)}, links); len(d.Problems) != 2 {
		t.Error(show(d))
	}
	links[0].When = Surely
	if d := Diagnose([]checks.Finding{finding("a", checks.Critical, "etcd"), finding("b", checks.Critical, "etcd", OwnEvidence)}, links); len(d.Problems) != 1 {
		t.Error(show(d))
	}
}

func TestTheOtherPossibleCauseIsNamed(t *testing.T) {
	links := []Link{{Causes: ids{"a"}, Effects: ids{"c"}, When: Surely}, {Causes: ids{"b"}, Effects: ids{"c"}, When: Anywhere}}
	got := show(Diagnose([]checks.Finding{finding("a", checks.Warning, "etcd"), finding("b", checks.Critical, "etcd"), finding("c", checks.Warning, "etcd")}, links))
	want := "critical b etcd\nwarning a etcd\n  warning c etcd\n  or critical b etcd\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAPredicateThatPanicsHasNoEvidence(t *testing.T) {
	links := []Link{{Causes: ids{"a"}, Effects: ids{"b"}, When: func(_, _ checks.Finding, _ View) Strength { panic("no") }}}
	if d := Diagnose([]checks.Finding{finding("a", checks.Critical, "etcd"), finding("b", checks.Critical, "etcd")}, links); len(d.Problems) != 2 {
		t.Error(show(d))
	}
}

// TestNothingIsDroppedOrDoubled holds for any findings and any links, those
// that go in circles included.
func TestNothingIsDroppedOrDoubled(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var fs []checks.Finding
		for i := range 1 + r.IntN(12) {
			fs = append(fs, finding(checks.ID(rune('a'+r.IntN(5))), checks.Status(r.IntN(6)), fmt.Sprintf("etcd/%d", i)))
		}
		var links []Link
		for range r.IntN(12) {
			s := Strength(r.IntN(4))
			links = append(links, Link{Causes: ids{checks.ID(rune('a' + r.IntN(5)))}, Effects: ids{checks.ID(rune('a' + r.IntN(5)))}, Gaps: r.IntN(4) == 0, When: func(_, _ checks.Finding, _ View) Strength { return s }})
		}
		d := Diagnose(fs, links)
		var got []string
		add := func(f checks.Finding) { got = append(got, string(f.Check)+f.Target.Name) }
		for _, p := range d.Problems {
			add(p.Root)
			for _, s := range p.Siblings {
				add(s)
			}
			for i, s := range p.Symptoms {
				add(s.Finding)
				if s.Of > i {
					t.Fatalf("a symptom stands before its cause:\n%s", show(d))
				}
			}
		}
		for _, f := range slices.Concat(d.Unknown, d.Rest) {
			add(f)
		}
		var want []string
		for _, f := range fs {
			want = append(want, string(f.Check)+f.Target.Name)
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got:\n%s\n%s", diff, show(d))
		}
	}
}

func TestLinksAreComplete(t *testing.T) {
	seen := map[string]bool{}
	exist := map[checks.ID]bool{}
	for _, c := range suite.All() {
		exist[c.ID] = true
	}
	for _, l := range Links {
		for _, id := range slices.Concat(l.Causes, l.Effects) {
			if !exist[id] {
				t.Errorf("link %s names %s, which is no check: it can never fire", l.ID, id)
			}
		}
		if l.ID == "" || seen[l.ID] || l.Because == "" || len(l.Causes) == 0 || !l.Gaps && len(l.Effects) == 0 {
			t.Errorf("link %q lacks an ID of its own, a reason, causes or effects", l.ID)
		}
		seen[l.ID] = true
		for _, c := range l.Causes {
			if slices.Contains(l.Effects, c) && l.ID != "H3" { // whose findings are of two components
				t.Errorf("link %s says that %s explains itself", l.ID, c)
			}
		}
	}
}

// with adds what a check measured.
func with(f checks.Finding, name string, x float64) checks.Finding {
	f.Numbers = map[string]float64{name: x}
	return f
}

func TestMembersThatCannotVote(t *testing.T) {
	even := func(voters float64) checks.Finding {
		return with(finding("etcd-even-or-single", checks.Warning, "etcd"), "voters", voters)
	}
	fragile := func(down float64) checks.Finding {
		return with(finding("etcd-quorum-fragile", checks.Warning, "etcd"), "down", down)
	}
	unstarted := finding("etcd-unstarted-member", checks.Warning, "etcd/10.0.0.4:2380")
	learner := finding("etcd-learner-stuck", checks.Warning, "etcd/cp-3")
	for _, tt := range []struct {
		name     string
		findings []checks.Finding
		want     string
	}{
		{"a fourth member that never started explains the even number and the fragile quorum",
			[]checks.Finding{even(4), fragile(1), unstarted},
			"warning etcd-unstarted-member etcd/10.0.0.4:2380\n  warning etcd-even-or-single etcd\n  warning etcd-quorum-fragile etcd\n"},
		{"it does not explain that another member is down as well",
			[]checks.Finding{fragile(2), unstarted},
			"warning etcd-quorum-fragile etcd\nwarning etcd-unstarted-member etcd/10.0.0.4:2380\n"},
		{"a third voter would not have been even without it",
			[]checks.Finding{even(4), unstarted, finding("etcd-unstarted-member", checks.Warning, "etcd/10.0.0.5:2380")},
			"warning etcd-even-or-single etcd\nwarning etcd-unstarted-member etcd/10.0.0.4:2380\n+ warning etcd-unstarted-member etcd/10.0.0.5:2380\n"},
		{"a learner that should be the third voter explains that there are two",
			[]checks.Finding{even(2), learner},
			"warning etcd-learner-stuck etcd/cp-3\n  warning etcd-even-or-single etcd\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, show(Diagnose(tt.findings, Links))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAMemberThatHangsMakesLeasesRunOut(t *testing.T) {
	for _, tt := range []struct {
		name         string
		member, exit string
		want         int // problems
	}{
		{"requests to it hang, and the controller manager lost its lease", Hangs, "exit=Error (exit code 1)", 1},
		{"requests to it are turned away at once", "", "exit=Error (exit code 1)", 2},
		{"the controller manager ran out of memory", Hangs, "exit=OOMKilled (exit code 137)", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Diagnose([]checks.Finding{
				finding("etcd-member-unreachable", checks.Critical, "etcd/cp-3", tt.member),
				finding("kcm-restarts", checks.Warning, "controllers/cp-1", tt.exit),
			}, Links)
			if len(d.Problems) != tt.want {
				t.Errorf("want %d problems, got:\n%s", tt.want, show(d))
			}
		})
	}
}

func TestALeaderWithoutProcessorTime(t *testing.T) {
	late := finding("etcd-heartbeat-failures", checks.Warning, "etcd/cp-1")
	slow := finding("etcd-apply-slow", checks.Warning, "etcd/cp-2")
	for _, tt := range []struct {
		name     string
		findings []checks.Finding
		want     string
	}{
		{"is why all others wait, if the disks are fast",
			[]checks.Finding{slow, late},
			"warning etcd-heartbeat-failures etcd/cp-1\n  warning etcd-apply-slow etcd/cp-2\n"},
		{"waits for its disk, if that is slow",
			[]checks.Finding{slow, late, finding("etcd-wal-fsync-slow", checks.Critical, "etcd/cp-1", Leader, WritePath)},
			"critical etcd-wal-fsync-slow etcd/cp-1\n  warning etcd-apply-slow etcd/cp-2\n  warning etcd-heartbeat-failures etcd/cp-1\n"},
		{"is not late for a slow network: lateness is counted before anything is sent",
			[]checks.Finding{late, finding("etcd-peer-rtt-high", checks.Warning, "etcd/cp-1")},
			"warning etcd-heartbeat-failures etcd/cp-1\n  warning etcd-peer-rtt-high etcd/cp-1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, show(Diagnose(tt.findings, Links))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestNothingToCompareWith(t *testing.T) {
	alone := finding("etcd-db-size-divergence", checks.Unknown, "etcd/cp-1")
	alone.Gap = &collectors.Gap{Reason: collectors.NotAsked, Detail: "no other member told its size"}
	down := finding("etcd-member-unreachable", checks.Critical, "etcd/cp-2")
	if d := Diagnose([]checks.Finding{down, alone}, Links); len(d.Unknown) != 0 {
		t.Errorf("the gap stands beside the member that is down:\n%s", show(d))
	}
	if d := Diagnose([]checks.Finding{alone}, Links); len(d.Unknown) != 1 {
		t.Errorf("the gap is gone without a cause:\n%s", show(d))
	}
	alone.Gap.Reason = collectors.Forbidden
	if d := Diagnose([]checks.Finding{down, alone}, Links); len(d.Unknown) != 1 {
		t.Errorf("a right that is missing is blamed on a member that is down:\n%s", show(d))
	}
}

func TestALongWayBetweenMembers(t *testing.T) {
	far := finding("etcd-peer-rtt-high", checks.Warning, "etcd/cp-1")
	slow := finding("etcd-grpc-slow", checks.Warning, "etcd/cp-2")
	if d := Diagnose([]checks.Finding{slow, far}, Links); len(d.Problems) != 1 || d.Problems[0].Root.Check != far.Check {
		t.Errorf("want that requests wait for the network, got:\n%s", show(d))
	}
	disk := finding("etcd-wal-fsync-slow", checks.Critical, "etcd/cp-1", Leader, WritePath)
	if d := Diagnose([]checks.Finding{slow, far, disk}, Links); d.Problems[0].Root.Check != disk.Check {
		t.Errorf("want that requests wait for the disk, got:\n%s", show(d))
	}
}

func TestMembersThatAreJustEnough(t *testing.T) {
	slow := finding("etcd-apply-slow", checks.Warning, "etcd/cp-2")
	for _, tt := range []struct {
		name  string
		spare float64
		disk  checks.Status
		want  int // problems
	}{
		{"wait for each other", 0, checks.OK, 1},
		{"do not, if there is one to spare", 1, checks.OK, 2},
		{"wait for a slow disk first", 0, checks.Warning, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Diagnose([]checks.Finding{
				with(finding("etcd-member-unreachable", checks.Critical, "etcd/cp-3"), "spare", tt.spare),
				finding("etcd-wal-fsync-slow", tt.disk, "etcd/cp-1", Leader, WritePath), slow,
			}, Links)
			if len(d.Problems) != tt.want {
				t.Errorf("want %d problems, got:\n%s", tt.want, show(d))
			}
		})
	}
}

func TestAMemberThatIsCutOffIsNotAClusterWithoutALeader(t *testing.T) {
	ready := finding("apiserver-livez-failing", checks.Critical, "apiserver/cp-1")
	errors := finding("apiserver-etcd-errors", checks.Warning, "apiserver/cp-1")
	gap := finding("etcd-db-quota-usage", checks.Unknown, "etcd/cp-1")
	alone := show(Diagnose([]checks.Finding{finding("etcd-no-leader", checks.Warning, "etcd/cp-3"), ready, errors, gap}, Links))
	if want := "critical apiserver-livez-failing apiserver/cp-1\nwarning etcd-no-leader etcd/cp-3\n  warning apiserver-etcd-errors apiserver/cp-1\nunknown etcd-db-quota-usage etcd/cp-1\n"; alone != want {
		t.Errorf("one member: got\n%swant\n%s", alone, want)
	}
	all := Diagnose([]checks.Finding{finding("etcd-no-leader", checks.Critical, "etcd/cp-3"), ready, errors, gap}, Links)
	if len(all.Problems) != 1 || len(all.Unknown) != 0 {
		t.Errorf("all members: want one problem, got\n%s", show(all))
	}
}

func TestAHealthCheckThatWaitsForEtcd(t *testing.T) {
	slow := finding("apiserver-etcd-latency", checks.Warning, "apiserver/cp-1")
	for _, tt := range []struct {
		name    string
		failing checks.Finding
		want    int // problems
	}{
		{"etcd's own check times out", finding("apiserver-livez-failing", checks.Warning, "apiserver/cp-1", "check=etcd"), 1},
		{"another check fails", finding("apiserver-livez-failing", checks.Warning, "apiserver/cp-1", "check=poststarthook/rbac/bootstrap-roles"), 2},
		{"another instance's fails", finding("apiserver-livez-failing", checks.Warning, "apiserver/cp-2", "check=etcd"), 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := Diagnose([]checks.Finding{slow, tt.failing}, Links); len(d.Problems) != tt.want {
				t.Errorf("want %d problems, got:\n%s", tt.want, show(d))
			}
		})
	}
}

func TestALostLeaseEndsItsProcess(t *testing.T) {
	slow := finding("apiserver-write-latency-slo", checks.Warning, "apiserver/cp-1")
	lost := func(component string) checks.Finding {
		return finding("lease-flapping", checks.Warning, "leases/kube-system/"+component)
	}
	const ended, killed = "exit=Error (exit code 1)", "exit=OOMKilled (exit code 137)"
	scheduler := func(exit string) checks.Finding {
		return finding("static-pod-crashloop", checks.Warning, "pods/kube-system/kube-scheduler-cp-1", "component=kube-scheduler", exit)
	}
	for _, tt := range []struct {
		name          string
		cause, effect checks.Finding
		want          int // problems
	}{
		{"a scheduler that lost its own", lost("kube-scheduler"), scheduler(ended), 1},
		{"a controller manager that lost its own", lost("kube-controller-manager"), finding("kcm-restarts", checks.Warning, "controllers/cp-2", ended), 1},
		{"one that could not write it", slow, scheduler(ended), 1},
		{"one that ran out of memory", slow, scheduler(killed), 2},
		{"the lease of the other", lost("kube-controller-manager"), scheduler(ended), 2},
		{"etcd has no lease to lose", slow, finding("static-pod-crashloop", checks.Warning, "pods/kube-system/etcd-cp-1", "component=etcd", ended), 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := Diagnose([]checks.Finding{tt.cause, tt.effect}, Links); len(d.Problems) != tt.want {
				t.Errorf("want %d problems, got:\n%s", tt.want, show(d))
			}
		})
	}
}
