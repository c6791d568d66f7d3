package remediate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/checktest"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
)

// seen is what a look at a healthy control plane sees, with changes: cp-1's
// scheduler leads, cp-2's controller manager does. A change whose name has no
// look is of both.
func seen(t *testing.T, changes map[string]string, facts ...collectors.Any) *collectors.Snapshot {
	t.Helper()
	var as []*txtar.Archive
	for _, f := range []string{"kubeadm3", "leaders"} {
		a, err := txtar.ParseFile("../checks/checktest/testdata/" + f + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		as = append(as, a)
	}
	mine := whole()
	mine.Files = slices.DeleteFunc(mine.Files, func(f txtar.File) bool { return f.Name == theLeases })
	put := func(name, body string) {
		mine.Files = append(mine.Files, txtar.File{Name: name, Data: []byte(body + "\n")})
	}
	put(theUID, `{"metadata":{"uid":"u-1"}}`)
	for name, body := range changes {
		if strings.HasPrefix(name, "scrape ") || name == theLeases {
			put(name+" #first", strings.ReplaceAll(body, "LOOK", "05"))
			put(name+" #last", strings.ReplaceAll(body, "LOOK", "14"))
			continue
		}
		put(name, body)
	}
	return collectors.Collect(context.Background(), capture.NewScript(checktest.Now, checktest.Window, append(as, mine)...), checktest.Now, checktest.Window, collectors.Options{}, facts...).Snapshot
}

// held are both leases; LOOK is the second at which they were renewed.
func held(scheduler, controllers, renewed string, seconds int, more string) string {
	return fmt.Sprintf(`metadata: {name: kube-scheduler, namespace: kube-system}
spec: {holderIdentity: %q, leaseDurationSeconds: %d, renewTime: "2026-01-02T03:%s.000000Z"%s}
---
metadata: {name: kube-controller-manager, namespace: kube-system}
spec: {holderIdentity: %q, leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:LOOK.000000Z"}`, scheduler, seconds, renewed, more, controllers)
}

const (
	schedulerMetrics = "scrape pod+https://cp-%d@kube-system/kube-scheduler-cp-%[1]d:10259/metrics"
	schedulerHealth  = "get pod+https://cp-%d@kube-system/kube-scheduler-cp-%[1]d:10259/healthz"
	managerMetrics   = "scrape pod+https://cp-2@kube-system/kube-controller-manager-cp-2:10257/metrics"
	noAnswer         = "gap: timeout: no answer"
	fresh            = "04:LOOK"
)

func at(format string, node int) string { return fmt.Sprintf(format, node) }

// queue are the metrics of a scheduler.
func queue(leads, active, tried int) string {
	return fmt.Sprintf(`leader_election_master_status{name="kube-scheduler"} %d
process_start_time_seconds 1767225600.0
scheduler_pending_pods{queue="active"} %d
scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 7%s`, leads, active, strings.Repeat("LOOK", tried))
}

// worker are the metrics of a controller manager, one of whose workers is at an
// object for minutes and so many seconds.
func worker(minutes int) string {
	return fmt.Sprintf(`leader_election_master_status{name="kube-controller-manager"} 1
process_start_time_seconds 1767225600.0
workqueue_depth{name="replicaset"} 3
workqueue_longest_running_processor_seconds{name="replicaset"} %dLOOK`, minutes)
}

func hung(more map[string]string) map[string]string {
	out := map[string]string{at(schedulerMetrics, 1): queue(1, 2, 0)}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func frozen(more map[string]string) map[string]string {
	out := map[string]string{theLeases: held("cp-1_a", "cp-2_b", "03:30", 60, ""), at(schedulerMetrics, 1): noAnswer, at(schedulerHealth, 1): noAnswer}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// noStandby leaves only one scheduler that is well.
func noStandby(more map[string]string) map[string]string {
	for _, n := range []int{2, 3} {
		more[at(schedulerMetrics, n)], more[at(schedulerHealth, n)] = noAnswer, noAnswer
	}
	return more
}

func TestRestartLeaderWantsProof(t *testing.T) {
	for _, tt := range []struct {
		name    string
		changes map[string]string
		want    string // "lease seconds", of each step
		words   string // in the notes, or the refusal
	}{
		{"all are well", nil, "", "kube-system/kube-scheduler is left alone: cp-1 renewed it"},
		{"one that renews and tries nothing", hung(nil), "kube-scheduler 15", "gives up at its renew deadline"},
		{"one that tries", map[string]string{at(schedulerMetrics, 1): queue(1, 2, 1)}, "", "is left alone"},
		{"one that has nothing to try", map[string]string{at(schedulerMetrics, 1): queue(1, 0, 0)}, "", "no pod is waiting to be tried"},
		{"one whose metrics may not be read", map[string]string{at(schedulerMetrics, 1): "gap: forbidden: no"}, "", "its metrics cannot be had: no"},
		{"one that does not renew, nor answer", frozen(nil), "kube-scheduler 0", "without this, who stands by takes the lease when it has run out"},
		{"one that does not renew, and answers", frozen(map[string]string{at(schedulerHealth, 1): "ok"}), "", "it may not reach the API server"},
		{"one that is late by little", map[string]string{theLeases: held("cp-1_a", "cp-2_b", "04:05", 60, ""), at(schedulerHealth, 1): noAnswer}, "", "is left alone"},
		{"one whose lease ran out, and nobody took it", frozen(map[string]string{theLeases: held("cp-1_a", "cp-2_b", "02:30", 60, "")}), "", "a free one would not be taken either"},
		{"nobody holds it", frozen(map[string]string{theLeases: held("", "cp-2_b", "03:30", 60, "")}), "", "nobody holds it"},
		{"a holder that is no pod", frozen(map[string]string{theLeases: held("elsewhere_a", "cp-2_b", "03:30", 60, "")}), "", "is none of the pods that are known"},
		{"leases that may not be listed", map[string]string{theLeases: "gap: forbidden: may not list leases"}, "", "may not list leases"},
		{"nobody stands by, by health", noStandby(hung(nil)), "", "nobody is proved to stand by: cp-2: its health is not known"},
		{"nobody stands by for a frozen one", noStandby(frozen(nil)), "", "nobody is proved to stand by"},
		{"who could is unwell", hung(map[string]string{
			at(schedulerHealth, 2): "status: 500\n[-]leaderElection failed: reason withheld", at(schedulerHealth, 3): noAnswer,
		}), "", "it finds itself unwell (500 leaderElection)"},
		{"who could takes itself for the leader too", hung(map[string]string{at(schedulerMetrics, 2): queue(1, 0, 0), at(schedulerHealth, 3): noAnswer}), "", "it takes itself for the leader"},
		{"who could takes part in no election", hung(map[string]string{
			at(schedulerMetrics, 2): "process_start_time_seconds 1767225600.0\nscheduler_pending_pods{queue=\"active\"} 0", at(schedulerHealth, 3): noAnswer,
		}), "", "it takes part in no election"},
		{"the API server decides who leads", hung(map[string]string{theLeases: held("cp-1_a", "cp-2_b", fresh, 15, ", strategy: OldestEmulationVersion")}), "", "it would give the lease back"},
		{"a worker that is at one object for long", map[string]string{managerMetrics: worker(9)}, "kube-controller-manager 15", "a worker of controller replicaset is at one object for"},
		{"a worker that is at one object for a minute", map[string]string{managerMetrics: strings.ReplaceAll(worker(0), "0LOOK", "LOOK")}, "", "is left alone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			snap := seen(t, tt.changes, RestartLeader.Facts(Options{}, checktest.Now)...)
			p, err := RestartLeader.Make(snap, Options{SettleLimit: 1, SaveTo: "/x"}, "ktriage test")
			got, text := "", ""
			if err != nil {
				text = err.Error()
			} else {
				for _, s := range p.Steps {
					_, name, _ := strings.Cut(s.Action.Target.Name, "/")
					got += fmt.Sprintf("%s %s", name, s.Action.Args[ArgSeconds])
					text += s.Why + s.Effect
					if s.Manual == "" || s.Undo == "" || s.Stall <= 0 || !strings.HasPrefix(s.Action.Args[ArgHolder], "cp-") {
						t.Errorf("it is not told in full: %+v", s)
					}
				}
				text += strings.Join(p.Notes, "\n")
			}
			if got != tt.want || !strings.Contains(text, tt.words) {
				t.Errorf("got %q, want %q; it must say %q:\n%s", got, tt.want, tt.words, text)
			}
		})
	}
}

// TestLeadershipArrives holds the guards when the step's time has come, and what
// counts as done.
func TestLeadershipArrives(t *testing.T) {
	p, err := RestartLeader.Make(seen(t, hung(nil), RestartLeader.Facts(Options{}, checktest.Now)...), Options{SettleLimit: 1, SaveTo: "/x"}, "ktriage test")
	if err != nil {
		t.Fatal(err)
	}
	holder := p.Steps[0].Action.Args[ArgHolder]
	guards, clears := newGate(p).of(0)
	for _, tt := range []struct {
		name    string
		after   bool
		changes map[string]string
		want    string
	}{
		{"it still hangs", false, hung(nil), ""},
		{"it works again", false, map[string]string{at(schedulerMetrics, 1): queue(1, 2, 1)}, "and works"},
		{"another took it by itself", false, hung(map[string]string{theLeases: held("cp-3_z", "cp-2_b", fresh, 15, "")}), `is held by "cp-3_z"`},
		{"who stood by is gone", false, noStandby(hung(nil)), "nobody is proved to stand by"},
		{"an operator forbids it", false, hung(map[string]string{halt: "{}"}), "forbids cures"},
		{"who hangs has it still", true, hung(map[string]string{theLeases: held(holder, "cp-2_b", fresh, 15, "")}), "is still held by " + holder},
		{"it is held for nobody", true, hung(map[string]string{theLeases: held(Nobody, "cp-2_b", "04:05", 15, "")}), "is held by nobody yet"},
		{"it is free", true, hung(map[string]string{theLeases: held("", "cp-2_b", "04:05", 1, "")}), "is held by nobody yet"},
		{"another has it and does not renew", true, map[string]string{theLeases: held("cp-2_z", "cp-2_b", "04:10", 15, ""), at(schedulerMetrics, 2): queue(1, 0, 0)}, "has not renewed it yet"},
		{"another has it and hangs too", true, map[string]string{theLeases: held("cp-2_z", "cp-2_b", fresh, 15, ""), at(schedulerMetrics, 2): queue(1, 2, 0)}, "which hangs too"},
		{"another has it and works", true, map[string]string{theLeases: held("cp-2_z", "cp-2_b", fresh, 15, ""), at(schedulerMetrics, 2): queue(1, 1, 1)}, ""},
		{"whether another works is not known", true, map[string]string{theLeases: held("cp-2_z", "cp-2_b", fresh, 15, ""), at(schedulerMetrics, 2): noAnswer}, "not known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cs := guards
			if tt.after {
				cs = clears
			}
			err := demand(cs, checks.Run(seen(t, tt.changes, checks.Facts(cs)...), cs))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if d := time.Duration(p.Steps[0].Stall); d < 15*time.Second || d > 25*time.Second {
		t.Errorf("clients would wait for %s", d)
	}
}
