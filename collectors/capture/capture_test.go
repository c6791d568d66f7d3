package capture_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/collectors/objects"
	corev1 "k8s.io/api/core/v1"
)

var (
	start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	self  = collectors.Target{Component: collectors.Cluster}
)

const script = `
-- get kube:/version --
cert: 2027-01-02T03:04:05Z CN=kube-apiserver
{"gitVersion":"v1.37.2"}
-- scrape kube:/metrics #first --
process_start_time_seconds 1
# TYPE requests counter
requests{code="200",secret="s3cr3t"} 1
unwanted 1
-- scrape kube:/metrics #last --
process_start_time_seconds 1
# TYPE requests counter
requests{code="200",secret="s3cr3t"} 5
unwanted 1
-- get kube:/readyz?verbose --
gap: forbidden: you may not
-- list kube:/api/v1/pods --
metadata:
  name: a
  annotations: {vault.hashicorp.com/token: s3cr3t}
spec:
  containers: [{name: c, command: [--password=s3cr3t], env: [{name: PASSWORD, value: s3cr3t}]}]
---
metadata: {name: b}
`

func facts() []collectors.Any {
	get := func(id, url string) collectors.Any {
		return &collectors.Fact[string]{ID: id, Targets: collectors.Single(self),
			Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
				return []collectors.Request{{Verb: collectors.Get, URL: url}}
			},
			Read: func(rs []collectors.Answered) (string, error) {
				return string(rs[0].Body) + rs[0].At.String() + rs[0].Elapsed.String() + fmt.Sprint(rs[0].Cert), nil
			}}
	}
	window := collectors.WindowFact("window", "", nil, collectors.Single(self),
		func(*collectors.Snapshot, collectors.Target) []collectors.Request {
			return collectors.Scrapes("kube:/metrics", nil, metrics.Select{Name: "requests", By: []string{"code"}})
		},
		func(w metrics.Window) (string, error) {
			d, ok := w.Delta("requests")
			return fmt.Sprint(d, ok, w.Elapsed(), w.Last.Has("unwanted")), nil
		})
	pods := &collectors.Fact[string]{ID: "pods", Targets: collectors.Single(self),
		Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
			return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/pods"}}
		},
		Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[string] {
			var out string
			return collectors.Folder[string]{
				Add: func(_ int, o objects.Object) {
					p := o.(*corev1.Pod)
					out += fmt.Sprint(p.Name, " ", p.Annotations, p.Spec.Containers, ";")
				},
				Done: func(rs []collectors.Answered) (string, error) { return out + rs[0].Date.String(), nil },
			}
		}}
	return []collectors.Any{get("version", "kube:/version"), get("ready", "kube:/readyz?verbose"), get("never", "kube:/never"), window, pods}
}

func answers(s *collectors.Snapshot) string {
	var b strings.Builder
	for _, f := range facts() {
		v, gap := f.(*collectors.Fact[string]).One(s)
		fmt.Fprintln(&b, f.Name(), v, gap)
	}
	return b.String()
}

func record(t *testing.T, src collectors.Source) (string, []byte) {
	t.Helper()
	var buf bytes.Buffer
	rec := capture.NewRecorder(&buf)
	c := collectors.Collect(context.Background(), src, start, 10*time.Second, collectors.Options{Recorder: rec}, facts()...)
	if err := rec.Close(capture.Meta{Tool: "test", StartedAt: start, WindowSeconds: 10}); err != nil {
		t.Fatal(err)
	}
	return answers(c.Snapshot), buf.Bytes()
}

func TestAReplayAnswersAsTheRunDid(t *testing.T) {
	want, archive := record(t, capture.NewScript(start, 10*time.Second, txtar.Parse([]byte(script))))
	rec, err := capture.Open(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	got, again := record(t, rec)
	// The gap of what was never asked says that of the recording, which is right.
	got = strings.Replace(got, "not asked: the recording does not hold get kube:/never", "not asked: get kube:/never is not in the script", 1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-run +replay:\n%s", diff)
	}
	if !strings.Contains(got, "CN=kube-apiserver") {
		t.Errorf("the certificate was not replayed:\n%s", got)
	}
	if !strings.Contains(got, "window 4 true 10s false") {
		t.Errorf("the window was not replayed:\n%s", got)
	}
	rec, err = capture.Open(bytes.NewReader(again))
	if err != nil {
		t.Fatal(err)
	}
	if twice, _ := record(t, rec); strings.Count(twice, "\n") != strings.Count(want, "\n") {
		t.Errorf("a recording of a replay:\n%s", twice)
	}
}

// A recording is cut to what was wanted when it was made. What a later ktriage
// wants besides may have been served: "absent" would be a guess.
func TestWhatWasNotRecordedIsNotAbsent(t *testing.T) {
	_, archive := record(t, capture.NewScript(start, 10*time.Second, txtar.Parse([]byte(script))))
	rec, err := capture.Open(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name string) *collectors.Gap {
		f := collectors.WindowFact("f", "", nil, collectors.Single(self),
			func(*collectors.Snapshot, collectors.Target) []collectors.Request {
				return collectors.Scrapes("kube:/metrics", nil, metrics.Select{Name: name})
			},
			func(w metrics.Window) (bool, error) {
				if !w.Last.Has(name) {
					return false, collectors.AbsentMetric(name)
				}
				return true, nil
			})
		c := collectors.Collect(context.Background(), rec, start, 10*time.Second, collectors.Options{}, f)
		_, gap := f.One(c.Snapshot)
		return gap
	}
	if gap := ask("requests"); gap != nil {
		t.Errorf("what the recording holds: %v", gap)
	}
	gap := ask("unwanted")
	if gap == nil || gap.Reason != collectors.NotAsked || gap.Detail != "the recording does not hold unwanted" {
		t.Errorf("what it was cut of: %v", gap)
	}
}

func TestNothingConfidentialIsRecorded(t *testing.T) {
	_, archive := record(t, capture.NewScript(start, 10*time.Second, txtar.Parse([]byte(script))))
	gz, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(gz)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "s3cr3t") {
		t.Error("the recording holds a secret")
	}
	if !strings.Contains(string(b), "requests{code=") {
		t.Error("the recording lacks what was wanted")
	}
}

// file is one entry of an archive that a test makes by hand.
type file struct{ name, body string }

func tarball(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.body))}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, f.body)
	}
	w.Close()
	gz.Close()
	return b.Bytes()
}

func TestBrokenRecordingsAreErrors(t *testing.T) {
	_, whole := record(t, capture.NewScript(start, 10*time.Second, txtar.Parse([]byte(script))))
	meta := file{"ktriage.json", `{"formatVersion":1}`}
	for _, tc := range []struct {
		name  string
		bytes []byte
		want  string
	}{
		{"nothing", nil, "not a recording of ktriage: EOF"},
		{"text", []byte("hello"), "not a recording of ktriage"},
		{"broken off", whole[:len(whole)/2], "not a whole recording of ktriage"},
		{"no description", tarball(t, file{"requests/00001.json", `{"verb":"get"}`}), "it ends without ktriage.json"},
		{"a later format", tarball(t, file{"ktriage.json", `{"formatVersion":99}`}), "its format is version 99"},
		{"a foreign file", tarball(t, file{"../../etc/passwd", "root"}, meta), `it holds a file "../../etc/passwd"`},
		{"a body of nothing", tarball(t, file{"requests/00001.body", "x"}, meta), "that no recording has"},
		{"a body of another", tarball(t, file{"requests/00001.json", `{}`}, file{"requests/00002.body", "x"}, meta), "that no recording has"},
		{"a header that is no JSON", tarball(t, file{"requests/00001.json", `<`}, meta), "requests/00001.json: invalid character"},
		{"a huge header", tarball(t, file{"requests/00001.json", strings.Repeat(" ", 2<<20)}, meta), "has 2097152 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rec, err := capture.Open(bytes.NewReader(tc.bytes))
			if rec != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v; want an error with %q", rec, err, tc.want)
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	var buf bytes.Buffer
	rec := capture.NewRecorder(&buf)
	collectors.Collect(context.Background(), capture.NewScript(start, time.Second, txtar.Parse([]byte(script))), start, time.Second, collectors.Options{Recorder: rec}, facts()...)
	if err := rec.Close(capture.Meta{}); err != nil {
		f.Fatal(err)
	}
	gz, _ := gzip.NewReader(&buf)
	plain, _ := io.ReadAll(gz)
	f.Add(plain)
	f.Fuzz(func(t *testing.T, plain []byte) {
		var b bytes.Buffer
		gz := gzip.NewWriter(&b)
		gz.Write(plain)
		gz.Close()
		rec, err := capture.Open(&b)
		if err != nil {
			return
		}
		collectors.Collect(context.Background(), rec, start, time.Second, collectors.Options{}, facts()...)
	})
}

// Recordings of the time when gaps had no kind are judged as they were.
func TestGapsOfOldRecordingsHaveAKind(t *testing.T) {
	for detail, want := range map[string]collectors.Kind{
		"etcd://10.0.0.13:2379/health: no route to it":                                                       collectors.NoRoute,
		"kube:/livez: no connection within 2s: it does not react, or packets to it are dropped":              collectors.NoReaction,
		"pod+https://kube-system/p:10257/x: the kubelet reports: no route to host":                           "",
		"etcd://10.0.0.13:2379/health: connection refused: nothing listens there":                            "",
		"pod+http://kube-system/p:2381/m: no connection: it does not react, or packets to it are dropped; y": collectors.NoReaction,
	} {
		var buf bytes.Buffer
		rec := capture.NewRecorder(&buf)
		q := collectors.Request{Verb: collectors.Get, URL: "kube:/livez"}
		rec.Record(q, 0, nil, nil, collectors.Gapf(collectors.Unreachable, "%s", detail))
		if err := rec.Close(capture.Meta{}); err != nil {
			t.Fatal(err)
		}
		r, err := capture.Open(&buf)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Fetch(context.Background(), q)
		if gap := collectors.AsGap(err, collectors.Bug); gap == nil || gap.Kind != want {
			t.Errorf("%s: %+v, want kind %q", detail, gap, want)
		}
	}
}
