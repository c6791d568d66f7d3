package evidence

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

const (
	etcdBody  = "etcd_server_has_leader 1\netcd_server_id{server_id=\"a1\"} 1\n"
	schedBody = "scheduler_pending_pods{queue=\"active\"} 0\napiserver_audit_event_total 0\n"
	etcdPod   = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"etcd-cp-1","namespace":"kube-system","labels":{"tier":"control-plane"},"creationTimestamp":"2026-01-02T03:04:05Z"},"spec":{"nodeName":"cp-1","containers":[{"name":"etcd","command":["etcd","--name=cp-1","--advertise-client-urls=https://10.0.0.1:2379","--listen-metrics-urls=http://127.0.0.1:2381"]}]},"status":{"hostIP":"10.0.0.1"}}`
	discovery = "kube:/api/v1/namespaces/kube-system/pods?labelSelector=tier%3Dcontrol-plane"
)

func evidence(t *testing.T, files map[string]string) *Evidence {
	t.Helper()
	e, err := New(asFiles(files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func asFiles(files map[string]string) []File {
	var out []File
	for name, text := range files {
		out = append(out, Bytes(name, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), []byte(text)))
	}
	return out
}

func ask(t *testing.T, e *Evidence, v collectors.Verb, url string) (string, *collectors.Gap) {
	t.Helper()
	r, err := e.Fetch(context.Background(), collectors.Request{Verb: v, URL: url})
	if err != nil {
		return "", collectors.AsGap(err, collectors.Bug)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), nil
}

func TestRecognise(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       shape
	}{
		{"metrics", etcdBody, metricsText},
		{"a pod", etcdPod, jsonText},
		{"yaml", "apiVersion: v1\nkind: Pod\n", yamlText},
		{"a kubectl table", "NAME   READY   STATUS    RESTARTS   AGE\na      0/1     Pending   0          1m\n", kubeTable},
		{"an etcdctl table", "+----+\n| ID |\n", etcdTable},
		{"etcdctl's simple form", "https://10.0.0.1:2379, 6c66db9dc17b0eb5, 3.2.7, 136 MB, false, 54529, 17002106\n", etcdSimple},
		{"a health report", "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n", healthText},
		{"zap", `{"level":"warn","ts":"2022-03-13T17:21:30.783-0700","caller":"a.go:1","msg":"x"}`, logText},
		{"klog", "E0815 10:00:28.523612       1 reflector.go:140] x", logText},
		{"an error of kubectl", `Error from server (InternalError): Internal error occurred: failed calling webhook "x"`, logText},
		{"prose that quotes a log", "**etcd#12405** - one slow. Evidence: `wal: sync duration of 1.018100466s, expected less than 1s`\n", unrecognised},
		{"prose with numbers", "revision_start 1754941972 at 14:09\n    151 /registry/autoscaling\n", unrecognised},
		{"nothing", " \n", empty},
		{"a program", "\x7fELF\x00\x00\x00\x00", binaryFile},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := recognise([]byte(c.text)); got != c.want {
				t.Errorf("recognise = %d, want %d", got, c.want)
			}
		})
	}
}

func TestABodyAloneIsAnInstanceNamedAfterItsFile(t *testing.T) {
	e := evidence(t, map[string]string{"cp-7/metrics": etcdBody, "sched.txt": schedBody})
	list, gap := ask(t, e, collectors.List, discovery)
	if gap != nil || !strings.Contains(list, `"name":"cp-7"`) || !strings.Contains(list, `"name":"sched"`) || strings.Count(list, "ktriage.dev/evidence") != 2 {
		t.Fatalf("%v %s", gap, list)
	}
	if body, gap := ask(t, e, collectors.Scrape, "pod+http://kube-system/cp-7:2381/metrics"); gap != nil || body != etcdBody {
		t.Errorf("%v %q", gap, body)
	}
	if _, gap := ask(t, e, collectors.List, "kube:/api/v1/pods?fieldSelector=status.phase%3DPending"); gap == nil || gap.Reason != collectors.NotAsked {
		t.Errorf("made-up pods are shown as pods: %v", gap)
	}
}

func TestABodyBelongsToTheOnlyPodOfItsKind(t *testing.T) {
	e := evidence(t, map[string]string{"metrics.txt": etcdBody, "pod.json": etcdPod})
	list, _ := ask(t, e, collectors.List, discovery)
	if strings.Count(list, `"name":"etcd-cp-1"`) != 1 || strings.Contains(list, "made-up") {
		t.Errorf("%s", list)
	}
	if _, gap := ask(t, e, collectors.Scrape, "pod+http://cp-1@kube-system/etcd-cp-1:2381/metrics"); gap != nil {
		t.Error(gap)
	}
	if _, gap := ask(t, e, collectors.Scrape, "etcd://10.0.0.1:2379/metrics"); gap != nil {
		t.Error(gap)
	}
}

func TestFilesOfTwoMembersDoNotMix(t *testing.T) {
	e := evidence(t, map[string]string{
		"cp-1/etcd.metrics": "etcd_server_has_leader 1\n", "cp-10/etcd.metrics": "etcd_server_has_leader 0\n",
		"a.json": etcdPod, "b.json": strings.NewReplacer("cp-1", "cp-10", "10.0.0.1", "10.0.0.10").Replace(etcdPod),
	})
	for pod, want := range map[string]string{"cp-1": "etcd_server_has_leader 1\n", "cp-10": "etcd_server_has_leader 0\n"} {
		if got, _ := ask(t, e, collectors.Scrape, "pod+http://"+pod+"@kube-system/etcd-"+pod+":2381/metrics"); got != want {
			t.Errorf("%s: %q", pod, got)
		}
	}
}

func TestTheFirstLookIsNotThere(t *testing.T) {
	e := evidence(t, map[string]string{"m": etcdBody})
	_, err := e.Fetch(context.Background(), collectors.Request{Verb: collectors.Scrape, URL: "pod+http://kube-system/m:2381/metrics", Sample: collectors.First})
	if g := collectors.AsGap(err, collectors.Bug); g == nil || g.Reason != collectors.NotAsked {
		t.Errorf("%v", err)
	}
}

func TestLeasesOfAnApplicationAreNotThoseOfTheControlPlane(t *testing.T) {
	lease := func(ns, name string) string {
		return "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: " + name + ", namespace: " + ns + "}\nspec: {renewTime: \"2026-01-02T03:04:05.000000Z\"}\n---\n"
	}
	const url = "kube:/apis/coordination.k8s.io/v1/leases?fieldSelector=x"
	e := evidence(t, map[string]string{"l.yaml": lease("app", "a")})
	if _, gap := ask(t, e, collectors.List, url); gap == nil {
		t.Error("they are shown")
	}
	e = evidence(t, map[string]string{"l.yaml": lease("kube-system", "kube-scheduler")})
	if _, gap := ask(t, e, collectors.List, url); gap == nil || !strings.Contains(gap.Detail, "time at which") {
		t.Errorf("the age of a lease cannot be told from itself: %v", gap)
	}
	e = evidence(t, map[string]string{"l.yaml": lease("kube-system", "kube-scheduler") + lease("kube-node-lease", "a") + lease("kube-node-lease", "b")})
	if _, gap := ask(t, e, collectors.List, url); gap != nil {
		t.Error(gap)
	}
}

func TestStatusTablesBecomeReplies(t *testing.T) {
	const table = `
+----------------+------------------+---------+---------+-----------+------------+-----------+------------+--------------------+--------------------------------+
|    ENDPOINT    |        ID        | VERSION | DB SIZE | IS LEADER | IS LEARNER | RAFT TERM | RAFT INDEX | RAFT APPLIED INDEX |             ERRORS             |
+----------------+------------------+---------+---------+-----------+------------+-----------+------------+--------------------+--------------------------------+
| 10.0.0.1:2379  | 8e9e05c52164694d |   3.5.5 |   25 kB |      false |      false |         2 |          5 |                  5 |  memberID:10276657743932975437 |
|                |                  |         |         |           |            |           |            |                    |                 alarm:NOSPACE  |
`
	e := evidence(t, map[string]string{"t.txt": table})
	body, gap := ask(t, e, collectors.Call, "etcd://10.0.0.1:2379/maintenance/status")
	if gap != nil {
		t.Fatal(gap)
	}
	var v struct {
		DBSize int
		Leader uint64
		Errors []string
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	if v.DBSize != 25000 || v.Leader == 0 || len(v.Errors) != 1 || v.Errors[0] != "memberID:10276657743932975437 alarm:NOSPACE" {
		t.Errorf("%s", body)
	}
}

func TestStatusesOfTwoClustersAreNotPutTogether(t *testing.T) {
	e := evidence(t, map[string]string{
		"a.txt": "https://10.0.0.1:2379, a1, 3.2.7, 136 MB, false, 5, 17\nhttps://10.0.0.2:2379, a2, 3.2.7, 136 MB, true, 5, 17\n",
		"b.txt": "https://10.1.0.1:2379, b1, 3.2.7, 136 MB, false, 5, 17\nhttps://10.1.0.2:2379, b2, 3.2.7, 136 MB, true, 5, 17\n",
	})
	if len(e.statuses) != 2 || len(e.Left) != 1 {
		t.Errorf("%d statuses, left %v", len(e.statuses), e.Left)
	}
}

// TestLogsWithoutAYearAreDatedByThoseThatTellIt has a log whose file was written
// long after what it holds.
func TestLogsWithoutAYearAreDatedByThoseThatTellIt(t *testing.T) {
	e := evidence(t, map[string]string{
		"a.log": "I0930 16:26:10.115049       1 stats.go:143] \"Error getting keys\"\n",
		"b.log": "I0828 13:04:25.561465       6 trace.go:116] Trace[1]: \"Reflector ListAndWatch\" (started: 2020-08-28 13:03:46.405986919 +0000 UTC m=+1932.3) (total time: 39s):\n",
	})
	if want := time.Date(2020, 8, 28, 13, 4, 25, 0, time.UTC); !e.At.Truncate(time.Second).Equal(want) {
		t.Errorf("the evidence is from %s, want %s", e.At, want)
	}
	for _, l := range e.logs {
		if y := l.Last.Year(); y > 2020 {
			t.Errorf("%s ends in %d", l.Name, y)
		}
	}
}

func TestAges(t *testing.T) {
	for s, want := range map[string]time.Duration{"73m": 73 * time.Minute, "5d3h": 123 * time.Hour, "2m3s": 123 * time.Second, "10s (x4 over 1h)": 10 * time.Second} {
		if got, ok := parseAge(s); !ok || got != want {
			t.Errorf("%s = %s", s, got)
		}
	}
	for _, s := range []string{"", "<unknown>", "5", "99999999999999999999d", "-1m"} {
		if got, ok := parseAge(s); ok {
			t.Errorf("%q = %s", s, got)
		}
	}
}

func TestBrokenFilesAreNamedAndLeftOut(t *testing.T) {
	deep := strings.Repeat("[", 20000)
	e := evidence(t, map[string]string{
		"good": etcdBody, "cut.json": etcdPod[:200], "deep.json": `{"apiVersion":"v1","kind":"Pod","x":` + deep, "deep.yaml": "apiVersion: v1\nkind: Pod\nx: " + deep,
		"laughs.yaml": "apiVersion: v1\nkind: Pod\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
		"list.json":   `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{}}]}`, "cut.gz": "\x1f\x8b\x08\x00", "html": "<html>", "secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n",
	})
	if len(e.Read) != 1 || len(e.Left) != 8 {
		t.Errorf("read %v, left %v", e.Read, e.Left)
	}
	for _, s := range e.Left {
		if len(s.Why) > 500 || s.Why == "" {
			t.Errorf("%s: %s", s.Name, s.Why)
		}
	}
	if _, err := New(asFiles(map[string]string{"html": "<html>"}), Options{}); err == nil {
		t.Error("nothing was read, and that is no error")
	}
}

// FuzzNew reads any bytes as any two files and asks for all that facts ask.
func FuzzNew(f *testing.F) {
	for _, s := range []string{
		etcdBody, schedBody, etcdPod, "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n",
		"NAMESPACE  NAME  READY  STATUS  RESTARTS  AGE\na          b     0/1    Pending  0         73m\n",
		"+--+\n| ENDPOINT | ID | DB SIZE |\n| a | 1 | 25 kB |\n|  |  | x |\n", "a:1, 1f, 3, 25 kB, true, 1, 2, 3, memberID:1 alarm:NOSPACE\n",
		`[{"Endpoint":"http://a:2379/","Status":{"header":{"member_id":"5"},"version":"3.4.20"}}]`, `{"header":{"cluster_id":1},"members":[{"ID":5,"name":"a","clientURLs":["http://a:2379"]}]}`,
		"[+]etcd ok\nreadyz check passed\n", "Name:  a\nNamespace: b\nNode: <none>\nStatus: Pending\nContainers:\nEvents:\n  Warning  FailedScheduling  38s (x2 over 5m)  default-scheduler  0/1 nodes are available: 1 x.\n",
		"E0815 10:00:28.523612       1 reflector.go:140] Failed to watch *v1.Pod\n", `{"health":"true"}`, `[{"endpoint":"a","health":false,"error":"Active Alarm(s): NOSPACE"}]`, `{"items":[{"metadata":{"name":"x"}}],"kind":"PodList","apiVersion":"v1"}`,
		"LAST SEEN   TYPE      REASON             OBJECT     MESSAGE\n5m          Warning   FailedScheduling   pod/b      0/1 nodes\n",
		"\"MemberID\" : 5\n\"DBSize\" : 1\n\"Endpoint\" : \"a:1\"\n", "8e9e, started, a, http://a:1, http://a:2, true\n", "memberID:5 alarm:NOSPACE\n", "a:1 is unhealthy: x\n",
		"PriorityLevelName, ActiveQueues, WaitingRequests\na, 1, 2\n", "fio-3\n  fsync/x\n sync percentiles (usec):\n 99.00th=[ 99]\n", "Device w_await\nsda 99\n", "$ kubectl get x\n```\n", "PK\x03\x04", "\xff\xfea\x00", "\x28\xb5\x2f\xfd",
		`[{"Endpoint":"a","HashKV":{"header":{"member_id":5,"revision":8},"hash":5,"compact_revision":2,"hash_revision":8}}]`, `{"alarms":[{"memberID":5,"alarm":1}]}`,
		"Name: a\nConditions:\n  Ready  False  Fri, 02 Jan 2026 04:00:00 +0000   Fri, 02 Jan 2026 03:50:00 +0000  x  y\n  Kubelet Version:  v1\n", "process_start_time_seconds 1\nprocess_cpu_seconds_total 2\netcd_server_has_leader 1\n",
	} {
		f.Add([]byte(s), []byte(etcdPod))
		f.Add([]byte(etcdBody), []byte(s))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		e, err := New([]File{Bytes("cp-1/a", time.Unix(1e9, 0), a), Bytes("b.gz", time.Time{}, b)}, Options{})
		if err != nil {
			return
		}
		urls := []string{
			"get kube:/version", "get kube:/readyz?verbose", "scrape kube:/metrics", "get config:/cluster", "get config:/etcd?x", "get log:/signatures", "list " + discovery,
			"list kube:/api/v1/pods", "list kube:/api/v1/nodes", "list kube:/api/v1/events", "list kube:/apis/coordination.k8s.io/v1/leases", "call etcd://x/member/list", "get pod+http://%zz/", "get etcd://a:2379/health",
		}
		for _, i := range e.instances {
			urls = append(urls, "scrape etcd://"+i.addr+"/metrics", "call etcd://"+i.addr+"/maintenance/status", "scrape pod+https://kube-system/"+i.pod.Name+":1/metrics")
		}
		for _, u := range urls {
			verb, url, _ := strings.Cut(u, " ")
			r, err := e.Fetch(context.Background(), collectors.Request{Verb: collectors.Verb(verb), URL: url})
			if err != nil {
				if g := collectors.AsGap(err, collectors.Bug); g.Reason == collectors.Bug && !strings.Contains(url, "%zz") && !strings.Contains(g.Detail, "is no URL") {
					t.Errorf("%s: %v", u, err)
				}
				continue
			}
			if verb == "scrape" {
				metrics.Parse(r.Body, nil)
			} else if _, err := io.ReadAll(r.Body); err != nil {
				t.Errorf("%s: %v", u, err)
			}
			r.Body.Close()
		}
	})
}
