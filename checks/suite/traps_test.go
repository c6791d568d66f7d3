package suite

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestEveryTrapIsHeld demands of each trap a case that shows it and is judged as
// it should be, or a Go test. Whether the case is judged so is TestCases' of its
// package; a case that no longer says what it is here for is found here.
func TestEveryTrapIsHeld(t *testing.T) {
	for _, trap := range Traps() {
		t.Run(trap.What, func(t *testing.T) {
			because(t, "the trap", trap.What)
			because(t, "what is done of it", trap.How)
			if len(trap.Held)+len(trap.Unread) == 0 {
				t.Error("nothing holds it")
			}
			for _, h := range trap.Held {
				switch {
				case h.Test != "":
					goTest(t, h.Test)
				default:
					verdict(t, h)
				}
			}
			for _, name := range trap.Unread {
				unread(t, name)
			}
		})
	}
}

// verdict demands that the case exists and has a line that says so.
func verdict(t *testing.T, h Held) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "*", "testdata", filepath.FromSlash(h.Case)+".txtar"))
	if err != nil || len(files) != 1 {
		t.Errorf("%d cases are called %s (%v)", len(files), h.Case, err)
		return
	}
	a, err := txtar.ParseFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if f.Name == "want" && slices.ContainsFunc(strings.Split(string(f.Data), "\n"), func(line string) bool { return strings.HasPrefix(line, h.Says+": ") }) {
			return
		}
	}
	t.Errorf("no verdict of %s is %q", h.Case, h.Says)
}

// goTest demands that a package, by its folder, has the test.
func goTest(t *testing.T, name string) {
	t.Helper()
	pkg, test, _ := strings.Cut(name, " ")
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "\nfunc "+test+"(") {
			return
		}
	}
	t.Errorf("%s has no test %s", pkg, test)
}

// unread demands that no fact has the name in its code.
func unread(t *testing.T, name string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", "..", "collectors"), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		b, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(b), name) {
			t.Errorf("%s reads %s", file, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
