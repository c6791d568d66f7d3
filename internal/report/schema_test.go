package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/diff"
	"github.com/ktriage/ktriage/internal/render"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

var update = flag.Bool("update", false, "write the schema into docs")

func published(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs("../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// schema makes the JSON Schema of the report of its types and their comments.
// One that is closed allows no field that it does not name: readers must not be
// told so, as fields may be added, but what ktriage itself writes has no other.
func schema(t *testing.T, closed bool) []byte {
	t.Helper()
	words := func(values ...string) *jsonschema.Schema {
		s := &jsonschema.Schema{Type: "string"}
		for _, v := range values {
			s.Enum = append(s.Enum, v)
		}
		return s
	}
	r := jsonschema.Reflector{
		AllowAdditionalProperties: !closed, ExpandedStruct: true,
		Mapper: func(of reflect.Type) *jsonschema.Schema {
			switch of {
			case reflect.TypeFor[checks.Status]():
				return words(checks.Statuses()...)
			case reflect.TypeFor[checks.Basis]():
				return words(string(checks.OverWindow), string(checks.OverLifetime), string(checks.AtInstant))
			case reflect.TypeFor[collectors.Target]():
				return &jsonschema.Schema{Type: "string", Description: "COMPONENT/NAME, or COMPONENT of what has no name"}
			case reflect.TypeFor[report.ChangeKind]():
				var kinds []string
				for _, k := range diff.Kinds {
					kinds = append(kinds, string(k))
				}
				return words(kinds...)
			}
			return nil
		},
	}
	// Comments are looked for below the working directory only.
	t.Chdir("../..")
	for _, dir := range []string{"internal/report", "internal/vitals", "internal/diagnose", "checks", "collectors"} {
		if err := r.AddGoComments("github.com/ktriage/ktriage", "./"+dir, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	for k, v := range r.CommentMap { // as text, not as it is wrapped in the source
		r.CommentMap[k] = strings.Join(strings.Fields(v), " ")
	}
	s := r.Reflect(&report.Report{})
	s.ID = "https://github.com/ktriage/ktriage/docs/report.schema.json"
	s.Title = "Report of ktriage doctor -o json"
	if v, ok := s.Properties.Get("schemaVersion"); ok {
		v.Const = report.SchemaVersion
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestThePublishedSchemaIsThatOfTheTypes(t *testing.T) {
	published := published(t)
	want := schema(t, false)
	if *update {
		if err := os.WriteFile(published, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s is out of date: run make docs (-want +got):\n%s", published, d)
	}
}

func TestReportsKeepToTheSchema(t *testing.T) {
	closed := schema(t, true)
	sample := reporttest.Sample()
	changed := reporttest.Sample()
	changed.Findings[0].Status = checks.OK
	sample.Changes = diff.Compare(changed, sample)
	empty := report.New(report.Run{Snapshot: &collectors.Snapshot{}})
	for name, r := range map[string]*report.Report{"sample": sample, "empty": empty} {
		var b bytes.Buffer
		if err := render.JSON(&b, r); err != nil {
			t.Fatal(err)
		}
		if err := reporttest.Validate(closed, b.Bytes()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheSchemaRefuses holds that the schema can say no.
func TestTheSchemaRefuses(t *testing.T) {
	open, err := os.ReadFile(published(t))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := render.JSON(&b, reporttest.Sample()); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	if err := reporttest.Validate(open, []byte(good)); err != nil {
		t.Fatal(err)
	}
	if err := reporttest.Validate(open, []byte(strings.Replace(good, `"tool": {`, `"later": 1, "tool": {"also": 2, `, 1))); err != nil {
		t.Errorf("a field of a later version is refused: %v", err)
	}
	for _, x := range [][2]string{
		{`"schemaVersion": "1"`, `"schemaVersion": "2"`},
		{`"status": "critical"`, `"status": "fine"`},
		{`"startedAt": "2026-01-02T03:04:05Z"`, `"startedAt": "yesterday"`},
		{`"startedAt": "2026-01-02T03:04:05Z",`, ``},
		{`"requests": 42`, `"requests": "42"`},
		{`"basis": "window"`, `"basis": "guess"`},
		{`"totals": {`, `"totals": [], "x": {`},
	} {
		bad := strings.Replace(good, x[0], x[1], 1)
		if bad == good {
			t.Fatalf("the sample has no %s", x[0])
		}
		if err := reporttest.Validate(open, []byte(bad)); err == nil {
			t.Errorf("%s in place of %s passes", x[1], x[0])
		}
	}
}
