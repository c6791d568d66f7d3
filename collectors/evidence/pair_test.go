package evidence

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// sample is a body of one process, by how much processor time it had taken.
func sample(cpu float64, gc time.Time) string {
	return fmt.Sprintf("etcd_server_has_leader 1\nprocess_start_time_seconds 1.7e+09\nprocess_cpu_seconds_total %g\ngo_memstats_last_gc_time_seconds %.3f\n", cpu, float64(gc.UnixMilli())/1000)
}

func TestTwoSamplesOfOneProcessGiveAWindow(t *testing.T) {
	t0 := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return t0.Add(d) }
	for _, c := range []struct {
		name   string
		files  []File
		o      Options
		window time.Duration
		left   string
	}{
		{"by the files' times", []File{Bytes("z/m", at(10*time.Second), []byte(sample(5, t0))), Bytes("a/m", at(40*time.Second), []byte(sample(6, t0)))}, Options{}, 30 * time.Second, ""},
		{"downloaded together", []File{Bytes("a/m", at(time.Hour), []byte(sample(5, t0))), Bytes("b/m", at(time.Hour), []byte(sample(6, t0)))}, Options{}, 0, "how much earlier is not known"},
		{"downloaded together, and the caller knows", []File{Bytes("a/m", at(time.Hour), []byte(sample(6, t0))), Bytes("b/m", at(time.Hour), []byte(sample(5, t0)))}, Options{Apart: time.Minute}, time.Minute, ""},
		{"an hour apart", []File{Bytes("a/m", at(10*time.Second), []byte(sample(5, t0))), Bytes("b/m", at(time.Hour), []byte(sample(6, at(time.Hour))))}, Options{}, 0, "too long before"},
		{"the same twice", []File{Bytes("a/m", at(10*time.Second), []byte(sample(5, t0))), Bytes("b/m", at(40*time.Second), []byte(sample(5, t0)))}, Options{}, 0, "the same as"},
		{"three", []File{Bytes("a/m", at(10*time.Second), []byte(sample(5, t0))), Bytes("b/m", at(40*time.Second), []byte(sample(6, t0))), Bytes("c/m", at(50*time.Second), []byte(sample(7, t0)))}, Options{}, 40 * time.Second, "one more sample"},
		{"with the time in each line", []File{Bytes("a/m", time.Time{}, []byte(strings.Replace(sample(5, t0), "1.7e+09", "1.7e+09 1767323050000", 1))), Bytes("b/m", time.Time{}, []byte(strings.Replace(sample(6, t0), "1.7e+09", "1.7e+09 1767323070000", 1)))}, Options{}, 20 * time.Second, ""},
		{"another process", []File{Bytes("a/m", at(10*time.Second), []byte(sample(5, t0))), Bytes("b/m", at(40*time.Second), []byte(strings.Replace(sample(6, t0), "1.7e", "1.8e", 1)))}, Options{}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := New(c.files, c.o)
			if err != nil {
				t.Fatal(err)
			}
			left := ""
			for _, s := range e.Left {
				left += s.Why
			}
			if e.Window != c.window || !strings.Contains(left, c.left) || c.left == "" && left != "" {
				t.Errorf("a window of %s, want %s; left %q", e.Window, c.window, left)
			}
			if c.window == 0 {
				return
			}
			url := "pod+http://kube-system/" + e.instances[0].pod.Name + ":2381/metrics"
			var when []time.Time
			for n, s := range []collectors.Sample{collectors.First, collectors.Last} {
				r, err := e.Fetch(context.Background(), collectors.Request{Verb: collectors.Scrape, URL: url, Sample: s})
				if err != nil {
					t.Fatal(err)
				}
				b, _ := io.ReadAll(r.Body)
				when = append(when, r.At)
				if n == 0 && !strings.Contains(string(b), "process_cpu_seconds_total 5") || n == 1 && strings.Contains(string(b), "process_cpu_seconds_total 5") {
					t.Errorf("sample %d is %s", n, b)
				}
			}
			if d := when[1].Sub(when[0]); d != c.window {
				t.Errorf("the samples are %s apart", d)
			}
		})
	}
}

func TestWhatIsPastedIsSeveralOutputs(t *testing.T) {
	e := evidence(t, map[string]string{"ticket.md": "Hi, our etcd is slow:\n\n```\n$ etcdctl endpoint status\nhttps://10.0.0.1:2379, a1, 3.5.7, 136 MB, false, 5, 17\n```\nand the log\n```\n2020-10-20 12:15:20.018100 W | wal: sync duration of 1.018100466s, expected less than 1s\n```\n" +
		"[root@cp-1 ~]# kubectl get nodes\nNAME   STATUS   ROLES    AGE   VERSION\ncp-1   Ready    master   5d    v1.30.0\n"})
	if len(e.statuses) != 1 || len(e.logs) != 1 || len(e.held("v1", "Node")) != 1 || len(e.Left) != 0 {
		t.Errorf("%d statuses, %d logs, %d nodes, left %v", len(e.statuses), len(e.logs), len(e.held("v1", "Node")), e.Left)
	}
}
