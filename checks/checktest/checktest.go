// Package checktest runs a check's cases: txtar scripts of what a cluster
// answers, each with the verdicts it must get.
package checktest

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
)

//go:embed testdata/*.txtar
var bases embed.FS

var update = flag.Bool("update", false, "write what the checks say into the cases' want sections")

// Now is when every case's snapshot was taken, and Window how long it watched.
var Now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Window is the time between the two looks of a case.
const Window = 10 * time.Second

// Dir is where the cases of a check are, below the folder of its package:
// testdata/ and the check's ID.
func Dir(pkg string, c *checks.Check) string { return filepath.Join(pkg, "testdata", string(c.ID)) }

// Run runs all cases of a check of the package in folder pkg, and demands
// that among them are one that is ok, one that is not, and one that is unknown.
//
// A case is a txtar archive: a comment that says what it shows, a line "base:
// NAME" in the comment if it starts from a script in checktest's testdata, the
// replies (see capture.Script), and a file named want with a line a finding:
//
//	critical etcd/cp-1: database fills 98% of its 2.0 GiB quota
//	unknown etcd/cp-2: forbidden: may not get /metrics
func Run(t *testing.T, pkg string, c *checks.Check) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Dir(pkg, c), "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var srcs []collectors.Source
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			for _, line := range one(t, file, c, &srcs) {
				status, _, _ := strings.Cut(line, " ")
				seen[status] = true
			}
		})
	}
	if !seen["ok"] || !seen["unknown"] || !seen["info"] && !seen["warning"] && !seen["critical"] {
		t.Errorf("%s: its cases in %s must show ok, unknown and trouble; they show %v", c.ID, Dir(pkg, c), seen)
	}
	moves(t, c, srcs)
}

func one(t *testing.T, file string, c *checks.Check, srcs *[]collectors.Source) []string {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	archives := []*txtar.Archive{}
	for line := range strings.SplitSeq(string(a.Comment), "\n") {
		if name, ok := strings.CutPrefix(line, "base: "); ok {
			b, err := bases.ReadFile("testdata/" + strings.TrimSpace(name) + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			archives = append(archives, txtar.Parse(b))
		}
	}
	archives = append(archives, a)
	for n, x := range archives {
		if archives[n], err = expand(x); err != nil {
			t.Fatal(err)
		}
	}
	src := capture.NewScript(Now, Window, archives...)
	*srcs = append(*srcs, src)
	sourced(t, src, c)
	got := Judge(src, c)
	i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
	if i < 0 {
		a.Files = append(a.Files, txtar.File{Name: "want"})
		i = len(a.Files) - 1
	}
	text := strings.Join(got, "\n") + "\n"
	if *update {
		a.Files[i].Data = []byte(text)
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(a.Files[i].Data), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
	return got
}

// moves demands of each threshold that moving it, far enough, moves the verdict of
// one of the cases, and that the verdict then says where the limit comes from.
func moves(t *testing.T, c *checks.Check, srcs []collectors.Source) {
	t.Helper()
	if len(c.Thresholds) == 0 {
		return
	}
	cs := []*checks.Check{c}
	var snaps []*collectors.Snapshot
	for _, src := range srcs {
		snaps = append(snaps, collectors.Collect(context.Background(), src, Now, Window, collectors.Options{}, checks.Facts(cs)...).Snapshot)
	}
	for _, x := range c.Thresholds {
		moved, said := false, false
		for _, to := range []float64{x.Default / 1e6, x.Default / 2, x.Default * 2, x.Default * 1e6} {
			tuning := checks.Tuning{c.ID: {x.Name: checks.Moved{Value: to, From: "moved"}}}
			for _, s := range snaps {
				before := checks.Run(s, cs)
				for i, f := range checks.RunWith(s, cs, tuning) {
					moved = moved || i >= len(before) || f.Status != before[i].Status
					said = said || slices.ContainsFunc(f.Evidence, func(e checks.Evidence) bool { return e.Source == "moved" })
				}
			}
		}
		if !moved {
			t.Errorf("%s: moving its threshold %s changes no verdict of its cases", c.ID, x.Name)
		}
		if !said {
			t.Errorf("%s: where its threshold %s is moved, no evidence says so", c.ID, x.Name)
		}
	}
}

// experience is how a limit's source says that it is nobody's but ours.
var experience = regexp.MustCompile(`(?i)\b(heuristics?|experience|no\s+public\s+source)\b`)

// sourced demands that no finding is critical by a limit alone that has no public
// source, and that a check's page says of such limits that they have none.
func sourced(t *testing.T, src collectors.Source, c *checks.Check) {
	t.Helper()
	// Elsewhere such limits stand beside facts that need none: a certificate that
	// has expired, whatever the limit before it.
	if c.Component != collectors.Etcd && c.Component != collectors.APIServer {
		return
	}
	cs := []*checks.Check{c}
	for _, f := range checks.Run(collectors.Collect(context.Background(), src, Now, Window, collectors.Options{}, checks.Facts(cs)...).Snapshot, cs) {
		own, public := 0, 0
		for _, e := range f.Evidence {
			switch {
			case e.Source == "":
			case experience.MatchString(e.Source):
				own++
			default:
				public++
			}
		}
		if f.Status == checks.Critical && own > 0 && public == 0 {
			t.Errorf("%s is critical by our experience alone: %s", f.Target, f.Summary)
		}
		if own > 0 && !experience.MatchString(c.Doc) {
			t.Errorf("the page of %s does not say that a limit of it is by experience", c.ID)
			return
		}
	}
}

// Judge collects from the source what the checks need and returns a line a
// finding.
func Judge(src collectors.Source, cs ...*checks.Check) []string {
	c := collectors.Collect(context.Background(), src, Now, Window, collectors.Options{}, checks.Facts(cs)...)
	var out []string
	for _, f := range checks.Run(c.Snapshot, cs) {
		line := fmt.Sprintf("%s %s: ", f.Status, f.Target)
		if f.Status == checks.Unknown {
			line += string(f.Gap.Reason) + ": "
		}
		out = append(out, line+f.Summary)
	}
	return out
}
