package pendingview_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/internal/pending"
	"github.com/ktriage/ktriage/internal/pendingview"
)

var update = flag.Bool("update", false, "write what comes out into the cases")

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestCases reads what a cluster answers out of each case, and holds what is said
// of it against the file "want". A first line "pod: ns/name" of the comment asks
// about one pod.
func TestCases(t *testing.T) {
	base, err := txtar.ParseFile("testdata/base.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			c, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := tell(t, capture.NewScript(at, 10*time.Second, base, c), string(c.Comment))
			for _, line := range strings.Split(got, "\n") {
				if n := len([]rune(line)); n > 80 && !strings.Contains(line, "kubectl") {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			for i, f := range c.Files {
				if f.Name != "want" {
					continue
				}
				if *update {
					c.Files[i].Data = []byte(got)
					if err := os.WriteFile(file, txtar.Format(c), 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				if diff := cmp.Diff(string(f.Data), got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				return
			}
			t.Error("the case has no file want")
		})
	}
}

func tell(t *testing.T, src collectors.Source, comment string) string {
	t.Helper()
	ctx := t.Context()
	snap := collectors.Collect(ctx, src, at, 0, collectors.Options{}, pending.Facts()...).Snapshot
	waiters, _ := pods.Waiting.One(snap)
	var sched pending.Schedulers
	if pending.Waits(waiters) {
		sched = pending.ReadSchedulers(collectors.Collect(ctx, src, at, 10*time.Second, collectors.Options{}, pending.SchedulerFacts()...).Snapshot)
	}
	id, one := strings.CutPrefix(strings.SplitN(comment, "\n", 2)[0], "pod: ")
	if !one {
		return pendingview.Text(pending.Read(snap, sched, nil, 0))
	}
	table := pending.Read(snap, sched, func(ns, name string, _ map[string]string) bool { return ns+"/"+name == id }, 0)
	ns, name, _ := strings.Cut(id, "/")
	w, ok := waiters.Find(ns, name)
	if !ok || len(table.Groups) == 0 {
		t.Fatalf("no pod %s waits", id)
	}
	return pendingview.One(table, table.Groups[0], w)
}

func TestNothingOfACellReachesTheTerminalUnclean(t *testing.T) {
	c, err := os.ReadFile("testdata/cases/hostile.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(c, []byte("-- want --")); i < 0 || bytes.ContainsRune(c[i:], '\x1b') {
		t.Error("an escape sequence came through")
	}
}
