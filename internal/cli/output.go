package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/internal/render"
	"github.com/ktriage/ktriage/internal/report"
)

// outputFlags say in which form a report is written.
type outputFlags struct {
	format  string
	advice  bool
	verbose bool
	color   string
}

func (f *outputFlags) add(fs *pflag.FlagSet) {
	fs.StringVarP(&f.format, "output", "o", "text", "form of the report: "+strings.Join(render.Formats(), ", "))
	fs.BoolVar(&f.advice, "advice", false, "show advice too")
	f.addLook(fs)
}

// addLook adds what says how much is shown, and how.
func (f *outputFlags) addLook(fs *pflag.FlagSet) {
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "show every verdict and all evidence")
	fs.StringVar(&f.color, "color", "auto", "auto, always or never; NO_COLOR is obeyed")
}

func (f *outputFlags) check() error {
	if !slices.Contains(render.Formats(), f.format) {
		return usagef("-o %q: want one of %s", f.format, strings.Join(render.Formats(), ", "))
	}
	if !slices.Contains([]string{"auto", "always", "never"}, f.color) {
		return usagef("--color %q: want auto, always or never", f.color)
	}
	return nil
}

func (f *outputFlags) options(a *app) render.Options {
	on := f.color == "always" || f.color == "auto" && a.StdoutTTY && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	return render.Options{Color: on, Advice: f.advice, Verbose: f.verbose}
}

// write renders the whole document before it writes any of it: standard output
// is one document, or none.
func (f *outputFlags) write(a *app, rep *report.Report) error {
	var b bytes.Buffer
	if err := render.Render(&b, f.format, rep, f.options(a)); err != nil {
		return err
	}
	doc := b.Bytes()
	if f.format == "text" && a.calls != nil {
		doc = []byte(a.calls(string(doc)))
	}
	if _, err := a.Stdout.Write(doc); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// A form is how a document that is no report is written.
type form struct {
	format string
	forms  []string
}

func (f *form) add(fs *pflag.FlagSet, forms ...string) {
	f.forms = forms
	fs.StringVarP(&f.format, "output", "o", "text", "form of the document: "+strings.Join(forms, ", "))
}

func (f *form) check() error {
	if !slices.Contains(f.forms, f.format) {
		return usagef("-o %q: want one of %s", f.format, strings.Join(f.forms, ", "))
	}
	return nil
}

// write writes the whole document, or none of it.
func (f *form) write(a *app, doc any, text func(wide bool) string) error {
	var out []byte
	switch f.format {
	case "json":
		b := &strings.Builder{}
		e := json.NewEncoder(b)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(doc); err != nil {
			return err
		}
		out = []byte(b.String())
	case "yaml":
		b, err := yaml.Marshal(doc)
		if err != nil {
			return err
		}
		out = b
	default:
		out = []byte(text(f.format == "wide"))
	}
	if _, err := a.Stdout.Write(out); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
