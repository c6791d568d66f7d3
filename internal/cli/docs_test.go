package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/internal/diagnose"
)

func TestDocsAreUpToDate(t *testing.T) {
	const docs = "../../docs"
	want, err := generated(docs)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range want {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Errorf("%v: run make docs", err)
			continue
		}
		if diff := cmp.Diff(string(body), string(got)); diff != "" {
			t.Errorf("docs/%s is out of date: run make docs (-want +got):\n%s", name, diff)
		}
	}
	pages, err := pages(docs)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all() {
		if pages[string(c.ID)] == "" {
			t.Errorf("check %s has no page beside its code with the heading \"# %s\"", c.ID, c.ID)
		}
		delete(pages, string(c.ID))
	}
	for id, file := range pages {
		t.Errorf("%s is the page of %q, which is no check", file, id)
	}
}

// TestThePictureHasAllChecks holds that each check that a link names is drawn.
func TestThePictureHasAllChecks(t *testing.T) {
	svg := string(picture())
	for _, l := range diagnose.Links {
		for _, id := range slices.Concat(l.Causes, l.Effects) {
			if areaOf(id) < 0 {
				t.Errorf("%s has no area in the picture of causes", id)
			} else if !strings.Contains(svg, ">"+string(id)+"</text>") {
				t.Errorf("%s is not drawn", id)
			}
		}
	}
	if svg != string(picture()) {
		t.Error("the picture is not the same twice")
	}
}
