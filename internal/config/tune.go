package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
)

// Tuned is what a part says of checks, in their terms.
type Tuned struct {
	Off          []checks.ID
	Tuning       checks.Tuning
	Suppressions []report.Suppression
}

// Tune holds a part against the checks that there are.
func (c *Config) Tune(p Part, all []*checks.Check) (Tuned, error) {
	out := Tuned{Tuning: checks.Tuning{}}
	var errs Errors
	fail := func(line int, format string, a ...any) {
		errs = append(errs, &Error{c.File, line, 1, fmt.Sprintf(format, a...)})
	}
	off := map[checks.ID]bool{}
	for _, x := range p.Checks {
		met := matching(x.ID, all)
		if len(met) == 0 {
			fail(x.Line, "%s", noCheck(x.ID, all))
			continue
		}
		for _, k := range met {
			if x.Enabled != nil {
				off[k.ID] = !*x.Enabled
			}
		}
		for _, t := range x.Thresholds {
			if err := move(out.Tuning, met, t, c.At(t.Line)); err != nil {
				fail(t.Line, "%v", err)
			}
		}
	}
	for _, k := range all {
		if off[k.ID] {
			out.Off = append(out.Off, k.ID)
		}
		if why := crossed(k, out.Tuning); why != "" {
			fail(lineOf(p, k), "%s", why)
		}
	}
	for _, s := range p.Suppressions {
		if len(matching(s.Check, all)) == 0 {
			fail(s.Line, "%s", noCheck(s.Check, all))
			continue
		}
		out.Suppressions = append(out.Suppressions, s.Suppression)
	}
	if len(errs) > 0 {
		return Tuned{}, errs
	}
	return out, nil
}

// Check holds all of the file against the checks that there are: what is said for
// a context that is not the current one must not wait for its day to be wrong.
func (c *Config) Check(all []*checks.Check) error {
	if _, err := c.Tune(c.Part, all); err != nil {
		return err
	}
	for _, x := range c.Contexts {
		if _, err := c.Tune(c.For(x.Name), all); err != nil {
			return err
		}
	}
	return nil
}

func matching(pattern string, all []*checks.Check) []*checks.Check {
	var out []*checks.Check
	for _, k := range all {
		if report.Glob(pattern, string(k.ID)) {
			out = append(out, k)
		}
	}
	return out
}

func noCheck(id string, all []*checks.Check) string {
	var ids []string
	for _, k := range all {
		ids = append(ids, string(k.ID))
	}
	if near := Nearest(id, ids); near != "" && !strings.Contains(id, "*") {
		return fmt.Sprintf("there is no check %q; did you mean %q?", id, near)
	}
	return fmt.Sprintf("there is no check %q; ktriage checks lists them", id)
}

// move gives a threshold its value in each of the checks that have it.
func move(into checks.Tuning, cs []*checks.Check, t Threshold, from string) error {
	var names []string
	met := false
	for _, k := range cs {
		i := slices.IndexFunc(k.Thresholds, func(x *checks.Threshold) bool { return x.Name == t.Name })
		if i < 0 {
			for _, x := range k.Thresholds {
				names = append(names, x.Name)
			}
			continue
		}
		met = true
		x, err := k.Thresholds[i].Unit.Parse(t.Value)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", t.Name, k.ID, err)
		}
		if into[k.ID] == nil {
			into[k.ID] = map[string]checks.Moved{}
		}
		into[k.ID][t.Name] = checks.Moved{Value: x, From: from}
	}
	switch near := Nearest(t.Name, names); {
	case met:
		return nil
	case len(names) == 0:
		return fmt.Errorf("%s has no threshold that can be moved", cs[0].ID)
	case near != "":
		return fmt.Errorf("%s has no threshold %q; did you mean %q?", cs[0].ID, t.Name, near)
	}
	return fmt.Errorf("%s has no threshold %q; it has %s", cs[0].ID, t.Name, strings.Join(names, ", "))
}

// crossed says of a check whose limits were moved past each other that they are:
// what is critical before it is a warning was mistyped.
func crossed(k *checks.Check, t checks.Tuning) string {
	at := func(x *checks.Threshold) float64 {
		if m, ok := t[k.ID][x.Name]; ok {
			return m.Value
		}
		return x.Default
	}
	for _, warn := range k.Thresholds {
		name, ok := strings.CutSuffix(warn.Name, "warn")
		if !ok {
			continue
		}
		for _, critical := range k.Thresholds {
			if critical.Name != name+"critical" || critical.Unit != warn.Unit {
				continue
			}
			if (warn.Default < critical.Default) != (at(warn) < at(critical)) && at(warn) != at(critical) {
				return fmt.Sprintf("%s would be critical before it warns: %s is %s and %s is %s", k.ID, warn.Name, warn.Unit.Format(at(warn)), critical.Name, critical.Unit.Format(at(critical)))
			}
		}
	}
	return ""
}

func lineOf(p Part, k *checks.Check) int {
	line := 0
	for _, x := range p.Checks {
		if report.Glob(x.ID, string(k.ID)) && len(x.Thresholds) > 0 {
			line = x.Line
		}
	}
	return line
}
