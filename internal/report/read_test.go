package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/internal/render"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

func TestReadRefusesWhatIsNoReport(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"", "it is empty"},
		{"{", "unexpected end"},
		{"\x00\x01", "neither JSON nor YAML"},
		{"[1]", "cannot unmarshal"},
		{"hello", "cannot unmarshal"},
		{`{"kind":"List"}`, "it is no report of ktriage"},
		{`{"schemaVersion":"1"}`, "it is no report of ktriage"},
		{`{"schemaVersion":"2","findings":[]}`, `its schemaVersion is "2", this ktriage reads "1"`},
		{`{"schemaVersion":"1","findings":[{"status":"fine"}]}`, `unknown status "fine"`},
		{`{"schemaVersion":"1","findings":[],"problems":[{"symptoms":[{"of":1}]}]}`, "explains itself"},
		{`{"schemaVersion":"1","findings":[],"problems":[{"symptoms":[{"of":2},{"of":1}]}]}`, "explains itself"},
		{`{"schemaVersion":"1","findings":[],"problems":[{"symptoms":[{"of":7}]}]}`, "which there is not"},
		{`{"schemaVersion":"1","findings":[],"changes":{"changes":[{"of":1}]}}`, "which it cannot"},
	} {
		if _, err := report.Read(strings.NewReader(tc.in)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.in, err, tc.want)
		}
	}
}

func TestReadTakesBothForms(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		var b bytes.Buffer
		if err := render.Render(&b, format, reporttest.Sample(), render.Options{}); err != nil {
			t.Fatal(err)
		}
		want := b.String()
		r, err := report.Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		if err := render.Render(&b, format, r, render.Options{}); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%s: what was read is not what was written", format)
		}
	}
}

// FuzzRead renders what is read in every form: a report is a file that anybody
// may have made.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := render.JSON(&b, reporttest.Sample()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"schemaVersion":"1","findings":[{"status":"unknown"}],"problems":[{"symptoms":[{"of":0},{"of":1}],"alsoPossible":[{}]}],"vitals":[{"unit":"s","value":1e300},{"component":"leases"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := report.Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		for _, format := range render.Formats() {
			for _, o := range []render.Options{{}, {Verbose: true, Advice: true, Width: 20}} {
				if err := render.Render(io.Discard, format, r, o); err != nil {
					t.Errorf("%s: %v", format, err)
				}
			}
		}
	})
}
