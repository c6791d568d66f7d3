package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

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
	fs.StringVarP(&f.format, "output", "o", "text", "form of the report: "+strings.Join(report.Formats(), ", "))
	fs.BoolVar(&f.advice, "advice", false, "show advice too")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "show every verdict and all evidence")
	fs.StringVar(&f.color, "color", "auto", "auto, always or never; NO_COLOR is obeyed")
}

func (f *outputFlags) check() error {
	if !slices.Contains(report.Formats(), f.format) {
		return usagef("-o %q: want one of %s", f.format, strings.Join(report.Formats(), ", "))
	}
	if !slices.Contains([]string{"auto", "always", "never"}, f.color) {
		return usagef("--color %q: want auto, always or never", f.color)
	}
	return nil
}

func (f *outputFlags) options(a *app) report.Options {
	on := f.color == "always" || f.color == "auto" && a.StdoutTTY && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	return report.Options{Color: on, Advice: f.advice, Verbose: f.verbose}
}

// write renders the whole document before it writes any of it: standard output
// is one document, or none.
func (f *outputFlags) write(a *app, rep *report.Report) error {
	var b bytes.Buffer
	if err := report.Render(&b, f.format, rep, f.options(a)); err != nil {
		return err
	}
	if _, err := a.Stdout.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
