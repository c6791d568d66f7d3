package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Options of renderers.
type Options struct {
	Color   bool // of the text form
	Width   int  // columns of the text form; 0 means 80
	Advice  bool // show findings of status info
	Verbose bool // show every finding, and all of the evidence
}

// A Renderer writes a report in one form.
type Renderer func(io.Writer, *Report, Options) error

// Renderers by the name that -o takes.
var renderers = map[string]Renderer{
	"text": Text,
	"json": JSON,
	"yaml": YAML,
}

// Formats lists the names that Render takes.
func Formats() []string { return slices.Sorted(maps.Keys(renderers)) }

// Render writes the report in the named form.
func Render(w io.Writer, format string, r *Report, o Options) error {
	f, ok := renderers[format]
	if !ok {
		return fmt.Errorf("there is no output format %q; there are %s", format, strings.Join(Formats(), ", "))
	}
	return f(w, r, o)
}

// JSON writes the document itself, indented.
func JSON(w io.Writer, r *Report, _ Options) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// YAML writes the document itself as YAML.
func YAML(w io.Writer, r *Report, _ Options) error {
	b, err := yaml.Marshal(r)
	if err != nil {
		return fmt.Errorf("write YAML: %w", err)
	}
	_, err = w.Write(b)
	return err
}
