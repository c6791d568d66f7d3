package cli

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ktriage/ktriage/checks"
)

// selectFlags say which checks a command is about.
type selectFlags struct{ only []string }

func (f *selectFlags) add(fs *pflag.FlagSet) {
	fs.StringSliceVar(&f.only, "only", nil, "these `checks` only: IDs, with * for any part, or components such as etcd")
}

// chosen returns the checks: those that are named, or all that the configuration
// does not turn off.
func (a *app) chosen(f *selectFlags) ([]*checks.Check, error) {
	out, err := a.named(f)
	if len(f.only) == 0 {
		out = slices.DeleteFunc(slices.Clone(out), func(c *checks.Check) bool { return slices.Contains(a.conf.tuned.Off, c.ID) })
	}
	return out, err
}

// named returns the checks that are named, or all. A name that none has is a
// mistake.
func (a *app) named(f *selectFlags) ([]*checks.Check, error) {
	if len(f.only) == 0 {
		return a.rules(), nil
	}
	var out []*checks.Check
	used := map[string]bool{}
	for _, c := range a.rules() {
		for _, name := range f.only {
			match, err := path.Match(name, string(c.ID))
			if err != nil {
				return nil, usagef("--only %q is no pattern", name)
			}
			if match || name == string(c.Component) {
				used[name] = true
				if !slices.Contains(out, c) {
					out = append(out, c)
				}
			}
		}
	}
	for _, name := range f.only {
		if !used[name] {
			hint := "ktriage checks lists them"
			if near := a.nearest(name); near != "" && !strings.ContainsAny(name, "*?[") {
				hint = "did you mean " + near + "?"
			}
			return nil, usageError{hinted{usagef("--only: there is no check or component %q", name), hint}}
		}
	}
	return out, nil
}
