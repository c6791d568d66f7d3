package render

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/internal/render/text"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

var update = flag.Bool("update", false, "write what is rendered into testdata")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func render(t *testing.T, format string, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, format, reporttest.Sample(), o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestJSONIsTheContract(t *testing.T) {
	b := render(t, "json", Options{})
	golden(t, "report.json", b)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var again report.Report
	if err := d.Decode(&again); err != nil {
		t.Fatal(err)
	}
	var one, two bytes.Buffer
	if err := text.Write(&one, reporttest.Sample(), Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if err := text.Write(&two, &again, Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one.String(), two.String()); diff != "" {
		t.Errorf("a saved report renders otherwise (-report +saved):\n%s", diff)
	}
}

func TestYAMLIsTheSameDocument(t *testing.T) {
	j, err := yaml.YAMLToJSON(render(t, "yaml", Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(j, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(render(t, "json", Options{}), &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, a); diff != "" {
		t.Errorf("-json +yaml:\n%s", diff)
	}
}

// TestForms holds the forms whose every byte is ktriage's own. A page of HTML
// holds the pages of rules too, which change without it.
func TestForms(t *testing.T) {
	for _, format := range []string{"markdown", "junit", "sarif", "prometheus", "github"} {
		golden(t, "report."+format, render(t, format, Options{}))
	}
}
