// Package render writes a report in the form that its reader wants. Each
// renderer reads the document alone, so that a saved report renders into any.
package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/internal/render/annotations"
	"github.com/ktriage/ktriage/internal/render/html"
	"github.com/ktriage/ktriage/internal/render/junit"
	"github.com/ktriage/ktriage/internal/render/markdown"
	"github.com/ktriage/ktriage/internal/render/prometheus"
	"github.com/ktriage/ktriage/internal/render/sarif"
	"github.com/ktriage/ktriage/internal/render/text"
	"github.com/ktriage/ktriage/internal/report"
)

// Options of renderers.
type Options = text.Options

// A form is one way to write a report.
type form struct {
	name  string
	write func(io.Writer, *report.Report, Options) error
}

// forms are what -o takes.
var forms = []form{
	{"text", text.Write},
	{"json", plain(JSON)},
	{"yaml", plain(YAML)},
	{"markdown", plain(markdown.Write)},
	{"html", plain(html.Write)},
	{"junit", plain(junit.Write)},
	{"sarif", plain(sarif.Write)},
	{"prometheus", plain(prometheus.Write)},
	{"github", plain(annotations.Write)},
}

// plain is of forms that have no options: all of the report is in them.
func plain(write func(io.Writer, *report.Report) error) func(io.Writer, *report.Report, Options) error {
	return func(w io.Writer, r *report.Report, _ Options) error { return write(w, r) }
}

// Formats lists the names that Render takes.
func Formats() []string {
	var out []string
	for _, f := range forms {
		out = append(out, f.name)
	}
	slices.Sort(out)
	return out
}

// Render writes the report in the named form.
func Render(w io.Writer, format string, r *report.Report, o Options) error {
	i := slices.IndexFunc(forms, func(f form) bool { return f.name == format })
	if i < 0 {
		return fmt.Errorf("there is no output format %q; there are %s", format, strings.Join(Formats(), ", "))
	}
	return forms[i].write(w, r, o)
}

// Vitals writes only the numbers of a report, as the text form does.
func Vitals(r *report.Report, o Options) string { return text.Vitals(r, o) }

// Changes writes changes as the text form does.
func Changes(c *report.Changes, o Options) string { return text.Changes(c, o) }
