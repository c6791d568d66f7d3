package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/vitals"
)

var update = flag.Bool("update", false, "write what is rendered into testdata")

func target(s string) collectors.Target {
	c, name, _ := strings.Cut(s, "/")
	return collectors.Target{Component: collectors.Component(c), Name: name, Node: name}
}

// sample is a report of every kind of trouble. Its findings are made up; what
// is tried is how they are told.
func sample() *Report {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	fsync := &checks.Check{ID: "etcd-wal-fsync-slow", Component: collectors.Etcd, Remedies: []checks.Remedy{
		{Title: "see who else writes to the disk of {node}", Command: "ssh {node} iostat -x 1 5", Risk: checks.ReadOnly},
		{Title: "put etcd before others", Command: "ionice -c2 -n0 -p $(pgrep -x etcd)", Risk: checks.Safe},
	}}
	other := func(id checks.ID, c collectors.Component) *checks.Check { return &checks.Check{ID: id, Component: c} }
	none := &collectors.Gap{Reason: collectors.Forbidden, Detail: "user \"ops\" may not get /metrics", Remedy: "kubectl create clusterrole ktriage-metrics --verb=get --non-resource-url=/metrics"}
	r := Run{
		Version: "v1.2.3", Source: "live", Duration: 11230 * time.Millisecond, Cost: collectors.Cost{Requests: 42, Bytes: 1 << 20, PeakInFlight: 8},
		Snapshot: &collectors.Snapshot{At: at, Window: 10 * time.Second},
		Checks:   []*checks.Check{fsync, other("etcd-backend-commit-slow", collectors.Etcd), other("apiserver-etcd-latency", collectors.APIServer), other("apiserver-write-latency-slo", collectors.APIServer), other("scheduler-unschedulable-pods", collectors.Scheduler), other("etcd-db-quota-usage", collectors.Etcd), other("apf-requests-rejected", collectors.APIServer)},
		Findings: []checks.Finding{
			{Check: "apf-requests-rejected", Target: target("apiserver/cp-1"), Status: checks.Unknown, Summary: none.Detail, Gap: none},
			{Check: "apiserver-etcd-latency", Target: target("apiserver/cp-1"), Status: checks.Critical, Summary: "calls to etcd: p99 6.2 s, 31 of 44 above 5 s"},
			{Check: "apiserver-write-latency-slo", Target: target("apiserver/cp-1"), Status: checks.Critical, Summary: "writes: p99 6.4 s, 30 of 40 above 1 s"},
			{Check: "etcd-backend-commit-slow", Target: target("etcd/cp-1"), Status: checks.Warning, Summary: "commits: p99 1.4 s, 12 of 12 above 256 ms"},
			{Check: "etcd-db-quota-usage", Target: target("etcd/cp-1"), Status: checks.OK, Summary: "database fills 2.4% of its 2.0 GiB quota"},
			{Check: "etcd-db-quota-usage", Target: target("etcd/cp-2"), Status: checks.Info, Summary: "database fills 66% of its 2.0 GiB quota"},
			{Check: "etcd-wal-fsync-slow", Target: target("etcd/cp-1"), Status: checks.Critical, Summary: "log syncs: p99 2 s, 14 of 14 above 1 s; it is the leader", Marks: []string{"leader", "write-path"},
				Evidence: []checks.Evidence{{Fact: "etcd.wal-fsync", Target: target("etcd/cp-1"), Field: "p99", Value: "2 s", Limit: "1 s", Source: "etcd-mixin"}, {Fact: "etcd.wal-fsync", Field: "observations", Value: "14"}}},
			{Check: "etcd-wal-fsync-slow", Target: target("etcd/cp-2"), Status: checks.Warning, Summary: "log syncs: p99 800 ms, 13 of 13 above 512 ms", Marks: []string{"write-path"}},
			{Check: "scheduler-unschedulable-pods", Target: target("pods"), Status: checks.Warning, Summary: "900 pods cannot be placed: 900 Insufficient cpu, for example shop/web-\x1b[31m1"},
		},
		Vitals: []vitals.Vital{
			{Component: collectors.Etcd, Target: target("etcd/cp-1"), Name: "fsync p99", Value: 2.048, Unit: "s", Basis: checks.OverWindow, AtLeast: true},
			{Component: collectors.Etcd, Target: target("etcd/cp-2"), Name: "fsync p99", Value: 0.8, Unit: "s", Basis: checks.OverLifetime},
			{Component: collectors.Etcd, Target: target("etcd/cp-1"), Name: "db size", Value: 5e7, Unit: "B", Basis: checks.AtInstant},
			{Component: collectors.Leases, Target: target("leases/kube-system/kube-scheduler"), Name: "renewed", Value: 1, Unit: "s", Basis: checks.AtInstant, Text: "cp-2"},
		},
	}
	return New(r)
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func render(t *testing.T, format string, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, format, sample(), o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestText(t *testing.T) {
	golden(t, "report.txt", render(t, "text", Options{}))
	golden(t, "verbose.txt", render(t, "text", Options{Verbose: true, Advice: true}))
	golden(t, "color.txt", render(t, "text", Options{Color: true}))
}

func TestTextFitsAndIsSafe(t *testing.T) {
	for line := range strings.SplitSeq(string(render(t, "text", Options{})), "\n") {
		// A command is one line, to be copied whole.
		if columns(line) > 80 && !strings.Contains(line, "$ ") {
			t.Errorf("%d columns: %s", columns(line), line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' }) {
			t.Errorf("a control character reached the terminal: %q", line)
		}
	}
}

func TestColorIsNeverTheOnlyCarrier(t *testing.T) {
	plain := string(render(t, "text", Options{}))
	colored := string(render(t, "text", Options{Color: true}))
	var b strings.Builder
	escape := false
	for _, r := range colored {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			b.WriteRune(r)
		}
	}
	if diff := cmp.Diff(plain, b.String()); diff != "" {
		t.Errorf("-plain +colored without codes:\n%s", diff)
	}
}

func TestJSONIsTheContract(t *testing.T) {
	b := render(t, "json", Options{})
	golden(t, "report.json", b)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var again Report
	if err := d.Decode(&again); err != nil {
		t.Fatal(err)
	}
	var one, two bytes.Buffer
	if err := Text(&one, sample(), Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if err := Text(&two, &again, Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one.String(), two.String()); diff != "" {
		t.Errorf("a saved report renders otherwise (-report +saved):\n%s", diff)
	}
}

func TestYAMLIsTheSameDocument(t *testing.T) {
	j, err := yaml.YAMLToJSON(render(t, "yaml", Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(j, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(render(t, "json", Options{}), &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, a); diff != "" {
		t.Errorf("-json +yaml:\n%s", diff)
	}
}

func TestAnEmptyRunIsNotGreen(t *testing.T) {
	r := New(Run{Snapshot: &collectors.Snapshot{}})
	if r.Status != checks.Unknown || r.Cluster.Mode != "nothing" {
		t.Errorf("status %s, mode %s", r.Status, r.Cluster.Mode)
	}
}

func TestAnExplainedGapIsNoWorseThanItsCause(t *testing.T) {
	gap := &collectors.Gap{Reason: collectors.Unreachable, Detail: "refused"}
	down := checks.Finding{Check: "etcd-member-unreachable", Target: target("etcd/cp-3"), Status: checks.Warning, Summary: "is down"}
	its := checks.Finding{Check: "etcd-db-quota-usage", Target: target("etcd/cp-3"), Status: checks.Unknown, Gap: gap}
	another := checks.Finding{Check: "etcd-db-quota-usage", Target: target("etcd/cp-2"), Status: checks.Unknown, Gap: gap}
	for _, tc := range []struct {
		findings []checks.Finding
		want     checks.Status
	}{
		{[]checks.Finding{down, its}, checks.Warning},
		{[]checks.Finding{down, its, another}, checks.Unknown},
		{[]checks.Finding{its}, checks.Unknown},
	} {
		if got := New(Run{Snapshot: &collectors.Snapshot{}, Findings: tc.findings}).Status; got != tc.want {
			t.Errorf("status %s, want %s", got, tc.want)
		}
	}
}

func TestCommandsAreSafeToPaste(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"cp-1", "describe cp-1"},
		{"$(reboot)", "describe '$(reboot)'"},
		{"a'b;c", `describe 'a'\''b;c'`},
	} {
		if got := expand("describe {name}", collectors.Target{Name: tc.name}); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

func TestClean(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"plain ünïcode", "plain ünïcode"},
		{"\x1b[2J\x07", `\u001b[2J\u0007`},
		{"a\u202eb", `a\u202eb`}, // turns the reading direction
		{"two\nlines", `two\u000alines`},
	} {
		if got := clean(tc.in); got != tc.want {
			t.Errorf("clean(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}
