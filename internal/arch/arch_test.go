// Package arch holds the directions of the code: what judges cannot dial, run a
// program or write to a cluster, and only the live packages know a clock.
package arch

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ktriage/ktriage"

// pure lists the packages from the snapshot to the report.
var pure = []string{"./checks/...", "./collectors", "./collectors/etcd", "./collectors/apiserver", "./collectors/scheduler", "./collectors/controllers",
	"./collectors/leases", "./collectors/pods", "./collectors/nodes", "./collectors/namespaces", "./collectors/webhooks", "./collectors/certificates", "./collectors/cluster", "./collectors/metrics", "./collectors/objects", "./collectors/capture", "./collectors/evidence", "./collectors/logs", "./collectors/host",
	"./internal/diagnose", "./internal/report", "./internal/render/...", "./internal/term", "./internal/diff", "./internal/deliver", "./internal/vitals", "./remediate", "./collectors/keyspace", "./internal/etcdview", "./internal/fit", "./internal/config"}

// forbidden are the ways to the world, none of which a pure package may reach,
// however indirectly. The API types of Kubernetes bring in net/http for a few
// constants, so that what dials is named here rather than net.
var forbidden = []string{"os/exec", "k8s.io/client-go/", "google.golang.org/grpc", "go.etcd.io/etcd/", "github.com/shirou/gopsutil",
	module + "/collectors/live", module + "/remediate/live", module + "/internal/cli"}

// direct are packages that a pure package may not import itself.
var direct = []string{"net/http", "os", "crypto/tls", "syscall", "log"}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func list(t *testing.T, patterns ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps"}, patterns...)...)
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var pkgs []pkg
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWhatJudgesCannotReachTheWorld(t *testing.T) {
	for _, p := range list(t, pure...) {
		if strings.HasSuffix(p.ImportPath, "/checktest") {
			continue // of tests only
		}
		for _, dep := range p.Deps {
			for _, f := range forbidden {
				if dep == strings.TrimSuffix(f, "/") || strings.HasPrefix(dep, f) {
					t.Errorf("%s reaches %s", p.ImportPath, dep)
				}
			}
		}
		for _, imp := range p.Imports {
			for _, d := range direct {
				if imp == d {
					t.Errorf("%s imports %s", p.ImportPath, imp)
				}
			}
		}
	}
}

func TestOnlyTheCommandLineKnowsTheLivePackages(t *testing.T) {
	for _, p := range list(t, "./...") {
		for _, imp := range p.Imports {
			live := (strings.HasSuffix(imp, "/live") || strings.HasSuffix(imp, "/live/machine")) && strings.HasPrefix(imp, module)
			if live && p.ImportPath != module+"/internal/cli" {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// outside are calls that belong to the edges of the program.
var outside = map[string][]string{
	"time": {"Now", "Sleep", "After", "Tick", "NewTicker", "NewTimer", "Since", "Until"},
	"os":   {"Exit"},
	"fmt":  {"Print", "Println", "Printf"},
}

func TestClockExitAndPrintStayAtTheEdges(t *testing.T) {
	dir := root(t)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if rel == "lab" || rel == "cmd" || rel == "internal/cli" || strings.HasSuffix(rel, "/live") || strings.HasPrefix(d.Name(), ".") && rel != "." {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		check(t, rel, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, rel string, file *ast.File) {
	imported := map[string]string{} // local name → path
	for _, imp := range file.Imports {
		p, _ := strconv.Unquote(imp.Path.Value)
		name := filepath.Base(p)
		if imp.Name != nil {
			name = imp.Name.Name
		}
		imported[name] = p
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if fn, ok := n.(*ast.FuncDecl); ok && fn.Name.Name == "init" && fn.Recv == nil {
			t.Errorf("%s has an init function", rel)
		}
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		for _, name := range outside[imported[x.Name]] {
			if sel.Sel.Name == name {
				t.Errorf("%s calls %s.%s", rel, x.Name, name)
			}
		}
		return true
	})
}

func TestTheModuleInstallsWithGoInstall(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "\nreplace ") {
		t.Error("go.mod has a replace line, with which go install refuses the module")
	}
}
