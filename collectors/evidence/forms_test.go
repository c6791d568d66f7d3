package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/collectors"
)

// hits lists the signatures that the evidence's logs have.
func hits(e *Evidence) string {
	var out []string
	for _, l := range e.logs {
		for _, h := range l.Hits {
			out = append(out, h.ID)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestForms has what is pasted into tickets, as each tool prints it.
func TestForms(t *testing.T) {
	const fields = `"ClusterID" : 17237436991929493444
"MemberID" : 9372538179322589801
"Revision" : 1
"RaftTerm" : 2
"Version" : "3.5.9"
"DBSize" : 20480
"DBSizeInUse" : 16384
"Leader" : 9372538179322589801
"IsLearner" : false
"RaftIndex" : 8
"RaftTerm" : 2
"RaftAppliedIndex" : 8
"Errors" : []
"Endpoint" : "10.0.0.1:2379"

`
	const memberFields = `"ClusterID" : 17237436991929493444
"MemberID" : 9372538179322589801
"RaftTerm" : 2
"ID" : 9372538179322589801
"Name" : "infra1"
"PeerURL" : "http://10.0.0.1:2380"
"ClientURL" : "http://10.0.0.1:2379"
"IsLearner" : false

"ID" : 10501334649042878790
"Name" : "infra2"
"PeerURL" : "http://10.0.0.2:2380"
"ClientURL" : "http://10.0.0.2:2379"
"IsLearner" : true

`
	const iostat = `Linux 6.1.0 (cp-1) 	01/02/26 	_x86_64_	(4 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    1.00   30.00    0.00   68.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
nvme0n1          1.00     10.00     0.00   0.00    0.50    10.00  100.00   1000.00     0.00   0.00   WAIT    10.00    1.00  99.00
`
	const fio = `etcd: (g=0): rw=write, bs=(R) 2300B-2300B, ioengine=sync, iodepth=1
fio-3.36
etcd: (groupid=0, jobs=1): err= 0: pid=1: Fri Jan  2 03:04:05 2026
  write: IOPS=59, BW=134KiB/s
    clat percentiles (usec):
     | 99.00th=[99999]
  fsync/fdatasync/sync_file_range:
    sync (usec): min=1000, max=50000
    sync percentiles (usec):
     | 95.00th=[ 9000], 99.00th=[P99], 99.50th=[ 9999]
`
	const levels = `PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests
exempt,            0,            false,  false,       0,               1,                 100,                0,                0,                0
workload-low,      3,            false,  false,       12,              10,                5000,               6564,             0,                0
`
	const node = `Name:               node-1
Roles:              <none>
CreationTimestamp:  Fri, 02 Jan 2026 03:00:00 +0000
Unschedulable:      false
Conditions:
  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason                       Message
  ----             ------  -----------------                 ------------------                ------                       -------
  Ready            False   Fri, 02 Jan 2026 04:00:00 +0000   Fri, 02 Jan 2026 03:50:00 +0000   KubeletNotReady              PLEG is not healthy
System Info:
  Kubelet Version:            v1.30.0
`
	for _, c := range []struct {
		name, text string
		want       func(*Evidence) string // what is wrong; empty if nothing is
	}{
		{"status as fields", fields, func(e *Evidence) string {
			return want(len(e.statuses) == 1 && e.statuses[0].id == 9372538179322589801 && strings.Contains(string(e.statuses[0].body), `"dbSizeInUse":16384`), e.statuses)
		}},
		{"members as fields", memberFields, func(e *Evidence) string {
			return want(len(e.members) == 2 && e.members[1].IsLearner && e.members[0].Name == "infra1" && e.members[0].ClientURLs[0] == "http://10.0.0.1:2379", e.members)
		}},
		{"members as lines", "8e9e05c52164694d, started, infra1, http://10.0.0.1:2380, http://10.0.0.1:2379, false\n91bc3c398fb3c146, unstarted, , http://10.0.0.2:2380, , true\n", func(e *Evidence) string {
			return want(len(e.members) == 2 && e.members[1].Name == "" && e.members[1].IsLearner, e.members)
		}},
		{"health as lines", "10.0.0.1:2379 is healthy: successfully committed proposal: took = 1.5ms\n10.0.0.2:2379 is unhealthy: failed to commit proposal: context deadline exceeded\n", func(e *Evidence) string {
			return want(len(e.reports) == 2, e.reports)
		}},
		{"alarms as lines", "memberID:10276657743932975437 alarm:NOSPACE \n", func(e *Evidence) string { return want(alarm(e), e.reports) }},
		{"alarms as JSON", `{"header":{"member_id":1},"alarms":[{"memberID":10276657743932975437,"alarm":1}]}`, func(e *Evidence) string { return want(alarm(e), e.reports) }},
		{"hashes of 3.6", `[{"Endpoint":"http://10.0.0.1:2379","HashKV":{"header":{"member_id":9372538179322589801,"revision":8},"hash":5,"compact_revision":2,"hash_revision":8}}]`, func(e *Evidence) string {
			return want(e.Deep(), e.hashes)
		}},
		{"check perf that failed", " 60 / 60 Booooooooooooom 100.00% 1m0s\nFAIL: Throughput too low: 37 writes/s\nSlowest request took too long: 1.581322s\nPASS: Stddev is 0.011084s\nFAIL\n", func(e *Evidence) string {
			return want(hits(e) == "etcd-check-perf", hits(e))
		}},
		{"check perf that passed", "PASS: Throughput is 150 writes/s\nPASS: Slowest request took 0.087509s\nPASS: Stddev is 0.011084s\nPASS\n", func(e *Evidence) string { return want(hits(e) == "", hits(e)) }},
		{"a slow disk by iostat", strings.Replace(iostat, "WAIT", "35.20", 1), func(e *Evidence) string { return want(hits(e) == "disk-iostat-slow", hits(e)) }},
		{"a fast disk by iostat", strings.Replace(iostat, "WAIT", "0.50", 1), func(e *Evidence) string { return want(hits(e) == "", hits(e)) }},
		{"a slow disk by fio", strings.Replace(fio, "P99", "23400", 1), func(e *Evidence) string { return want(hits(e) == "disk-fio-slow", hits(e)) }},
		{"a fast disk by fio", strings.Replace(fio, "P99", " 2180", 1), func(e *Evidence) string { return want(hits(e) == "", hits(e)) }},
		{"fio's JSON", `{"fio version":"fio-3.36","jobs":[{"sync":{"lat_ns":{"percentile":{"99.000000":23400000}}}}]}`, func(e *Evidence) string { return want(hits(e) == "disk-fio-slow", hits(e)) }},
		{"priority levels", levels, func(e *Evidence) string { return want(hits(e) == "apf-dump-waiting", hits(e)) }},
		{"a node described", node, func(e *Evidence) string {
			return want(len(e.held("v1", "Node")) == 1, e.objects)
		}},
		{"the kernel", "[12345.678901] INFO: task etcd:4242 blocked for more than 120 seconds.\n[12346.000000] x\n", func(e *Evidence) string { return want(hits(e) == "kernel-log-blocked", hits(e)) }},
		{"a kubelet in the journal", "Jan 02 03:04:05 node-1 kubelet[812]: I0102 03:04:05.000000     812 setters.go:600] \"Node became not ready\" message=\"PLEG is not healthy: pleg was last seen active 3m7s ago\"\n", func(e *Evidence) string {
			return want(hits(e) == "kubelet-log-pleg", hits(e))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := evidence(t, map[string]string{"x.txt": c.text})
			if why := c.want(e); why != "" {
				t.Error(why)
			}
			if len(e.Left) > 0 {
				t.Errorf("left %v", e.Left)
			}
		})
	}
}

func want(ok bool, is any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf("it is %+v", is)
}

func alarm(e *Evidence) bool {
	return len(e.reports) == 1 && e.reports[0].id == 10276657743932975437 && strings.Contains(string(e.reports[0].body), "ALARM NOSPACE") &&
		len(e.instances) == 1 && e.instances[0].name == "8e9e05c52164694d"
}

// TestWhatTellsTooLittleIsSaid has forms that are known, and of which nothing
// can be judged.
func TestWhatTellsTooLittleIsSaid(t *testing.T) {
	for text, why := range map[string]string{
		"{}\n": "its content is none",
		"+-----------------------+------------+\n|       ENDPOINT        |    HASH    |\n+-----------------------+------------+\n| http://127.0.0.1:2379 | 2064120424 |\n": "-w json",
		`[{"Endpoint":"http://10.0.0.1:2379","HashKV":{"header":{"member_id":9,"revision":8},"hash":5,"compact_revision":2}}]`:                                             "before etcd 3.6",
		"fio-3.36\netcd: (groupid=0, jobs=1): err= 0: pid=1\n  write: IOPS=59\n    clat percentiles (usec):\n     | 99.00th=[99999]\n":                                     "--fdatasync=1",
	} {
		e := evidence(t, map[string]string{"x": text, "m": etcdBody})
		if len(e.Left) != 1 || !strings.Contains(e.Left[0].Why, why) {
			t.Errorf("%q: %v, want %q", text, e.Left, why)
		}
	}
}

// TestIDsThatJQRoundedAreThoseOfTheirMembers has a status that went through jq,
// which takes numbers for floats, beside a member list that did not.
func TestIDsThatJQRoundedAreThoseOfTheirMembers(t *testing.T) {
	e := evidence(t, map[string]string{
		"members.txt": "8211f1d0f64f3269, started, infra1, http://10.0.0.1:2380, http://10.0.0.1:2379, false\n91bc3c398fb3c146, started, infra2, http://10.0.0.2:2380, http://10.0.0.2:2379, false\n",
		"status.json": `[{"Endpoint":"http://127.0.0.1:2379","Status":{"header":{"member_id":9372538179322589000},"version":"3.5.9","leader":10501334649042878000,"raftTerm":2,"dbSize":1}}]`,
	})
	if len(e.instances) != 2 || len(e.statuses) != 1 || e.statuses[0].id != 9372538179322589801 {
		t.Fatalf("%d instances, %+v", len(e.instances), e.statuses)
	}
	if body, gap := ask(t, e, collectors.Call, "etcd://10.0.0.1:2379/maintenance/status"); gap != nil || !strings.Contains(body, `"leader":10501334649042878790`) {
		t.Errorf("%v %s", gap, body)
	}
}

// TestNULsInALog has what a disk leaves that was full when the machine stopped.
func TestNULsInALog(t *testing.T) {
	line := "E0815 10:00:28.523612       1 reflector.go:140] Failed to watch *v1.Pod: x\n"
	e := evidence(t, map[string]string{"kube-scheduler.log": strings.Repeat(line, 50) + strings.Repeat("\x00", 30) + line})
	if len(e.logs) != 1 || e.logs[0].Hits[0].Count != 51 {
		t.Errorf("%+v", e.logs)
	}
}

// TestAListOfNoAlarmsIsRead has what etcdctl alarm list -w json leaves of a list of
// none, of etcd 3.4 and of later ones. That nothing is raised does not follow from
// it: whose list it is is not said.
func TestAListOfNoAlarmsIsRead(t *testing.T) {
	for _, text := range []string{"{}\n", `{"header":{"cluster_id":1,"member_id":2,"raft_term":3}}`, `{"alarms":[{}]}`} {
		e := evidence(t, map[string]string{"etcd_info/alarm_list.json": text})
		if len(e.Left) != 0 || len(e.reports) != 0 {
			t.Errorf("%q: left %v, %d reports", text, e.Left, len(e.reports))
		}
	}
	if e := evidence(t, map[string]string{"x.json": "{}", "alarms.json": `{"alarms":[{"memberID":5,"alarm":1}]}`}); len(e.Left) != 1 || len(e.reports) != 1 {
		t.Errorf("left %v, %d reports", e.Left, len(e.reports))
	}
}
