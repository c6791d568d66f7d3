package scheduler

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// TestRealBodies reads what real schedulers of six versions served, each with
// one pod that fits nowhere.
func TestRealBodies(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/corpus/metrics/1_*/controlplane/scheduler/metrics")
	if len(files) == 0 {
		t.Skip("there are no captures in ../../../shared/corpus")
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			set, err := metrics.Parse(f, nil)
			if err != nil {
				t.Fatal(err)
			}
			at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			looks := []collectors.Answered{
				{Reply: collectors.Reply{At: at}, Metrics: set},
				{Reply: collectors.Reply{At: at.Add(10 * time.Second)}, Metrics: set},
			}
			q, err := Pending.Read(looks)
			if filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(file)))) == "1_14" {
				if g := collectors.AsGap(err, collectors.Bug); g == nil || g.Reason != collectors.Absent {
					t.Errorf("1.14 has no such metric; got %v", err)
				}
			} else if err != nil || q.Now != (Lengths{Unschedulable: 1}) || q.Before != q.Now {
				t.Errorf("queues %+v, %v", q, err)
			}
			if n, err := Attempts.Read(looks); err != nil || n.Total() != 0 || n.Elapsed != 10*time.Second {
				t.Errorf("attempts %+v, %v", n, err)
			}
			if l, err := AttemptLatency.Read(looks); err != nil || l.Lifetime.Count == 0 || l.Window.Count != 0 {
				t.Errorf("attempt latency %v, %v", l.Lifetime.Count, err)
			}
		})
	}
}
