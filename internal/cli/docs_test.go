package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocsAreUpToDate(t *testing.T) {
	want := generated()
	for name, body := range want {
		got, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil {
			t.Errorf("%v: run make docs", err)
			continue
		}
		if diff := cmp.Diff(string(body), string(got)); diff != "" {
			t.Errorf("docs/%s is out of date: run make docs (-want +got):\n%s", name, diff)
		}
	}
	files, err := filepath.Glob("../../docs/checks/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, ok := want["checks/"+filepath.Base(f)]; !ok {
			t.Errorf("%s is of no check: remove it", f)
		}
	}
}
