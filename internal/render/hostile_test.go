package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/joshdk/go-junit"
	sarif "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/report/reporttest"
)

// A consumer reads a form with a program that is not ktriage's, and reports what
// must not be in it. Plain is the same report without anything hostile.
var consumers = map[string]func(t *testing.T, out, plain []byte){
	"text":       sameLines,
	"json":       func(t *testing.T, out, _ []byte) { mustJSON(t, out) },
	"junit":      readsAsJUnit,
	"sarif":      readsAsSARIF,
	"prometheus": readsAsMetrics,
	"github":     obeysNothingElse,
	"markdown":   rendersHarmlessly,
	"html":       holdsNothingActive,
}

func rendered(t *testing.T, format string, r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, format, r, Options{Verbose: true, Advice: true}); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.Bytes()
}

func TestForeignConsumersReadWhatIsWritten(t *testing.T) {
	for format, consume := range consumers {
		t.Run(format, func(t *testing.T) {
			plain := rendered(t, format, reporttest.Sample())
			consume(t, plain, plain)
		})
	}
}

func TestHostileTextIsHarmlessInEveryForm(t *testing.T) {
	for format, consume := range consumers {
		t.Run(format, func(t *testing.T) {
			out := rendered(t, format, reporttest.Hostile())
			consume(t, out, rendered(t, format, reporttest.Sample()))
			if format == "json" {
				return // it is data, and its reader's to show
			}
			for i, r := range string(out) {
				if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
					t.Fatalf("%U is written as it is: %q", r, out[max(0, i-30):min(len(out), i+30)])
				}
			}
		})
	}
}

func FuzzForms(f *testing.F) {
	f.Add(reporttest.Attacks)
	f.Add("x")
	f.Add("]]>&#0;")
	f.Add("\\")
	f.Add("\\`")
	f.Fuzz(func(t *testing.T, s string) {
		for format, consume := range consumers {
			consume(t, rendered(t, format, reporttest.Poisoned(s)), rendered(t, format, reporttest.Sample()))
		}
	})
}

func sameLines(t *testing.T, out, _ []byte) {
	for line := range strings.SplitSeq(string(out), "\n") {
		if strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("a control character reached the terminal: %q", line)
		}
	}
}

func mustJSON(t *testing.T, out []byte) {
	if !json.Valid(out) {
		t.Error("it is no JSON")
	}
}

func readsAsJUnit(t *testing.T, out, plain []byte) {
	count := func(b []byte) (got [4]int) {
		suites, err := junit.Ingest(b)
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		for _, s := range suites {
			got[0] += s.Totals.Passed
			got[1] += s.Totals.Failed
			got[2] += s.Totals.Error
			got[3] += s.Totals.Skipped
		}
		return got
	}
	if a, b := count(out), count(plain); a != b || a[1] == 0 || a[2] == 0 || a[0] == 0 {
		t.Errorf("passed, failed, errors, skipped are %v, want %v", a, b)
	}
	d := xml.NewDecoder(bytes.NewReader(out))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func readsAsSARIF(t *testing.T, out, plain []byte) {
	r, err := sarif.FromBytes(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Errorf("the schema refuses it: %v", err)
	}
	want, err := sarif.FromBytes(plain)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := len(r.Runs[0].Results), len(want.Runs[0].Results); a != b || a == 0 {
		t.Errorf("%d results, want %d", a, b)
	}
}

func readsAsMetrics(t *testing.T, out, plain []byte) {
	count := func(b []byte) (got []string) {
		p := expfmt.NewTextParser(model.LegacyValidation)
		fs, err := p.TextToMetricFamilies(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		for name := range fs {
			got = append(got, name)
		}
		slices.Sort(got)
		return got
	}
	a, b := count(out), count(plain)
	// A unit that a file made up is none of those that have a metric.
	for _, name := range a {
		if !slices.Contains(b, name) {
			t.Errorf("there is a metric %s that is in no plain report", name)
		}
	}
	if len(a) < 10 {
		t.Errorf("only %d metrics: %v", len(a), a)
	}
}

func obeysNothingElse(t *testing.T, out, plain []byte) {
	a, b := strings.Split(string(out), "\n"), strings.Split(string(plain), "\n")
	if len(a) != len(b) {
		t.Errorf("%d lines, want %d", len(a), len(b))
	}
	for _, line := range a[:len(a)-1] {
		head, rest, ok := strings.Cut(strings.TrimPrefix(line, "::"), "::")
		level, title, _ := strings.Cut(head, " title=")
		if !ok || rest == "" || !slices.Contains([]string{"error", "warning", "notice"}, level) || strings.ContainsAny(title, ",:\r") || strings.ContainsAny(rest, "\r") {
			t.Errorf("no command, or not this one alone: %q", line)
		}
	}
}

// elements counts the elements of a page by name and reports what could act.
func elements(t *testing.T, page []byte, local func(href string) bool) map[string]int {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		got[n.Data]++
		if slices.Contains([]string{"script", "img", "iframe", "object", "embed", "form", "input", "base", "link", "image", "use", "foreignobject"}, n.Data) {
			t.Errorf("there is an element %s", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(strings.ToLower(a.Key), "on") || a.Key == "style" || a.Key == "src" || a.Key == "href" && !local(a.Val) {
				t.Errorf("<%s> has the attribute %s=%q", n.Data, a.Key, a.Val)
			}
		}
	}
	return got
}

func rendersHarmlessly(t *testing.T, out, plain []byte) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(goldhtml.WithUnsafe()))
	count := func(in []byte) map[string]int {
		var b bytes.Buffer
		if err := md.Convert(in, &b); err != nil {
			t.Fatal(err)
		}
		return elements(t, b.Bytes(), func(string) bool { return false })
	}
	a, b := count(out), count(plain)
	for _, name := range []string{"h1", "h2", "h3", "li", "tr", "td", "table", "details", "strong", "em", "del", "hr", "blockquote"} {
		if a[name] != b[name] {
			t.Errorf("%d elements %s, want %d", a[name], name, b[name])
		}
	}
	if b["h2"] == 0 || b["tr"] == 0 {
		t.Error("the plain report has no headings or tables")
	}
}

func holdsNothingActive(t *testing.T, out, plain []byte) {
	// The pages of rules name their sources.
	local := func(href string) bool {
		return strings.HasPrefix(href, "#") || strings.HasPrefix(href, "https://github.com/")
	}
	a, b := elements(t, out, local), elements(t, plain, local)
	for _, name := range []string{"style", "meta", "title", "h1", "body", "head"} {
		if a[name] != b[name] {
			t.Errorf("%d elements %s, want %d", a[name], name, b[name])
		}
	}
	if b["svg"] == 0 || b["style"] != 1 || !bytes.Contains(plain, []byte(`http-equiv="Content-Security-Policy" content="default-src 'none'; `)) && !bytes.Contains(plain, []byte("default-src &#39;none&#39;;")) {
		t.Error("the page has no drawing, or no policy")
	}
}
