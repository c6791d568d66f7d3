package etcdview

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/checks"
	etcdchecks "github.com/ktriage/ktriage/checks/etcd"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/etcd"
)

var update = flag.Bool("update", false, "write what is shown into the cases' want sections")

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// cases runs the cases of a folder: what a cluster answers on top of a base,
// and what is shown of it.
func cases(t *testing.T, dir string, show func(collectors.Source, *txtar.Archive) string) {
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			archives := []*txtar.Archive{}
			for line := range strings.SplitSeq(string(a.Comment), "\n") {
				if name, ok := strings.CutPrefix(line, "base: "); ok {
					base, err := txtar.ParseFile("../../checks/checktest/testdata/" + name + ".txtar")
					if err != nil {
						t.Fatal(err)
					}
					archives = append(archives, base)
				}
			}
			got := show(capture.NewScript(now, 10*time.Second, append(archives, a)...), a)
			i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
			if i < 0 {
				a.Files = append(a.Files, txtar.File{Name: "want"})
				i = len(a.Files) - 1
			}
			if *update {
				a.Files[i].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(a.Files[i].Data), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
			for line := range strings.SplitSeq(got, "\n") {
				if n := len([]rune(line)); n > width && !strings.Contains(string(a.Comment), "wide") && !strings.Contains(line, "://") {
					t.Errorf("a line has %d columns: %s", n, line)
				}
				if strings.ContainsAny(line, "\x1b\r\u202e") {
					t.Errorf("a line moves the cursor: %q", line)
				}
			}
		})
	}
}

func collect(src collectors.Source, facts ...collectors.Any) *collectors.Snapshot {
	return collectors.Collect(context.Background(), src, now, 10*time.Second, collectors.Options{}, facts...).Snapshot
}

func TestStatus(t *testing.T) {
	cases(t, "status", func(src collectors.Source, a *txtar.Archive) string {
		deep := strings.Contains(string(a.Comment), "--hash")
		facts := slices.Clone(StatusFacts)
		hash := []*checks.Check{etcdchecks.HashDivergence}
		if deep {
			facts = append(facts, checks.Facts(hash)...)
		}
		s := collect(src, facts...)
		var fs []checks.Finding
		if deep {
			fs = checks.Run(s, hash)
		}
		d := NewStatus(s, "live", deep, fs)
		if !d.Answered() {
			d.AddStore(collect(src, StoreFacts...))
		}
		valid(t, d)
		return d.Text(strings.Contains(string(a.Comment), "-o wide"))
	})
}

func TestPerf(t *testing.T) {
	series := etcd.ReadSeries(2)
	cases(t, "perf", func(src collectors.Source, _ *txtar.Archive) string {
		d := NewPerf(collect(src, PerfFacts(series)...), "live", series, false)
		valid(t, d)
		return d.Text(false)
	})
}

func TestStoreTop(t *testing.T) {
	cases(t, "top", func(src collectors.Source, _ *txtar.Archive) string {
		d := NewStoreTop(collect(src, StoreTopFacts...), "live", collectors.Gapf(collectors.Unreachable, "nobody answers"))
		left := d.Sort("keys", 6)
		valid(t, d)
		return d.Text(false, left)
	})
}

// valid demands that a document is JSON, with lists and not nulls for lists.
func valid(t *testing.T, d any) {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{`"members":null`, `"gaps":null`, `"groups":null`, `"findings":null`} {
		if bytes.Contains(b, []byte(list)) {
			t.Errorf("it has %s", list)
		}
	}
}
