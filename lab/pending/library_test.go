package pending

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/internal/fit"
)

var (
	cases = flag.Int("cases", 2000, "how many pods the scheduler as a library judges")
	seed  = flag.Uint64("seed", 1, "the first world")
)

// library is what came of the tests with the library, for the report.
var library []string

// TestLibrary holds the model against the scheduler as a library.
func TestLibrary(t *testing.T) {
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
	library = append(library, fmt.Sprintf("%d pods judged, %d of them fit: %d verdicts differ, %d messages differ", judged, fits, wrong, miscounted))
	t.Log(library[len(library)-1])
	if wrong > 0 || miscounted*200 > judged {
		t.Errorf("%d verdicts and %d messages of %d differ", wrong, miscounted, judged)
	}
}

// TestChangesInLibrary applies every change that ktriage proposes, and asks the
// scheduler as a library again.
func TestChangesInLibrary(t *testing.T) {
	kinds := map[fit.ChangeKind]int{}
	var pods, without, tried, failed int
	for i := uint64(0); tried < *cases/10; i++ {
		w := NewWorld(*seed+i, fmt.Sprintf("w%d-", *seed+i), Shape{Nodes: 25, Pods: 80, Probes: 12})
		m := fit.New(w.Cluster)
		for _, p := range w.Probes {
			if m.Judge(p).State != fit.Unschedulable {
				continue
			}
			pods++
			ways := m.Ways(p)
			changes := ways.Changes
			if len(changes) == 0 {
				without++
				if ways.None == "" {
					t.Errorf("seed %d, %s: no change is proposed and no reason for it is given", *seed+i, p.Name)
				}
				t.Logf("seed %d, %s: no change is proposed: %s: %s", *seed+i, p.Name, ways.None, m.Message(m.Judge(p)))
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
	library = append(library, fmt.Sprintf("%d changes made for %d pods, all that are proposed: %d did not help; for %d pods no change was found", tried, pods, failed, without))
	t.Log(library[len(library)-1], kinds)
}

// TestPreemptionInLibrary compares whether the scheduler would stop other pods for
// one, and how many, with what ktriage says that it will do by itself.
func TestPreemptionInLibrary(t *testing.T) {
	var pods, preempting, differ int
	for i := uint64(0); pods < *cases/20; i++ {
		w := NewWorld(*seed+i, fmt.Sprintf("w%d-", *seed+i), Shape{Nodes: 20, Pods: 120, Probes: 20})
		l, err := NewLibrary(&w.Cluster, w.Probes...)
		if err != nil {
			t.Fatal(err)
		}
		m := fit.New(w.Cluster)
		for _, p := range w.Probes {
			want := l.Judge(p)
			if want.Fits || want.Error {
				continue
			}
			pods++
			if want.Nominated != "" {
				preempting++
			}
			var mine *fit.Edit
			for _, x := range m.Changes(p) {
				if len(x.Edits) == 1 && x.Edits[0].Self && x.Edits[0].Kind == fit.EvictPods {
					mine = &x.Edits[0]
				}
			}
			switch {
			case (mine != nil) != (want.Nominated != ""):
				differ++
				t.Errorf("seed %d, %s: the scheduler stops pods on %q (%s), ktriage: %v\n%s", *seed+i, p.Name, want.Nominated, want.Preemption, mine, want.Message)
			case mine != nil && !strings.HasSuffix(want.Preemption, fmt.Sprintf("preempting %d victims", len(mine.Pods))):
				differ++
				t.Errorf("seed %d, %s: the scheduler says %s, ktriage stops %v on %s", *seed+i, p.Name, want.Preemption, mine.Pods, mine.Object.Name)
			}
		}
		l.Close()
	}
	library = append(library, fmt.Sprintf("%d pods that fit nowhere: whether the scheduler stops others for them, and how many, is as ktriage says for all but %d; it does for %d", pods, differ, preempting))
	t.Log(library[len(library)-1])
}
