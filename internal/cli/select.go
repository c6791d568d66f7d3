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

// chosen returns the checks. A name that none has is a mistake.
func (f *selectFlags) chosen() ([]*checks.Check, error) {
	if len(f.only) == 0 {
		return all(), nil
	}
	var out []*checks.Check
	used := map[string]bool{}
	for _, c := range all() {
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
			if near := nearest(name); near != "" && !strings.ContainsAny(name, "*?[") {
				hint = "did you mean " + near + "?"
			}
			return nil, usageError{hinted{usagef("--only: there is no check or component %q", name), hint}}
		}
	}
	return out, nil
}
