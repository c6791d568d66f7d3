package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/checks"
)

func TestWhatMeansNothingIsAnErrorWithItsLine(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"a key that is mistyped", "windw: 10s", `f.yaml:1:1: the configuration has no key "windw"; did you mean "window"?`},
		{"a key far from all others", "zzzzzzzzzz: 1", `f.yaml:1:1: the configuration has no key "zzzzzzzzzz"; it has advice, `},
		{"a key of etcd", "etcd:\n  cacerts: x", `f.yaml:2:3: etcd has no key "cacerts"; did you mean "cacert"?`},
		{"a key twice", "window: 1s\nwindow: 2s", `f.yaml:2:1: the configuration has the key "window" twice`},
		{"a value of another kind", "window: soon", `f.yaml:1:9: window: "soon" is not a duration such as 30s`},
		{"a value that is none of the choices", "fail-on: always", `f.yaml:1:10: fail-on: "always" is none of warning, unknown, critical, never`},
		{"a context within a context", "contexts:\n  a:\n    context: b", `f.yaml:3:5: a context has no key "context"`},
		{"a list that is none", "suppressions: all", `f.yaml:1:15: suppressions must be a list`},
		{"a mapping that is none", "checks: [a]", `f.yaml:1:9: checks must be keys with values`},
		{"a suppression of everything", "suppressions:\n- {check: '*', reason: x, expires: never}", "would hide everything"},
		{"a suppression without reason", "suppressions:\n- {check: a, expires: never}", "f.yaml:2:3: a suppression needs a reason"},
		{"a suppression without end", "suppressions:\n- {check: a, reason: b}", "f.yaml:2:3: a suppression needs expires"},
		{"a suppression that ends some day", "suppressions:\n- {check: a, reason: b, expires: soon}", `f.yaml:2:34: expires: "soon" is neither a day`},
		{"an alias", "a: &x 1\nb: *x", "f.yaml:2:4: aliases are not read here"},
		{"many documents", "window: 1s\n---\nwindow: 2s", "more than one document"},
		{"no YAML", "a: [", "f.yaml: line 1: did not find"},
		{"a word", "hello", "f.yaml:1:1: the configuration must be keys with values"},
		{"a wall of brackets", strings.Repeat("[", 64), "f.yaml: "},
		{"too much of it", strings.Repeat("#", maxSize+1), "f.yaml: it is over"},
	} {
		_, err := Parse("f.yaml", []byte(tc.in))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestAnEmptyFileSaysNothing(t *testing.T) {
	for _, in := range []string{"", "# nothing\n", "---\n", "window:\n", "checks:\n"} {
		c, err := Parse("f.yaml", []byte(in))
		if in == "window:\n" {
			if err == nil {
				t.Errorf("%q: a setting without a value passed", in)
			}
			continue
		}
		if err != nil || len(c.Settings)+len(c.Checks) > 0 {
			t.Errorf("%q: got %v, %v", in, c, err)
		}
	}
}

var rules = []*checks.Check{
	{ID: "etcd-db", Thresholds: []*checks.Threshold{
		checks.NewThreshold("warn", checks.InRatio, 0.7, "of the quota", "somewhere"),
		checks.NewThreshold("critical", checks.InRatio, 0.9, "of the quota", "somewhere"),
	}},
	{ID: "etcd-slow", Thresholds: []*checks.Threshold{checks.NewThreshold("warn", checks.InSeconds, 0.5, "a call", "somewhere")}},
	{ID: "pods-none"},
}

func parse(t *testing.T, in string) *Config {
	t.Helper()
	c, err := Parse("/etc/f.yaml", []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWhatIsSaidOfChecksIsHeldAgainstThem(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"a check that there is not", "checks:\n  etcd-dv: {enabled: false}", `/etc/f.yaml:2:1: there is no check "etcd-dv"; did you mean "etcd-db"?`},
		{"a pattern that meets none", "checks:\n  foo-*: {enabled: false}", `there is no check "foo-*"; ktriage checks lists them`},
		{"a threshold that there is not", "checks:\n  etcd-db: {thresholds: {wran: 1}}", `/etc/f.yaml:2:1: etcd-db has no threshold "wran"; did you mean "warn"?`},
		{"a threshold of a check that has none", "checks:\n  pods-none: {thresholds: {warn: 1}}", `pods-none has no threshold that can be moved`},
		{"a number of another unit", "checks:\n  etcd-*: {thresholds: {warn: 60%}}", `warn of etcd-slow: "60%" is no number of seconds such as`},
		{"no number", "checks:\n  etcd-db: {thresholds: {warn: NaN}}", `"NaN" is no number such as 0.8 or 80%`},
		{"limits past each other", "checks:\n  etcd-db: {thresholds: {warn: 95%}}", "/etc/f.yaml:2:1: etcd-db would be critical before it warns: warn is 95% and critical is 90%"},
		{"a suppression of a check that there is not", "suppressions:\n- {check: etcd-bd, reason: x, expires: never}", `/etc/f.yaml:2:1: there is no check "etcd-bd"`},
		{"a context that is not the current one", "contexts:\n  b:\n    checks:\n      etcd-xx: {enabled: true}", `/etc/f.yaml:4:1: there is no check "etcd-xx"`},
	} {
		err := parse(t, tc.in).Check(rules)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestAContextGoesBeforeTheRest(t *testing.T) {
	c := parse(t, `
window: 20s
etcd: {cacert: ca.crt, endpoints: [a, b]}
checks:
  etcd-db: {thresholds: {warn: 60%}}
  pods-none: {enabled: false}
suppressions:
- {check: etcd-db, target: etcd/cp-1, reason: known, expires: 2026-12-31, at-most: warning}
contexts:
  prod-*:
    window: 30s
    checks:
      pods-none: {enabled: true}
      etcd-db: {thresholds: {critical: 0.95}}
`)
	for _, tc := range []struct {
		context  string
		settings []Setting
		off      []checks.ID
		tuning   checks.Tuning
	}{
		{"dev", []Setting{{"window", "20s", 2}, {"etcd-cacert", "/etc/ca.crt", 3}, {"etcd-endpoints", "a,b", 3}}, []checks.ID{"pods-none"},
			checks.Tuning{"etcd-db": {"warn": {Value: 0.6, From: "/etc/f.yaml:5"}}}},
		{"prod-eu", []Setting{{"window", "20s", 2}, {"etcd-cacert", "/etc/ca.crt", 3}, {"etcd-endpoints", "a,b", 3}, {"window", "30s", 11}}, nil,
			checks.Tuning{"etcd-db": {"warn": {Value: 0.6, From: "/etc/f.yaml:5"}, "critical": {Value: 0.95, From: "/etc/f.yaml:14"}}}},
	} {
		part := c.For(tc.context)
		got, err := c.Tune(part, rules)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.settings, part.Settings); d != "" {
			t.Errorf("%s: %s", tc.context, d)
		}
		if d := cmp.Diff(tc.off, got.Off); d != "" {
			t.Errorf("%s: %s", tc.context, d)
		}
		if d := cmp.Diff(tc.tuning, got.Tuning); d != "" {
			t.Errorf("%s: %s", tc.context, d)
		}
		s := got.Suppressions[0]
		if want := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC); !s.Expires.Equal(want) || s.From != "/etc/f.yaml:8" || s.AtMost != "warning" {
			t.Errorf("%s: got %+v", tc.context, s)
		}
	}
}

// FuzzParse holds that whatever a file holds, it is read or refused with a place,
// and that what is read can be held against checks.
func FuzzParse(f *testing.F) {
	f.Add([]byte("window: 10s\nsuppressions:\n- {check: a, reason: b, expires: never}\n"))
	f.Add([]byte("checks:\n  etcd-db: {enabled: false, thresholds: {warn: 60%}}\ncontexts: {a: {etcd: {endpoints: [x]}}}\n"))
	f.Add([]byte("? [a]\n: b\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := Parse("f.yaml", in)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Errorf("an error without its file: %v", err)
			}
			return
		}
		for _, x := range append([]Context{{Name: "a"}}, c.Contexts...) {
			if _, err := c.Tune(c.For(x.Name), rules); err != nil && !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Errorf("an error without its file: %v", err)
			}
		}
	})
}
