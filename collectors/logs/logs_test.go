package logs

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestEverySignatureKnowsItsExamples(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Signatures {
		if seen[s.ID] || s.ID == "" || s.Healthy == "" || s.Words == "" || s.Means == "" || s.Next == "" || s.NextTitle == "" || len(s.Example) == 0 {
			t.Errorf("%s is there twice, or not whole", s.ID)
		}
		seen[s.ID] = true
		for _, e := range s.Example {
			r := NewReader(string(s.Only) + "/a.log")
			r.Add([]byte(e))
			ids := ""
			for _, h := range r.Log().Hits {
				ids += h.ID + " "
			}
			if !strings.Contains(ids, s.ID+" ") {
				t.Errorf("%s does not find its example, but %q: %s", s.ID, ids, e)
			}
		}
		for _, a := range s.Any {
			if a != strings.ToLower(a) {
				t.Errorf("%s: %q is not in lower case", s.ID, a)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, line string
		kind       Kind
		at, text   string
	}{
		{"klog", `E0815 10:00:28.523612       1 reflector.go:140] x`, Klog, "0000-08-15T10:00:28.523612Z", ""},
		{"klog behind CRI", `2020-09-13T07:32:42.371644764Z stderr F E0913 07:32:42.371112       1 leaderelection.go:320] x`, Klog, "2020-09-13T07:32:42.371644764Z", `E0913 07:32:42.371112       1 leaderelection.go:320] x`},
		{"klog behind journald", `Nov 16 15:01:02 k8s-master1 kube-scheduler: E1116 15:01:02.492690    5299 leaderelection.go:263] x`, Klog, "0000-11-16T15:01:02.49269Z", `E1116 15:01:02.492690    5299 leaderelection.go:263] x`},
		{"klog behind Docker's JSON", `{"log":"E0913 07:32:42.371112       1 a.go:320] x\n","stream":"stderr","time":"2020-09-13T07:32:42.5Z"}`, Klog, "2020-09-13T07:32:42.5Z", `E0913 07:32:42.371112       1 a.go:320] x`},
		{"klog JSON", `{"ts":1700000000000.5,"caller":"a.go:1","msg":"x","v":0}`, Klog, "2023-11-14T22:13:20Z", ""},
		{"zap", `{"level":"warn","ts":"2022-03-13T17:21:30.783-0700","caller":"a.go:1","msg":"x"}`, Zap, "2022-03-14T00:21:30.783Z", ""},
		{"capnslog", `2020-10-20 12:15:20.018100 W | wal: sync duration`, Capnslog, "2020-10-20T12:15:20.0181Z", ""},
		{"what follows a trace", `Trace[967179655]: [1.3s] [1.3s] Listing from storage done`, Other, "", ""},
		{"NULs of a full disk", "\x00\x00E0815 10:00:28.523612       1 a.go:140] x", Klog, "0000-08-15T10:00:28.523612Z", "E0815 10:00:28.523612       1 a.go:140] x"},
		{"an impossible date", `E9999 10:00:28.523612       1 a.go:140] x`, Klog, "", ""},
		{"JSON of something else", `{"a":1}`, Other, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := Parse([]byte(c.line))
			at := ""
			if !l.At.IsZero() {
				at = l.At.UTC().Format(time.RFC3339Nano)
			}
			if c.name == "klog JSON" {
				at = l.At.UTC().Truncate(time.Second).Format(time.RFC3339Nano)
			}
			if l.Kind != c.kind || at != c.at || c.text != "" && l.Text != c.text {
				t.Errorf("Parse = %v at %q %q", l.Kind, at, l.Text)
			}
		})
	}
}

func TestTheYearComesFromTheTextOrFromWhenTheLogWasRead(t *testing.T) {
	ref := time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)
	for line, want := range map[string]string{
		`I1018 02:27:10.465142       1 trace.go:76] Trace[1]: "List /api" (started: 2018-10-18 02:27:07.589957638 +0000 UTC) (total time: 2.8s):`: "2018-10-18",
		`I1231 23:00:00.000000       1 a.go:1] x`: "2023-12-31",
		`I0102 23:00:00.000000       1 a.go:1] x`: "2024-01-02",
	} {
		r := NewReader("x")
		r.Add([]byte(line))
		l := r.Log()
		l.Date(ref)
		if got := l.Last.Format(time.DateOnly); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range Signatures {
		for _, e := range s.Example {
			f.Add([]byte(e))
		}
	}
	f.Add([]byte("{\"log\":\"{\\\"log\\\":\\\"x\\\"}\"}\n2020-01-01T00:00:00Z stdout F \xff\xfe\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader("etcd.log")
		for _, line := range strings.Split(string(b), "\n") {
			r.Add([]byte(line))
		}
		l := r.Log()
		l.Date(time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC))
		for _, h := range l.Hits {
			if h.Count <= 0 || len(h.Sample) > maxSample+len("…")+8 || !utf8.ValidString(h.Sample) || h.Worst < 0 {
				t.Errorf("%+v", h)
			}
		}
	})
}
