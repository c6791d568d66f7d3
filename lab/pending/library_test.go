package pending

import (
	"flag"
	"fmt"
	"testing"

	"github.com/ktriage/ktriage/internal/fit"
)

var (
	cases = flag.Int("cases", 2000, "how many pods the scheduler as a library judges")
	seed  = flag.Uint64("seed", 1, "the first world")
)

// TestLibrary holds the model against the scheduler as a library.
func TestLibrary(t *testing.T) {
	t.Parallel()
	const perWorld = 50
	var judged, wrong, miscounted, fits int
	for i := uint64(0); judged < *cases; i++ {
		w := NewWorld(*seed+i, fmt.Sprintf("w%d-", *seed+i), Shape{Nodes: 25, Pods: 80, Probes: perWorld})
		l, err := NewLibrary(&w.Cluster)
		if err != nil {
			t.Fatal(err)
		}
		m := fit.New(w.Cluster)
		for _, p := range w.Probes {
			want := l.Judge(p)
			v := m.Judge(p)
			got := m.Message(v)
			judged++
			if want.Fits {
				fits++
			}
			if want.Fits != (v.State == fit.Fits) || want.Error != (v.State == fit.Failing) {
				wrong++
				t.Errorf("seed %d, %s: the scheduler says fits=%v error=%v, ktriage %s\nscheduler: %s\nktriage:   %s", *seed+i, p.Name, want.Fits, want.Error, v.State, want.Message, got)
				continue
			}
			if !want.Fits && want.Message != got {
				miscounted++
				if miscounted < 30 {
					t.Logf("seed %d, %s:\nscheduler: %s\nktriage:   %s", *seed+i, p.Name, want.Message, got)
				}
			}
		}
		l.Close()
	}
	t.Logf("%d pods judged, %d of them fit; %d verdicts differ, %d messages differ", judged, fits, wrong, miscounted)
	if wrong > 0 || miscounted*200 > judged {
		t.Errorf("%d verdicts and %d messages of %d differ", wrong, miscounted, judged)
	}
}

// TestChangesInLibrary applies every change that ktriage proposes, and asks the
// scheduler as a library again.
func TestChangesInLibrary(t *testing.T) {
	kinds := map[fit.ChangeKind]int{}
	var pods, without, tried, failed int
	for i := uint64(0); tried < *cases/2; i++ {
		w := NewWorld(*seed+i, fmt.Sprintf("w%d-", *seed+i), Shape{Nodes: 25, Pods: 80, Probes: 12})
		m := fit.New(w.Cluster)
		for _, p := range w.Probes {
			if m.Judge(p).State != fit.Unschedulable {
				continue
			}
			pods++
			changes := m.Changes(p)
			if len(changes) == 0 {
				without++
				t.Logf("seed %d, %s: no change is proposed: %s", *seed+i, p.Name, m.Message(m.Judge(p)))
			}
			for _, x := range changes {
				tried++
				for _, e := range x.Edits {
					kinds[e.Kind]++
				}
				c, pod, err := Apply(w.Cluster, p, x)
				if err != nil {
					t.Errorf("seed %d, %s: %s: %v", *seed+i, p.Name, x.Summary, err)
					failed++
					continue
				}
				l, err := NewLibrary(&c)
				if err != nil {
					t.Fatal(err)
				}
				if r := l.Judge(pod); !r.Fits {
					failed++
					t.Errorf("seed %d, %s: %s\nbefore: %s\nafter:  %s", *seed+i, p.Name, x.Summary, m.Message(m.Judge(p)), r.Message)
				}
				l.Close()
			}
		}
	}
	t.Logf("%d changes for %d pods tried, %d did not help, %d pods had none; edits by kind: %v", tried, pods, failed, without, kinds)
}
