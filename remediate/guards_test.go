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
	"github.com/ktriage/ktriage/collectors/cluster"
)

// whole is a healthy cluster of three on which every guard is OK: cp-1 leads.
func whole() *txtar.Archive {
	a := &txtar.Archive{}
	add := func(name, body string) {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(body + "\n")})
	}
	for i := 1; i <= 3; i++ {
		at := fmt.Sprintf("call etcd://10.0.0.1%d:2379", i)
		add(at+"/kv/range?key=health", "elapsed: 5ms\n{}")
		add(at+"/kv/range?key=health&serializable=true", "elapsed: 1ms\n{}")
		add(at+"/kv/range?key=/ktriage/&prefix=true&limit=1000", fmt.Sprintf(`{"header":{"cluster_id":7,"member_id":%d}}`, i))
		add(at+"/maintenance/status", status(i, nil))
		add(fmt.Sprintf("get config:/disk/10.0.0.1%d/var/lib/etcd", i), "gap: out of scope: not an address of this machine")
		for _, look := range []string{"first", "last"} {
			add(fmt.Sprintf("scrape pod+http://cp-%d@kube-system/etcd-cp-%d:2381/metrics #%s", i, i, look), metrics(i, nil))
		}
	}
	add("get kube:/api/v1/namespaces/kube-system/configmaps/ktriage-halt", "gap: absent: not found")
	add("list kube:/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.namespace%21%3Dkube-node-lease", `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {namespace: kube-system, name: kube-scheduler}
spec: {holderIdentity: cp-1_x, leaseDurationSeconds: 15, renewTime: "2026-01-02T03:04:03.000000Z"}`)
	return a
}

func status(i int, change map[string]string) string {
	v := map[string]string{
		"leader": "1", "raftTerm": "5", "raftIndex": "2000", "raftAppliedIndex": "2000", "version": `"3.6.8"`, "member": fmt.Sprint(i), "errors": "[]",
		"dbSize": "1073741824", "dbSizeInUse": "314572800", "isLearner": "false", "downgradeInfo": "{}",
	}
	for k, x := range change {
		v[k] = x
	}
	return fmt.Sprintf(`{"header":{"cluster_id":7,"member_id":%s,"revision":1000,"raft_term":%s},"version":%s,"dbSize":%s,"dbSizeInUse":%s,"leader":%s,"raftIndex":%s,"raftTerm":%s,"raftAppliedIndex":%s,"errors":%s,"isLearner":%s,"downgradeInfo":%s,"dbSizeQuota":2147483648}`,
		v["member"], v["raftTerm"], v["version"], v["dbSize"], v["dbSizeInUse"], v["leader"], v["raftIndex"], v["raftTerm"], v["raftAppliedIndex"], v["errors"], v["isLearner"], v["downgradeInfo"])
}

func metrics(i int, change map[string]string) string {
	v := map[string]string{"inflight": "0", "size": "1.073741824e+09", "inUse": "3.145728e+08", "compacted": "900", "wide": "3.6"}
	for k, x := range change {
		v[k] = x
	}
	leads := 0
	if i == 1 {
		leads = 1
	}
	return fmt.Sprintf(`etcd_server_id{server_id="%d"} 1
etcd_server_version{server_version="3.6.8"} 1
etcd_cluster_version{cluster_version="%s"} 1
etcd_server_has_leader 1
etcd_server_is_leader %d
etcd_server_is_learner 0
etcd_disk_defrag_inflight %s
etcd_server_quota_backend_bytes 2.147483648e+09
etcd_mvcc_db_total_size_in_bytes %s
etcd_mvcc_db_total_size_in_use_in_bytes %s
etcd_debugging_mvcc_current_revision 1000
etcd_debugging_mvcc_compact_revision %s
etcd_debugging_mvcc_db_compaction_last 1.767322865e+09`, i, v["wide"], leads, v["inflight"], v["size"], v["inUse"], v["compacted"])
}

func scriptOver(t *testing.T, window time.Duration, change map[string]string) *capture.Script {
	t.Helper()
	base, err := txtar.ParseFile("../checks/checktest/testdata/kubeadm3.txtar")
	if err != nil {
		t.Fatal(err)
	}
	mine := whole()
	for name, body := range change {
		i := slices.IndexFunc(mine.Files, func(f txtar.File) bool { return f.Name == name })
		if i < 0 {
			i = len(mine.Files)
			mine.Files = append(mine.Files, txtar.File{Name: name})
		}
		mine.Files[i].Data = []byte(body + "\n")
	}
	return capture.NewScript(checktest.Now, window, base, mine)
}

func snapshot(t *testing.T, change map[string]string, facts ...collectors.Any) *collectors.Snapshot {
	t.Helper()
	return snapshotOver(t, 0, change, facts...)
}

func snapshotOver(t *testing.T, window time.Duration, change map[string]string, facts ...collectors.Any) *collectors.Snapshot {
	t.Helper()
	return collectors.Collect(context.Background(), scriptOver(t, window, change), checktest.Now, window, collectors.Options{}, facts...).Snapshot
}

func make3(t *testing.T, r *Recipe, o Options, change map[string]string) (*Plan, error) {
	t.Helper()
	if o.SettleLimit == 0 {
		o.SettleLimit = Duration(time.Minute)
	}
	return r.Make(snapshot(t, change, r.Facts(o, checktest.Now)...), o, "ktriage test")
}

const (
	status1   = "call etcd://10.0.0.11:2379/maintenance/status"
	status2   = "call etcd://10.0.0.12:2379/maintenance/status"
	status3   = "call etcd://10.0.0.13:2379/maintenance/status"
	read2     = "call etcd://10.0.0.12:2379/kv/range?key=health"
	list1     = "call etcd://10.0.0.11:2379/member/list"
	upkeep1   = "call etcd://10.0.0.11:2379/kv/range?key=/ktriage/&prefix=true&limit=1000"
	halt      = "get kube:/api/v1/namespaces/kube-system/configmaps/ktriage-halt"
	disk2     = "get config:/disk/10.0.0.12/var/lib/etcd"
	scrape2l  = "scrape pod+http://cp-2@kube-system/etcd-cp-2:2381/metrics #last"
	scrape2f  = "scrape pod+http://cp-2@kube-system/etcd-cp-2:2381/metrics #first"
	theLeases = "list kube:/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.namespace%21%3Dkube-node-lease"
)

// TestDefragPlan holds the order: followers, handover, old leader.
func TestDefragPlan(t *testing.T) {
	p, err := make3(t, &Defrag, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Steps {
		got = append(got, s.Describe())
		if s.Why == "" || s.Effect == "" || s.Manual == "" || s.Undo == "" || len(s.Guards) == 0 || len(s.Clears) == 0 {
			t.Errorf("%s is not told in full: %+v", s.Describe(), s)
		}
	}
	want := []string{"defragment cp-2", "defragment cp-3", "let cp-2 lead in place of cp-1", "defragment cp-1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestStallIsMeasured holds that how long one member took is what is reckoned with
// for the next, and that one that was too small to tell does not count.
func TestStallIsMeasured(t *testing.T) {
	p, err := make3(t, &Defrag, Options{MaxStall: Duration(20 * time.Second)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		size   float64
		took   time.Duration
		refuse bool
	}{{1 << 30, 60 * time.Second, true}, {1 << 30, 4 * time.Second, false}, {1 << 20, 60 * time.Second, false}} {
		g := newGate(p)
		g.before["cp-2"] = tt.size
		g.done(p.Steps[0].Action, tt.took)
		c := []*checks.Check{g.estimate("cp-3", false)}
		if err := demand(c, checks.Run(snapshot(t, nil, checks.Facts(c)...), c)); (err != nil) != tt.refuse {
			t.Errorf("%.0f bytes took %s: got %v", tt.size, tt.took, err)
		}
	}
}

// TestAlarmIsNotTakenBackWithoutRoom holds that NOSPACE stays as long as it would
// come back at once, and where the quota is not known.
func TestAlarmIsNotTakenBackWithoutRoom(t *testing.T) {
	p, err := make3(t, &NoSpace, Options{File: "/x/y.db"}, map[string]string{status1: status(1, map[string]string{"errors": `["memberID:1 alarm:NOSPACE "]`})})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Action.Kind == Disarm })
	guards, _ := newGate(p).of(i)
	c := slices.DeleteFunc(slices.Clone(guards), func(c *checks.Check) bool { return c.ID != "cure-room" })
	if len(c) != 1 {
		t.Fatal("a disarm has no guard on room")
	}
	for size, words := range map[string]string{"1.8e+09": "", "1.94e+09": "still fills 90% of its quota", "2.147483648e+09": "still fills 100%"} {
		full := metrics(2, map[string]string{"size": size})
		change := map[string]string{scrape2f: full, scrape2l: full, status2: status(2, map[string]string{"dbSize": strings.NewReplacer("1.8e+09", "1800000000", "1.94e+09", "1940000000", "2.147483648e+09", "2147483648").Replace(size)})}
		if err := demand(c, checks.Run(snapshot(t, change, checks.Facts(c)...), c)); (err != nil) != (words != "") || err != nil && !strings.Contains(err.Error(), words) {
			t.Errorf("%s bytes: got %v, want %q", size, err, words)
		}
	}
}

// TestSlowLeasesAreNotLate holds that a lease that is made to be renewed seldom,
// as OpenShift's, does not forbid anything before it is late.
func TestSlowLeasesAreNotLate(t *testing.T) {
	lease := func(renewed string) map[string]string {
		return map[string]string{theLeases: `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {namespace: kube-system, name: kube-scheduler}
spec: {holderIdentity: cp-1_x, leaseDurationSeconds: 137, renewTime: "2026-01-02T03:` + renewed + `.000000Z"}`}
	}
	if _, err := make3(t, &Defrag, Options{}, lease("03:40")); err != nil {
		t.Errorf("25 s after it was renewed: %v", err)
	}
	if _, err := make3(t, &Defrag, Options{}, lease("02:30")); err == nil || !strings.Contains(err.Error(), "was not renewed for 1m 35s, of 2m 17s") {
		t.Errorf("95 s after: %v", err)
	}
}

// TestGuardsForbid changes one thing of a cluster on which all is well, and
// demands that no plan is made, for that reason.
func TestGuardsForbid(t *testing.T) {
	inOneHour := "01:00-02:00" // it is 03:04
	for _, tt := range []struct {
		name   string
		o      Options
		change map[string]string
		words  string
	}{
		{"CORRUPT is raised", Options{}, map[string]string{status1: status(1, map[string]string{"errors": `["memberID:2 alarm:CORRUPT "]`})}, "CORRUPT is raised by cp-2"},
		{"CORRUPT is raised beside NOSPACE", Options{}, map[string]string{status1: status(1, map[string]string{"errors": `["memberID:1 alarm:NOSPACE ","memberID:2 alarm:CORRUPT "]`})}, "is raised"},
		{"an alarm of the future is raised", Options{}, map[string]string{status1: status(1, map[string]string{"errors": `["memberID:2 alarm:FIRE "]`})}, "FIRE is raised"},
		{"NOSPACE is raised", Options{}, map[string]string{status1: status(1, map[string]string{"errors": `["memberID:1 alarm:NOSPACE "]`})}, "NOSPACE is raised"},
		{"a member does not answer", Options{}, map[string]string{status2: "gap: timeout: no answer"}, "cp-2 does not answer"},
		{"one that is down in a cluster of three, with --allow-down", Options{AllowDown: true}, map[string]string{status2: "gap: unreachable: refused"}, "the majority of 2 is lost"},
		{"another answers at a member's address", Options{}, map[string]string{status2: status(3, nil)}, "cp-2 does not answer"},
		{"members disagree on the leader", Options{}, map[string]string{status2: status(2, map[string]string{"leader": "3"})}, "takes 3 for the leader"},
		{"a member has no leader", Options{}, map[string]string{status2: status(2, map[string]string{"leader": "0", "errors": `["etcdserver: no leader"]`})}, "has no leader"},
		{"terms differ", Options{}, map[string]string{status2: status(2, map[string]string{"raftTerm": "6"})}, "in term 6"},
		{"a member lags", Options{}, map[string]string{status2: status(2, map[string]string{"raftIndex": "900", "raftAppliedIndex": "900"})}, "is 1100 entries behind"},
		{"a member does not keep up with applying", Options{}, map[string]string{status2: status(2, map[string]string{"raftAppliedIndex": "100"})}, "has 1900 entries to apply"},
		{"a learner by the list", Options{}, map[string]string{list1: `{"header":{"cluster_id":7,"member_id":1},"members":[{"ID":1,"name":"cp-1","clientURLs":["https://10.0.0.11:2379"]},{"ID":2,"name":"cp-2","clientURLs":["https://10.0.0.12:2379"]},{"ID":3,"name":"cp-3","clientURLs":["https://10.0.0.13:2379"],"isLearner":true}]}`}, "is a learner"},
		{"a member that never started", Options{}, map[string]string{list1: `{"header":{"cluster_id":7,"member_id":1},"members":[{"ID":1,"name":"cp-1","clientURLs":["https://10.0.0.11:2379"]},{"ID":2,"name":"cp-2","clientURLs":["https://10.0.0.12:2379"]},{"ID":3,"name":"cp-3","clientURLs":["https://10.0.0.13:2379"]},{"ID":4,"peerURLs":["https://10.0.0.14:2380"]}]}`}, "10.0.0.14:2380 does not answer"},
		{"a read is slow", Options{}, map[string]string{read2: "elapsed: 3s\n{}"}, "took 3 s to read a key"},
		{"a read hangs", Options{}, map[string]string{read2: "gap: timeout: no answer"}, "not known: no answer"},
		{"someone defragments", Options{}, map[string]string{scrape2l: metrics(2, map[string]string{"inflight": "1"})}, "is being defragmented by someone"},
		{"a member receives a snapshot", Options{}, map[string]string{scrape2l: metrics(2, nil) + "\netcd_server_snapshot_apply_in_progress_total 1"}, "applies a snapshot that it received"},
		{"metrics that nobody serves", Options{}, map[string]string{scrape2f: "gap: unreachable: x", scrape2l: "gap: unreachable: x"}, "not known: x"},
		{"an upgrade is under way", Options{}, map[string]string{status2: status(2, map[string]string{"version": `"3.6.9"`})}, "an upgrade is under way"},
		{"a downgrade is under way", Options{}, map[string]string{status2: status(2, map[string]string{"downgradeInfo": `{"enabled":true,"targetVersion":"3.5.0"}`})}, "a downgrade to 3.5.0 is under way"},
		{"an operator forbids it in Kubernetes", Options{}, map[string]string{halt: "{}"}, "the ConfigMap kube-system/ktriage-halt forbids cures"},
		{"an operator forbids it in etcd", Options{}, map[string]string{upkeep1: `{"header":{"cluster_id":7,"member_id":1},"kvs":[{"key":"L2t0cmlhZ2UvaGFsdA=="}]}`}, "the key /ktriage/halt forbids cures"},
		{"whether an operator forbids it is not known", Options{}, map[string]string{halt: "gap: forbidden: may not get configmaps"}, "may not get configmaps"},
		{"the API server does not answer", Options{}, map[string]string{halt: "gap: timeout: no answer"}, "no answer"},
		{"the API server is slow", Options{}, map[string]string{theUID: "elapsed: 4s\n{}"}, "the API server took 4 s to read an object"},
		{"the API server hangs on what is there", Options{}, map[string]string{theUID: "gap: timeout: no answer"}, "no answer"},
		{"a lease of the control plane is late", Options{}, map[string]string{theLeases: `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {namespace: kube-system, name: kube-scheduler}
spec: {holderIdentity: cp-1_x, leaseDurationSeconds: 15, renewTime: "2026-01-02T03:03:53.000000Z"}`}, "was not renewed for 12s, of 15s"},
		{"outside of the window", Options{Window: inOneHour}, nil, "it is Fri 03:04, the window is 01:00-02:00 UTC"},
		{"longer than allowed", Options{MaxStall: Duration(2 * time.Second)}, nil, "would answer nothing for about 5s, --max-stall is 2s"},
		{"no room for a copy", Options{}, map[string]string{disk2: `{"free":300000000,"size":900000000}`}, "has 286 MiB free on its disk, the copy needs 360 MiB"},
		{"no recent snapshot", Options{RequireSnapshot: Duration(time.Hour), SnapshotAt: checktest.Now.Add(-2 * time.Hour)}, nil, "is 2h old, --require-snapshot is 1h"},
		{"no snapshot at all", Options{RequireSnapshot: Duration(time.Hour)}, nil, "no snapshot is known here"},
		{"a member that is none", Options{Members: []string{"cp-9"}}, nil, `there is no member "cp-9"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := make3(t, &Defrag, tt.o, tt.change)
			if err == nil {
				t.Fatalf("a plan was made, with %d steps", len(p.Steps))
			}
			if !strings.Contains(err.Error(), tt.words) {
				t.Errorf("got %q, want it to say %q", err, tt.words)
			}
		})
	}
}

// running makes all three members run one version.
func running(version string) map[string]string {
	change := map[string]string{}
	for i, s := range []string{status1, status2, status3} {
		change[s] = status(i+1, map[string]string{"version": `"` + version + `"`})
	}
	wide := version
	if i := strings.LastIndex(version, "."); i > 0 {
		wide = version[:i]
	}
	for i := 1; i <= 3; i++ {
		for _, look := range []string{"first", "last"} {
			change[fmt.Sprintf("scrape pod+http://cp-%d@kube-system/etcd-cp-%d:2381/metrics #%s", i, i, look)] = metrics(i, map[string]string{"wide": wide})
		}
	}
	return change
}

// TestKnownBadVersionsAreRefused holds each refusal, for which recipe, and with
// what reason.
func TestKnownBadVersionsAreRefused(t *testing.T) {
	const old, diverge, offline, broken, corrupt = "are not maintained", "etcd #13766", "do it offline with etcdutl (etcd #14733)", "etcd #11613", "etcd #11652"
	for _, tt := range []struct {
		version            string
		defrag, compaction string // why it is refused; empty: it is not
	}{
		{"2.3.8", old, old}, {"3.3.27", old, old},
		{"3.4.0", broken, corrupt}, {"3.4.3", broken, corrupt}, {"3.4.4", corrupt, corrupt}, {"3.4.7", corrupt, corrupt}, {"3.4.8", "", ""}, {"3.4.45", "", ""},
		{"3.5.0", diverge, diverge}, {"3.5.2", diverge, diverge}, {"3.5.3", offline, ""}, {"3.5.5", offline, ""}, {"3.5.6", "", ""}, {"3.5.35", "", ""},
		{"3.6.0", "", ""}, {"3.6.16", "", ""}, {"3.7.3", "", ""}, {"what", `"what"`, `"what"`},
	} {
		for r, want := range map[*Recipe]string{&Defrag: tt.defrag, &CompactHistory: tt.compaction, &SaveSnapshot: tt.compaction, &Lead: tt.compaction} {
			_, err := make3(t, r, Options{File: "/tmp/x.db"}, running(tt.version))
			if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s on %s: got %v, want %q", r.ID, tt.version, err, want)
			}
		}
	}
	for _, bad := range badVersions {
		for _, patch := range []int{bad.from, bad.to - 1, bad.to} {
			b, is := badFor(cluster.Release{Major: 3, Minor: bad.minor, Patch: patch}, bad.kind)
			if (patch < bad.to) != (is && b.source == bad.source) {
				t.Errorf("3.%d.%d: %v, %v", bad.minor, patch, b, is)
			}
		}
	}
	mixed := running("3.6.16")
	mixed[status3] = status(3, map[string]string{"version": `"3.5.35"`})
	for _, r := range []*Recipe{&Defrag, &CompactHistory, &SaveSnapshot, &Lead} {
		if _, err := make3(t, r, Options{File: "/tmp/x.db"}, mixed); err == nil || !strings.Contains(err.Error(), "an upgrade is under way") {
			t.Errorf("%s on mixed versions: got %v", r.ID, err)
		}
	}
}

// TestKnownFaultsAreTold holds that what is no reason to refuse is said.
func TestKnownFaultsAreTold(t *testing.T) {
	for version, want := range map[string]map[*Recipe]string{
		"3.4.30": {&Defrag: "etcd #18843", &CompactHistory: "etcd #17610", &Lead: "etcd #17465"},
		"3.5.12": {&Defrag: "mended in 3.5.17 (etcd #18843)", &CompactHistory: "a watch may lose events after a compaction; mended in 3.5.13 (etcd #17610)", &Lead: "etcd #17465"},
		"3.5.17": {&Defrag: "", &CompactHistory: "etcd #19251", &Lead: ""},
		"3.5.35": {&Defrag: "", &CompactHistory: "", &Lead: ""},
		"3.6.0":  {&Defrag: "", &CompactHistory: "", &Lead: ""},
	} {
		for r, words := range want {
			p, err := make3(t, r, Options{}, running(version))
			if err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(p.Notes, "\n")
			if told := strings.Contains(notes, "(etcd #"); told != (words != "") || !strings.Contains(notes, words) {
				t.Errorf("%s on %s: want %q in\n%s", r.ID, version, words, notes)
			}
		}
	}
}

func TestSelection(t *testing.T) {
	small := status(2, map[string]string{"dbSizeInUse": "1073000000"})
	smallMetrics := metrics(2, map[string]string{"inUse": "1.073e+09"})
	change := map[string]string{status2: small, scrape2l: smallMetrics, scrape2f: smallMetrics}
	yesterday := fmt.Sprint(checktest.Now.Add(-23 * time.Hour).Unix())
	for _, tt := range []struct {
		name   string
		o      Options
		change map[string]string
		want   []string
	}{
		{"one is not fragmented", Options{}, change, []string{"defragment cp-3", "let cp-3 lead in place of cp-1", "defragment cp-1"}},
		{"only those that are named", Options{Members: []string{"cp-3"}}, nil, []string{"defragment cp-3"}},
		{"only the leader: who has the fewest free pages leads", Options{Members: []string{"cp-1"}}, change, []string{"let cp-2 lead in place of cp-1", "defragment cp-1"}},
		{"a rule that selects none", Options{Rule: "size > 10*GiB"}, nil, nil},
		{"a rule over the quota", Options{Rule: "usage >= 0.5 && quota == 2*GiB && free > 0"}, nil, []string{"defragment cp-2", "defragment cp-3", "let cp-2 lead in place of cp-1", "defragment cp-1"}},
		{"one was done a short while ago", Options{MinInterval: Duration(24 * time.Hour)},
			map[string]string{upkeep1: `{"header":{"cluster_id":7,"member_id":1},"kvs":[{"key":"` + b64("/ktriage/defragmented/2/"+yesterday) + `"}]}`},
			[]string{"defragment cp-3", "let cp-3 lead in place of cp-1", "defragment cp-1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := make3(t, &Defrag, tt.o, tt.change)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range p.Steps {
				got = append(got, s.Describe())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestGuardsReadOnlyWhatIsCollected holds that a plan is made from all that its
// guards judge by.
func TestGuardsReadOnlyWhatIsCollected(t *testing.T) {
	nospace := map[string]string{status1: status(1, map[string]string{"errors": `["memberID:1 alarm:NOSPACE "]`})}
	for _, r := range Recipes {
		if r == &RestartLeader {
			continue // hangs in no script of this kind: see TestLeadershipArrives
		}
		known := map[string]bool{}
		for _, f := range r.Facts(Options{}, checktest.Now) {
			known[f.Name()] = true
		}
		change := deadBackends
		switch r {
		case &NoSpace:
			change = nospace
		case &EventsPrune:
			change = oldEvents()
		}
		p, err := make3(t, r, Options{File: "/tmp/x.db"}, change)
		if err != nil {
			t.Errorf("%s: %v", r.ID, err)
			continue
		}
		if len(p.Steps) == 0 {
			t.Errorf("%s has no steps: %v", r.ID, p.Notes)
		}
		g := newGate(p)
		for i := range p.Steps {
			guards, clears := g.of(i)
			for _, c := range append(guards, clears...) {
				for _, f := range checks.Facts([]*checks.Check{c}) {
					if !known[f.Name()] {
						t.Errorf("%s: %s reads %s, which Facts does not list", r.ID, c.ID, f.Name())
					}
				}
			}
		}
	}
}

// TestNoSpacePlan holds the order of the recovery, which works without an API
// server, and that exactly NOSPACE of exactly the members is taken back.
func TestNoSpacePlan(t *testing.T) {
	change := map[string]string{
		status1: status(1, map[string]string{"errors": `["memberID:1 alarm:NOSPACE "]`}),
		status2: status(2, map[string]string{"errors": `["memberID:1 alarm:NOSPACE "]`}),
		halt:    "gap: unreachable: connection refused", theLeases: "gap: unreachable: connection refused",
	}
	p, err := make3(t, &NoSpace, Options{File: "/x/y.db"}, change)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Steps {
		got = append(got, s.Describe())
		if s.Action.Kind == Disarm && (s.Action.Args[ArgAlarm] != "NOSPACE" || s.Action.Args[ArgMemberID] == "" || s.Action.Args[ArgMemberID] == "0") {
			t.Errorf("it would take back more than one alarm of one member: %+v", s.Action)
		}
	}
	want := []string{
		"save a snapshot from cp-2 to /x/y.db", "drop the history up to revision 1000", "defragment cp-2", "defragment cp-3",
		"let cp-2 lead in place of cp-1", "defragment cp-1",
		"take back NOSPACE of cp-1, if it is raised", "take back NOSPACE of cp-2, if it is raised", "take back NOSPACE of cp-3, if it is raised",
		"write a key through every member, read it back and delete it",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	change[status3] = status(3, map[string]string{"errors": `["memberID:1 alarm:NOSPACE ","memberID:3 alarm:CORRUPT "]`})
	if _, err := make3(t, &NoSpace, Options{File: "/x/y.db"}, change); err == nil || !strings.Contains(err.Error(), "CORRUPT is raised") {
		t.Errorf("CORRUPT beside NOSPACE: got %v", err)
	}
}

// TestCompactionIsNotGuessed holds that what goes is what was the last revision
// when the plan was made, and not before it is old enough.
func TestCompactionIsNotGuessed(t *testing.T) {
	p, err := make3(t, &CompactHistory, Options{Keep: Duration(20 * time.Minute)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := p.Steps[0].Action
	if at, err := time.Parse(time.RFC3339Nano, a.Args[ArgNotBefore]); err != nil || a.Args[ArgRevision] != "1000" || !at.Equal(checktest.Now.Add(20*time.Minute+LookFor)) {
		t.Errorf("got %v", a.Args)
	}
	if err := (Options{Keep: Duration(time.Second), SettleLimit: 1}).Check(); err == nil {
		t.Error("one second of history was accepted without --aggressive")
	}
	p, err = make3(t, &CompactHistory, Options{Aggressive: true}, nil)
	if err != nil || p.Steps[0].Action.Args[ArgNotBefore] != "" {
		t.Errorf("got %v, %v", p, err)
	}
}

// TestDatedRevisions holds what counts as known of the past, and what does not.
func TestDatedRevisions(t *testing.T) {
	const turn1 = "call etcd://10.0.0.11:2379/kv/range?key=compact_rev_key"
	turn := func(value, written string) string {
		return `{"header":{"cluster_id":7,"member_id":1},"kvs":[{"key":"` + b64("compact_rev_key") + `","value":"` + b64(value) + `","mod_revision":` + written + `,"version":12}]}`
	}
	ago := func(d time.Duration, rev int64) Sight { return Sight{checktest.Now.Add(-d), rev} }
	// The members say that the last compaction ended at 03:01:05, three minutes
	// ago, and that 900 is the last revision that it removed.
	long := func(seconds int64) map[string]string {
		out := map[string]string{turn1: turn("900", "950")}
		for i := 1; i <= 3; i++ {
			for _, look := range []string{"first", "last"} {
				out[fmt.Sprintf("scrape pod+http://cp-%d@kube-system/etcd-cp-%d:2381/metrics #%s", i, i, look)] =
					strings.Replace(metrics(i, nil), "1.767322865e+09", fmt.Sprint(checktest.Now.Unix()-seconds), 1)
			}
		}
		return out
	}
	other := long(3600)
	other[turn1] = turn("899", "950")
	broken := long(3600)
	broken[turn1] = turn("next week", "950")
	for _, tt := range []struct {
		name   string
		seen   []Sight
		change map[string]string
		want   string
	}{
		{"nothing is known: it waits", nil, map[string]string{turn1: `{"header":{"cluster_id":7,"member_id":1}}`}, "1000"},
		{"what was seen is too young", []Sight{ago(9*time.Minute, 980)}, nil, "1000"},
		{"what was seen is old enough", []Sight{ago(30*time.Minute, 940), ago(12*time.Minute, 980), ago(time.Minute, 999)}, nil, "980"},
		{"what was seen is old: also what came since", []Sight{ago(12*time.Hour, 950)}, nil, "950 1000"},
		{"what was seen is dropped already", []Sight{ago(12*time.Minute, 800)}, nil, "1000"},
		{"what was seen is of another history", []Sight{ago(12*time.Minute, 5000)}, nil, "1000"},
		{"what was seen is from the future", []Sight{ago(-time.Hour, 950)}, nil, "1000"},
		{"API servers compact", nil, long(180), ""},
		{"API servers did, an hour ago", nil, long(3600), "950 1000"},
		{"the last compaction was another's", nil, other, "1000"},
		{"the key holds no revision", nil, broken, "1000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := make3(t, &CompactHistory, Options{Seen: tt.seen}, tt.change)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range p.Steps {
				got = append(got, s.Action.Args[ArgRevision])
				at, err := time.Parse(time.RFC3339Nano, s.Action.Args[ArgNotBefore])
				if wait := at.Sub(checktest.Now); err != nil || (s.Action.Args[ArgRevision] == "1000") != (wait >= time.Duration(DefaultKeep)) || s.Action.Args[ArgRevision] != "1000" && wait > 0 {
					t.Errorf("revision %s is due in %s, %v", s.Action.Args[ArgRevision], wait, err)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q; notes %q", got, tt.want, p.Notes)
			}
		})
	}
}

const (
	hooksV  = "list kube:/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	hooksM  = "list kube:/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
	apis    = "list kube:/apis/apiregistration.k8s.io/v1/apiservices"
	crds    = "list kube:/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	svcs    = "list kube:/api/v1/namespaces/guard/services"
	eps     = "list kube:/apis/discovery.k8s.io/v1/endpointslices?labelSelector=kubernetes.io%2Fservice-name+in+%28gone%2Cpolicy%29"
	theUID  = "get kube:/api/v1/namespaces/kube-system"
	service = "apiVersion: v1\nkind: Service\nmetadata: {namespace: guard, name: policy}\nspec: {ports: [{port: 443}], selector: {a: b}}"
	ready   = "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: guard, name: policy-1, labels: {kubernetes.io/service-name: policy}}\nports: [{port: 8443}]\nendpoints: [{addresses: [10.1.1.1], conditions: {ready: true}}]"
)

// deadBackends is a cluster with a webhook and an APIService behind which nobody
// is, one webhook that is found by URL, and one that lets pass.
var deadBackends = map[string]string{
	theUID: `{"metadata":{"uid":"u-1"}}`,
	hooksV: `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: policy}
webhooks:
- {name: a.policy.io, failurePolicy: Fail, clientConfig: {service: {namespace: guard, name: policy}}}
- {name: b.policy.io, failurePolicy: Ignore, clientConfig: {service: {namespace: guard, name: policy}}}
- {name: c.policy.io, failurePolicy: Fail, clientConfig: {url: "https://policy.example.com"}}`,
	hooksM: "", crds: "",
	apis: `apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.gone.io}
spec: {group: gone.io, version: v1, service: {namespace: guard, name: gone}}
status: {conditions: [{type: Available, status: "False", reason: ServiceNotFound}]}`,
	svcs: service, eps: "",
}

// TestOnlyWhatIsDeadIsTouched holds what counts as proof.
func TestOnlyWhatIsDeadIsTouched(t *testing.T) {
	with := func(name, body string) map[string]string {
		out := map[string]string{}
		for k, v := range deadBackends {
			out[k] = v
		}
		out[name] = body
		return out
	}
	for _, tt := range []struct {
		name   string
		r      *Recipe
		change map[string]string
		want   []string
		err    string
	}{
		{"a dead webhook", &WebhookOpen, deadBackends, []string{"set failurePolicy of webhook a.policy.io in validatingwebhookconfiguration/policy to Ignore"}, ""},
		{"a webhook with a ready endpoint", &WebhookOpen, with(eps, ready), nil, ""},
		{"a dead APIService", &APIServiceRemove, deadBackends, []string{"delete apiservice/v1.gone.io"}, ""},
		{"an APIService that is called available", &APIServiceRemove, with(apis, strings.Replace(deadBackends[apis], `"False"`, `"True"`, 1)), nil, ""},
		{"endpoints that may not be seen", &WebhookOpen, with(eps, "gap: forbidden: may not list endpointslices"), nil, "may not list endpointslices"},
		{"a cluster that does not say which it is", &WebhookOpen, with(theUID, "gap: timeout: no answer"), nil, "no answer"},
		{"an operator forbids it", &WebhookOpen, with(halt, "{}"), nil, "forbids cures"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := make3(t, tt.r, Options{}, tt.change)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range p.Steps {
				got = append(got, s.Describe())
				if s.Action.Args[ArgNotBefore] == "" || s.Action.Args[ArgSaved] == "" {
					t.Errorf("it does not wait, or saves nothing: %v", s.Action.Args)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	// At the time of the step somebody is there again.
	p, err := make3(t, &WebhookOpen, Options{}, deadBackends)
	if err != nil {
		t.Fatal(err)
	}
	guards, _ := newGate(p).of(0)
	if err := demand(guards, checks.Run(snapshot(t, with(eps, ready), checks.Facts(guards)...), guards)); err == nil || !strings.Contains(err.Error(), "somebody may answer") {
		t.Errorf("got %v", err)
	}
}
