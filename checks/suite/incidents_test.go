package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/evidence"
	"github.com/ktriage/ktriage/internal/diagnose"
)

// An incident is a public one, whose evidence is in testdata/incidents. Its
// EXPECT.md tells what is established, and what there is to say.
type incident struct {
	// Say is what must be told: a check, with the words that its summary or
	// evidence has; the first of them must be the first problem, or advice if
	// it is no more than that.
	say []saying
	// silent are the only checks besides that may say anything bad. All
	// others are certain of something that is not established.
	also []checks.ID
	at   string // when it was collected, where the evidence itself does not tell; nominal
	// not is why ktriage says nothing: what the evidence lacks.
	not string
}

type saying struct {
	check  checks.ID
	status checks.Status
	words  []string
}

var incidents = map[string]incident{
	"01-hostport-single-node":            {say: []saying{{"scheduler-unschedulable-pods", checks.Warning, []string{"free ports", "1 of 1 node", "nri-bundle-nrk8s-controlplane-c4c6dfb5-s9c55"}}}},
	"03-quota-requires-requests":         {not: "no ReplicaSet or Deployment as an object: an excerpt of a description has neither namespace nor message"},
	"05-topology-spread-vs-zonal-pv":     {say: []saying{{"scheduler-unschedulable-pods", checks.Warning, []string{"node affinity/selector", "26 of 34"}}}},
	"07-uninitialized-taint":             {say: []saying{{"ccm-uninitialized-nodes", checks.Warning, []string{"2 of 2 nodes", "1h 34m", "master-1-ext-ccp"}}}},
	"09-scheduler-informer-rbac-stale":   {say: []saying{{"refl-watch", checks.Warning, []string{"not permitted", "pods is forbidden"}}}},
	"12-scheduler-cache-leak":            {say: []saying{{"sched-cache", checks.Warning, []string{"DeletedFinalStateUnknown"}}}},
	"14-scheduling-gates":                {say: []saying{{"scheduler-gated-pods", checks.Info, []string{"gate test", "kueue-sleep-qw5hb"}}}},
	"19-etcd-slow-wal-fsync":             {say: []saying{{"etcd-wal-fsync-slow", checks.Warning, []string{"p99 254 ms", "35752512"}}}},
	"21-etcd-one-slow-member":            {say: []saying{{"etcd-log-slow-fsync", checks.Warning, []string{"sync duration of 1.018100466s"}}, {"etcd-log-slow-apply", checks.Warning, []string{"3 lines", "2.3 s"}}}},
	"23-nospace-alarm-small-db":          {say: []saying{{"etcd-nospace-alarm", checks.Critical, []string{"until the alarm is taken back", "whatever the size is now"}}, {"etcd-log-nospace", checks.Warning, []string{"etcdserver: no space"}}}, also: []checks.ID{"etcd-version-known-bad"}},
	"26-oke-kyverno-ephemeralreports":    {say: []saying{{"apiserver-object-count-high", checks.Warning, []string{"811742", "ephemeralreports.reports.kyverno.io"}}}},
	"29-etcd-write-churn-kyverno-leases": {not: "counts by prefix, made by hand: no tool's output"},
	"31-etcd-revision-divergence":        {say: []saying{{"etcd-revision-divergence", checks.Critical, []string{"413140 apart", "540057523"}}, {"etcd-log-corrupt", checks.Critical, []string{"range failed to find revision pair"}}}},
	"34-etcd-dbsize-divergence":          {say: []saying{{"etcd-db-size-divergence", checks.Warning, []string{"229 MiB", "130 MiB"}}}},
	"36-etcd-peer-rtt":                   {not: "the histogram is of a healthy peer; the 62 ms are told in prose"},
	"38-tiller-configmaps-list":          {say: []saying{{"apiserver-log-slow-trace", checks.Warning, []string{"3 lines", "12 s", "List /api/v1/configmaps"}}}},
	"44-kcm-lease-lost-etcd-slow":        {say: []saying{{"le-retrieve", checks.Warning, []string{"2 lines", "no answer in time"}}}},
	"46-lock-conflict-no-leader":         {say: []saying{{"le-update", checks.Warning, []string{"5 lines", "conflict"}}}},
	"48-kcm-lost-via-loadbalancer":       {say: []saying{{"le-renew-failed", checks.Warning, []string{"no answer in time"}}, {"le-lost", checks.Warning, []string{"leadership that was lost"}}}},
	"50-kcm-lease-watch-400":             {say: []saying{{"apiserver-log-lease-watch", checks.Warning, []string{"3 lines", "400", "/leases?continue="}}}},
	"53-429-storm-kubelets":              {not: "counts made by hand: no tool's output"},
	"55-429-after-etcd-leader-change":    {say: []saying{{"apiserver-log-429", checks.Warning, []string{"429", "resourceVersion=0"}}}},
	"57-gke-private-webhook-firewall":    {say: []saying{{"apiserver-log-webhook-closed", checks.Warning, []string{"no connection in time", "check-ignore-label.gatekeeper.sh", "10.2.0.3:8443"}}}},
	// Two threads in one folder: what is a month older than the rest is history.
	"63-too-large-resource-version":              {say: []saying{{"apiserver-log-too-large-rv", checks.Warning, []string{"750, current: 1", "2020-08-28 13:04:17"}}, {"apiserver-log-size-stats", checks.Info, []string{"4 lines"}}}},
	"67-kubeadm-certs-expired":                   {say: []saying{{"cert-check-expired", checks.Critical, []string{"9 lines", "expired"}}}},
	"70-cert-renewed-process-not-restarted":      {say: []saying{{"apiserver-log-cert", checks.Warning, []string{"2024-09-10T12:29:33Z"}}}},
	"72-namespace-terminating-orphan-apiservice": {at: "2020-05-25T15:07:00Z", say: []saying{{"kcm-namespace-stuck", checks.Warning, []string{"upload.cdi.kubevirt.io/v1alpha1"}}}},
	"74-namespace-foreign-metadata-finalizer":    {at: "2021-01-11T09:00:00Z", say: []saying{{"kcm-namespace-stuck", checks.Warning, []string{"controller.cattle.io/namespace-auth"}}}},
	"76-k3s-sqlite-4.9GB":                        {not: "counts by key of a database that is not etcd: no tool's output"},
}

// TestIncidents judges the evidence of public incidents and prints the score.
func TestIncidents(t *testing.T) {
	dirs, err := filepath.Glob("testdata/incidents/*/SOURCE.txt")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no incidents: %v", err)
	}
	right, silent := 0, 0
	for _, d := range dirs {
		dir := filepath.Dir(d)
		name := filepath.Base(dir)
		want, ok := incidents[name]
		if !ok {
			t.Errorf("%s: nothing is expected of it", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			findings, err := judge(dir, want.at)
			if want.not != "" {
				silent++
				for _, f := range findings {
					if f.Status.Bad() {
						t.Errorf("not expected: %s %s: %s", f.Status, f.Check, f.Summary)
					}
				}
				t.Logf("silent: %s", want.not)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if compare(t, want, findings); !t.Failed() {
				right++
			}
		})
	}
	t.Logf("score: %d of %d say what is established, %d are silent for want of evidence", right, len(dirs), silent)
}

func judge(dir, at string) ([]checks.Finding, error) {
	var when time.Time
	if at != "" {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return nil, err
		}
		when = t
	}
	files, err := evidence.Dir(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	e, err := evidence.New(files, evidence.Options{At: when})
	if err != nil {
		return nil, err
	}
	all := All()
	c := collectors.Collect(context.Background(), e, e.At, 0, collectors.Options{}, checks.Facts(all)...)
	return checks.Run(c.Snapshot, all), nil
}

func compare(t *testing.T, want incident, findings []checks.Finding) {
	t.Helper()
	allowed := slices.Clone(want.also)
	for n, s := range want.say {
		allowed = append(allowed, s.check)
		i := slices.IndexFunc(findings, func(f checks.Finding) bool { return f.Check == s.check && f.Status == s.status })
		if i < 0 {
			t.Errorf("%s says no %s", s.check, s.status)
			continue
		}
		text := findings[i].Summary
		for _, e := range findings[i].Evidence {
			text += "\n" + e.Value
		}
		for _, w := range s.words {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not say %q: %s", s.check, w, text)
			}
		}
		if d := diagnose.Diagnose(findings, diagnose.Links); n == 0 && s.status.Bad() && (len(d.Problems) == 0 || d.Problems[0].Root.Check != s.check) {
			t.Errorf("the first problem is not %s%s", s.check, first(d))
		}
	}
	for _, f := range findings {
		if f.Status.Bad() && !slices.Contains(allowed, f.Check) {
			t.Errorf("more certain than what is established: %s %s %s: %s", f.Status, f.Check, f.Target, f.Summary)
		}
	}
}

func first(d diagnose.Diagnosis) string {
	if len(d.Problems) == 0 {
		return ""
	}
	return fmt.Sprintf(": it is %s", d.Problems[0].Root.Check)
}

// corpus is where captures from real clusters lie, on the machines that have
// them; they are no part of the project.
const corpus = "../../../shared/corpus"

// TestHealthyEvidenceGivesNoAlarm judges whole sets of files of healthy
// clusters. One pod is unschedulable on purpose.
func TestHealthyEvidenceGivesNoAlarm(t *testing.T) {
	dirs, err := filepath.Glob(corpus + "/metrics/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Skipf("there are no captures in %s", corpus)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			findings, err := judge(dir, "")
			if err != nil {
				t.Fatal(err)
			}
			ok := 0
			for _, f := range findings {
				switch {
				case f.Status == checks.OK:
					ok++
				case f.Status.Bad() && !(f.Check == "scheduler-unschedulable-pods" && strings.Contains(f.Summary, "1 pod ")):
					t.Errorf("a false alarm: %s %s %s: %s", f.Status, f.Check, f.Target, f.Summary)
				case f.Gap != nil && f.Gap.Reason == collectors.Bug:
					t.Errorf("a bug: %s %s: %s", f.Check, f.Target, f.Gap.Detail)
				}
			}
			if ok < 20 {
				t.Errorf("only %d verdicts are ok: the files were not used", ok)
			}
		})
	}
}

// TestBundlesGiveNoAlarm judges what other tools collected of clusters that were
// well: their hundreds of events are history.
func TestBundlesGiveNoAlarm(t *testing.T) {
	dirs, _ := filepath.Glob(corpus + "/bundles/*")
	more, _ := filepath.Glob(corpus + "/other/*")
	nested, _ := filepath.Glob(corpus + "/other/*/*results")
	if len(dirs) == 0 {
		t.Skipf("there are no captures in %s", corpus)
	}
	// These hold several clusters, trouble, or a list of names.
	skip := []string{"etcd-io-website", "vmware-tanzu-sonobuoy", "robusta-holmesgpt"}
	for _, dir := range slices.Concat(dirs, more, nested) {
		if slices.Contains(skip, filepath.Base(dir)) {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			findings, err := judge(dir, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range findings {
				switch {
				case f.Status.Bad():
					t.Errorf("a false alarm: %s %s %s: %s", f.Status, f.Check, f.Target, f.Summary)
				case f.Gap != nil && f.Gap.Reason == collectors.Bug:
					t.Errorf("a bug: %s %s: %s", f.Check, f.Target, f.Gap.Detail)
				}
			}
		})
	}
}
