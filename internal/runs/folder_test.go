package runs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

var began = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// run is a report of a run so many hours later.
func run(hours int) *report.Report {
	r := reporttest.Sample()
	r.StartedAt = began.Add(time.Duration(hours) * time.Hour)
	return r
}

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func add(t *testing.T, f *Folder, r *report.Report, keep int) {
	t.Helper()
	if _, err := f.Add(r, keep, time.Now()); err != nil {
		t.Fatal(err)
	}
}

// files lists all files, hidden ones too.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func content(t *testing.T, elem ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheOldestRunsGo(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	mine := filepath.Join(dir, "runs", "20200101.json")
	if err := os.WriteFile(mine, []byte("not a run's name"), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		add(t, f, run(i), 3)
	}
	var want []string
	for _, name := range []string{"20260102T050000.000Z", "20260102T060000.000Z", "20260102T070000.000Z"} {
		for _, ext := range []string{"html", "json", "prom"} {
			want = append(want, "runs/"+name+"."+ext)
		}
	}
	want = append([]string{"index.html", "latest.html", "latest.json", "latest.prom", "runs/20200101.json"}, want...)
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if content(t, dir, "latest.json") != content(t, dir, "runs", "20260102T070000.000Z.json") {
		t.Error("the latest is another")
	}
	// A run that began earlier and ends later is not the latest.
	add(t, f, run(3), 10)
	if r, _, err := f.Latest(); err != nil || !r.StartedAt.Equal(began.Add(4*time.Hour)) || !strings.Contains(content(t, dir, "latest.json"), "2026-01-02T07:00:00Z") {
		t.Errorf("the latest is of %v: %v", r.StartedAt, err)
	}
}

// TestRunsAtTheSameTime adds many runs of one moment at once, each as a process
// of its own would. None is lost, and the page tells all.
func TestRunsAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	const n = 8
	var wg sync.WaitGroup
	for range n {
		f := open(t, dir)
		wg.Go(func() {
			if _, err := f.Add(run(0), 100, time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	names, err := open(t, dir).list()
	if err != nil || len(names) != n {
		t.Errorf("%d runs, want %d: %q %v", len(names), n, names, err)
	}
	page := content(t, dir, "index.html")
	for _, name := range names {
		if !strings.Contains(page, `href="runs/`+name+`.html"`) {
			t.Errorf("the page does not tell %s", name)
		}
	}
	for _, name := range files(t, dir) {
		if strings.Contains(name, unfinished) {
			t.Errorf("%s was left", name)
		}
	}
}

// TestRetentionAtTheSameTime: two that take away the same runs do not hurt each
// other.
func TestRetentionAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		f := open(t, dir)
		wg.Go(func() {
			if _, err := f.Add(run(i), 2, time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f := open(t, dir)
	add(t, f, run(9), 2)
	if names, err := f.list(); err != nil || len(names) != 2 {
		t.Errorf("%q %v", names, err)
	}
}

// TestAKilledRunLeavesNothingThatIsRead: what was being written is no run, is
// left alone while it may still be, and goes later.
func TestAKilledRunLeavesNothingThatIsRead(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	add(t, f, run(0), 10)
	before := content(t, dir, "latest.json")
	left := []string{"runs/.ktriage-20260102T040000.000Z", "runs/.ktriage-20260102T040000.000Z.json-17", "runs/20260102T040000.000Z.html", ".ktriage-latest.json-17"}
	for _, name := range left {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(`{"half`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r, skipped, err := f.Latest(); err != nil || len(skipped) > 0 || !r.StartedAt.Equal(began) || content(t, dir, "latest.json") != before {
		t.Errorf("%v %v %v", r, skipped, err)
	}
	add(t, f, run(2), 10)
	if got := files(t, dir); !slices.Contains(got, left[1]) {
		t.Errorf("%s may still be written, and is gone: %q", left[1], got)
	}
	if _, err := f.Add(run(3), 10, time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, name := range files(t, dir) {
		if slices.Contains(left, name) {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestARunThatCannotBeReadIsTold(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	add(t, f, run(0), 10)
	add(t, f, run(1), 10)
	if err := os.WriteFile(filepath.Join(dir, "runs", "20260102T040000.000Z.json"), []byte(`{"schemaVersion":"9","findings":[]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	r, skipped, err := f.Latest()
	if err != nil || !r.StartedAt.Equal(began) || len(skipped) != 1 {
		t.Errorf("%v %v %v", r, skipped, err)
	}
	add(t, f, run(2), 10)
	if page := content(t, dir, "index.html"); !strings.Contains(page, "cannot be read: read report: its schemaVersion is &#34;9&#34;") {
		t.Error("the page does not tell it")
	}
}

func TestThePageTellsWhatIsNewAndWhatIsGone(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	well := run(0)
	for i := range well.Findings {
		well.Findings[i].Status = checks.OK
	}
	well.Problems, well.Status = nil, checks.OK
	add(t, f, well, 10)
	add(t, f, run(1), 10)
	add(t, f, run(2), 10)
	add(t, f, run(3), 10)
	page := content(t, dir, "index.html")
	for _, want := range []string{
		`in 3 runs since 2026-01-02 04:00:00 UTC`,
		`<b class="kind new">new</b> <span class="target">etcd/cp-1</span> CRITICAL: log syncs`,
		`and the 2 runs from 2026-01-02 05:00:00 UTC to it say nothing new`,
		"over 4 runs", "fsync p99 over 4 runs, at most 2 s", `class="strip"`,
	} {
		if !strings.Contains(strings.ToLower(page), strings.ToLower(want)) {
			t.Errorf("the page has not: %s", want)
		}
	}
	gone := run(4)
	gone.Findings, gone.Problems, gone.Status = well.Findings, nil, checks.OK
	add(t, f, gone, 10)
	if page := content(t, dir, "index.html"); !strings.Contains(page, `<b class="kind gone">gone</b> <span class="target">etcd/cp-1</span>`) || strings.Contains(page, "Problems now") {
		t.Error("the page does not tell what is gone")
	}
}

func TestWhatCannotBeWrittenLeavesWhatWas(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	add(t, f, run(0), 10)
	before := files(t, dir)
	broken := errors.New("broken")
	if err := f.write("latest.json", func(w io.Writer) error { _, _ = fmt.Fprint(w, "half"); return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if got := files(t, dir); !slices.Equal(got, before) || content(t, dir, "latest.json") == "half" {
		t.Errorf("got %q", got)
	}
}

func TestTheOrderOfRuns(t *testing.T) {
	want := []string{"20260102T030000.000Z", "20260102T030000.000Z-2", "20260102T030000.000Z-10", "20260102T030000.001Z"}
	got := []string{want[2], want[3], want[1], want[0]}
	slices.SortFunc(got, order)
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
