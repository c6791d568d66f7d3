package deliver

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	openreports "github.com/openreports/reports-api/apis/openreports.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

func TestNews(t *testing.T) {
	fsync, latency := "etcd-wal-fsync-slow etcd/cp-1 ", "apiserver-etcd-latency apiserver/cp-1 "
	for _, tc := range []struct {
		name         string
		before, now  []string
		want         string
		changed      bool
		gone, unseen int
	}{
		{"what was told before is none", []string{fsync + "warning"}, []string{fsync + "warning"}, "", false, 0, 0},
		{"what was well", []string{fsync + "ok"}, []string{fsync + "warning"}, "new etcd-wal-fsync-slow", true, 0, 0},
		{"what is worse", []string{fsync + "warning"}, []string{fsync + "critical"}, "worse etcd-wal-fsync-slow", true, 0, 0},
		{"what is better is told to nobody", []string{fsync + "critical"}, []string{fsync + "warning"}, "", false, 0, 0},
		{"what could not be judged may be older", []string{fsync + "unknown"}, []string{fsync + "warning"}, "new etcd-wal-fsync-slow?", true, 0, 0},
		{"a symptom whose cause is not seen any more", []string{fsync + "critical", latency + "warning"}, []string{latency + "warning"}, "", true, 0, 1},
		{"gone", []string{fsync + "critical"}, []string{fsync + "ok"}, "", true, 1, 0},
		{"out of sight", []string{fsync + "critical"}, []string{fsync + "unknown"}, "", true, 0, 1},
	} {
		before, now := reporttest.Made(tc.before...), reporttest.Made(tc.now...)
		var got []string
		for _, n := range Of(now, before) {
			s := string(n.Kind) + " " + string(n.Check)
			if n.Unsure {
				s += "?"
			}
			got = append(got, s)
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
		p := ForWebhook(now, before)
		if p.Changed() != tc.changed || len(p.Gone) != tc.gone || len(p.Unseen) != tc.unseen {
			t.Errorf("%s: changed %t, gone %v, unseen %v", tc.name, p.Changed(), p.Gone, p.Unseen)
		}
	}
	if n := Of(reporttest.Made(fsync+"warning"), nil); len(n) != 1 || !ForWebhook(reporttest.Made(fsync+"ok"), nil).Changed() {
		t.Errorf("of the first run all is news, got %v", n)
	}
}

func TestEvents(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := reporttest.Hostile()
	for range 30 {
		r.Problems = append(r.Problems, r.Problems[0])
	}
	r.Problems[0].Summary = strings.Repeat("日本", 2000)
	es := Events(Of(r, nil), now)
	if len(es) != MaxEvents || !strings.Contains(es[MaxEvents-1].Message, "that are new have no Event") {
		t.Fatalf("%d events, the last says %s", len(es), es[len(es)-1].Message)
	}
	for _, e := range es {
		if len(e.Message) > 1024 || strings.ContainsAny(e.Message, "\x1b\n\x00") || e.Namespace != e.InvolvedObject.Namespace || e.GenerateName == "" {
			t.Errorf("the API server would refuse it, or a terminal would obey it: %d bytes: %q", len(e.Message), e.Message)
		}
		if !strings.Contains(e.Message, "ktriage explain") {
			t.Errorf("it does not say what to do: %s", e.Message)
		}
	}
}

func TestAConfigMapHoldsTheReport(t *testing.T) {
	r := reporttest.Sample()
	m, err := ConfigMap(nil, "monitoring", "report", r)
	if err != nil {
		t.Fatal(err)
	}
	m.ResourceVersion = "7"
	m.Annotations = map[string]string{"mine": "stays"}
	kept, err := Kept(m)
	if err != nil || len(kept.Findings) != len(r.Findings) || m.Data["status"] != "critical" || !strings.Contains(m.Data["report.txt"], "log syncs") {
		t.Errorf("kept %v %v, status %s", kept, err, m.Data["status"])
	}
	next, err := ConfigMap(m, "monitoring", "report", r)
	if err != nil || next.ResourceVersion != "7" || next.Annotations["mine"] != "stays" {
		t.Errorf("%+v %v", next, err)
	}
	if !Older(nil, r) || !Older(r, r) || Older(&report.Report{StartedAt: r.StartedAt.Add(1)}, r) {
		t.Error("the later report does not stay")
	}
	for name, bad := range map[string]*corev1.ConfigMap{
		"not packed": {ObjectMeta: metav1.ObjectMeta{Labels: m.Labels}, BinaryData: map[string][]byte{reportKey: []byte("x")}},
		"no report":  {ObjectMeta: metav1.ObjectMeta{Labels: m.Labels}, BinaryData: map[string][]byte{reportKey: {0x1f, 0x8b}}},
		"cut off":    {ObjectMeta: metav1.ObjectMeta{Labels: m.Labels}, BinaryData: map[string][]byte{reportKey: m.BinaryData[reportKey][:100]}},
		"not by us":  {BinaryData: m.BinaryData},
	} {
		if _, err := Kept(bad); err == nil || errors.Is(err, ErrForeign) != (name == "not by us") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if kept, err := Kept(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: m.Labels}}); kept != nil || err != nil {
		t.Errorf("an empty one: %v %v", kept, err)
	}
}

// crd reads the custom resource definition that comes with the API's module.
func crd(t *testing.T) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/openreports/reports-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "config", "crd", "openreports.io_clusterreports.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Spec struct {
			Group    string
			Names    struct{ Kind, Plural string }
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	api := ReportAPIs[0]
	if d.Spec.Group != api.Group || d.Spec.Names.Kind != api.Kind || d.Spec.Names.Plural != api.Resource || d.Spec.Versions[0].Name != api.Version {
		t.Errorf("the API is %+v, want %+v", d.Spec, api)
	}
	s := d.Spec.Versions[0].Schema.OpenAPIV3Schema
	closed(s)
	out, err = json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// closed makes a schema refuse fields that it does not name, which the API server
// would drop without a word.
func closed(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok && v["additionalProperties"] == nil && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, x := range v {
			closed(x)
		}
	case []any:
		for _, x := range v {
			closed(x)
		}
	}
}

func TestOpenReportsKeepsToItsDefinition(t *testing.T) {
	schema := crd(t)
	for name, r := range map[string]*report.Report{"sample": reporttest.Sample(), "hostile": reporttest.Hostile(), "empty": reporttest.Made()} {
		b, err := json.Marshal(ForReports(ReportAPIs[0], r))
		if err != nil {
			t.Fatal(err)
		}
		if err := reporttest.Validate(schema, b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		var typed openreports.ClusterReport
		if err := d.Decode(&typed); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if typed.Summary.Fail != r.Totals.Critical || typed.Summary.Error != r.Totals.Unknown || len(typed.Results) != len(r.Findings) {
			t.Errorf("%s: %+v of %+v", name, typed.Summary, r.Totals)
		}
	}
	x := ForReports(ReportAPIs[0], reporttest.Sample())
	x.Results[0].Result = "green"
	b, _ := json.Marshal(x)
	if err := reporttest.Validate(schema, b); err == nil {
		t.Error("the definition judges nothing")
	}
}

func TestALargeReportIsBounded(t *testing.T) {
	r := reporttest.Sample()
	for range 5000 {
		f := r.Findings[4]
		f.Summary = strings.Repeat("x", 2000)
		r.Findings = append(r.Findings, f)
	}
	b, err := json.Marshal(ForReports(ReportAPIs[1], r))
	if err != nil || len(b) > 1<<20 {
		t.Errorf("it takes %d bytes: %v", len(b), err)
	}
	if x := ForReports(ReportAPIs[1], r); x.Results[0].Severity != "critical" || x.Summary["pass"] < 5000 || x.Source != "" {
		t.Errorf("first %+v, summary %v", x.Results[0], x.Summary)
	}
}
