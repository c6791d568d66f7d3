package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/config"
	"github.com/ktriage/ktriage/internal/report"
)

// A configuration is what ktriage.yaml and the environment say for one command.
type configuration struct {
	file    *config.Config // nil if there is none
	context string         // whose part holds
	tuned   config.Tuned
	from    map[string]string // flag → where its value comes from
}

// configured marks commands that have none of the flags that can be set, and
// need the configuration all the same.
const configured = "ktriage.dev/configured"

// configure reads the configuration and gives the command's flags their values:
// the command line goes before the environment, that before the file.
func (a *app) configure(cmd *cobra.Command) error {
	flags := config.Flags()
	if cmd.Annotations[configured] == "" && !slices.ContainsFunc(flags, func(f string) bool { return cmd.Flags().Lookup(f) != nil }) {
		return nil
	}
	path, err := a.configFile(cmd)
	if err != nil {
		return err
	}
	c := &a.conf
	c.from = map[string]string{}
	if path != "" {
		if c.file, err = readConfig(path); err != nil {
			return err
		}
		if err := c.file.Check(a.rules()); err != nil {
			return usageError{err}
		}
	} else {
		c.file = &config.Config{}
	}
	// The context first: it says which part of the file holds.
	settings := c.file.Settings
	for _, name := range append([]string{"kubeconfig", "context"}, flags...) {
		f := cmd.Flags().Lookup(name)
		if f == nil {
			continue
		}
		if err := a.set(f, settings); err != nil {
			return err
		}
		if name == "context" && len(c.file.Contexts) > 0 {
			c.context = a.currentContext(cmd, f)
			settings = c.file.For(c.context).Settings
		}
	}
	if c.tuned, err = c.file.Tune(c.file.For(c.context), a.rules()); err != nil {
		return usageError{err}
	}
	return nil
}

// set gives a flag that is not on the command line its value.
func (a *app) set(f *pflag.Flag, settings []config.Setting) error {
	from := &a.conf
	variable, other := config.Variable(f.Name), config.Other(f.Name)
	switch {
	case from.from[f.Name] != "":
	case f.Changed:
		from.from[f.Name] = "--" + f.Name
	case a.Getenv(variable) != "":
		v := a.Getenv(variable)
		if err := cmp.Or(config.Valid(f.Name, v), f.Value.Set(v)); err != nil {
			return usagef("%s: %w", variable, err)
		}
		from.from[f.Name] = variable
	case other != "" && a.Getenv(other) != "": // read where it is used
		from.from[f.Name] = other
	default:
		for _, s := range slices.Backward(settings) {
			if s.Flag != f.Name {
				continue
			}
			if err := f.Value.Set(s.Value); err != nil {
				return usagef("%s: %s: %w", from.file.At(s.Line), f.Name, err)
			}
			from.from[f.Name] = from.file.At(s.Line)
			return nil
		}
	}
	return nil
}

// currentContext is the context that the command is about: of a recording only
// one that is named.
func (a *app) currentContext(cmd *cobra.Command, f *pflag.Flag) string {
	if v := f.Value.String(); v != "" {
		return v
	}
	if from := cmd.Flags().Lookup("from"); from != nil && from.Changed {
		return ""
	}
	path := ""
	if k := cmd.Flags().Lookup("kubeconfig"); k != nil {
		path = k.Value.String()
	}
	return contexts(path).current
}

// configFile finds the file: --config, KTRIAGE_CONFIG, the user's, the machine's.
// One that is named must be there. The folder one is in is not searched: what a
// stranger's checkout holds must not silence a check.
func (a *app) configFile(cmd *cobra.Command) (string, error) {
	named, _ := cmd.Flags().GetString("config")
	for _, c := range []struct{ path, how string }{{named, "--config"}, {a.Getenv("KTRIAGE_CONFIG"), "KTRIAGE_CONFIG"}} {
		if c.path == "" {
			continue
		}
		if _, err := os.Stat(c.path); err != nil {
			return "", usageError{hinted{fmt.Errorf("%s: %w", c.how, err), "name a file that is there, or none"}}
		}
		return c.path, nil
	}
	for _, path := range a.usualConfigs() {
		switch _, err := os.Stat(path); {
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return "", usagef("configuration: %w", err)
		}
	}
	return "", nil
}

func (a *app) usualConfigs() []string {
	var out []string
	if dir := a.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		out = append(out, filepath.Join(dir, "ktriage", "ktriage.yaml"))
	} else if home := cmp.Or(a.Getenv("HOME"), a.Getenv("USERPROFILE")); home != "" {
		out = append(out, filepath.Join(home, ".config", "ktriage", "ktriage.yaml"))
	}
	return append(out, "/etc/ktriage/ktriage.yaml")
}

func readConfig(path string) (*config.Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, usageError{fmt.Errorf("configuration: %w", err)}
	}
	c, err := config.Parse(path, b)
	if err != nil {
		return nil, usageError{hinted{err, "nothing was asked of the cluster; docs/configuration.md tells what a file can hold"}}
	}
	return c, nil
}

// rules lists every check, those of the configuration among them.
func (a *app) rules() []*checks.Check { return all() }

// off lists the checks that the configuration turns off and that are not run.
func (a *app) off(run []*checks.Check) []checks.ID {
	var out []checks.ID
	for _, id := range a.conf.tuned.Off {
		if !slices.ContainsFunc(run, func(c *checks.Check) bool { return c.ID == id }) {
			out = append(out, id)
		}
	}
	return out
}

func (a *app) config() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration that is in force, and where each value comes from",
		Long: `ktriage reads one file, the first of these that there is:

  --config FILE, or else KTRIAGE_CONFIG
  $XDG_CONFIG_HOME/ktriage/ktriage.yaml, or ~/.config/ktriage/ktriage.yaml
  /etc/ktriage/ktriage.yaml

What is on the command line goes before the environment, and that before the
file. A flag's variable has its name in capitals behind KTRIAGE_: KTRIAGE_WINDOW.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q of config; there is view", args[0])
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	cmd.AddCommand(a.configView())
	return cmd
}

// A configDoc is what config view shows.
type configDoc struct {
	File         string               `json:"file"` // empty if there is none
	Context      string               `json:"context,omitempty"`
	Settings     []settingDoc         `json:"settings"`
	Off          []checks.ID          `json:"off"`
	Thresholds   []thresholdDoc       `json:"thresholds"`
	Suppressions []report.Suppression `json:"suppressions"`
}

type settingDoc struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

type thresholdDoc struct {
	Check   checks.ID `json:"check"`
	Name    string    `json:"name"`
	Value   string    `json:"value"`
	Default string    `json:"default"`
	From    string    `json:"from"`
}

func (a *app) configView() *cobra.Command {
	var f sourceFlags
	var out form
	var every bool
	cmd := &cobra.Command{
		Use:   "view",
		Short: "Show each effective value, and where it comes from",
		Long: `Show what holds for the current context, or that of --context: settings, the
thresholds that are moved, what is turned off and what is suppressed, each with
the flag, the variable or the line that says so. Nothing is asked of the cluster,
and no credential is shown: of files their names only.`,
		Example: `  ktriage config view
  ktriage config view --context prod --all
  ktriage config view --config ./ktriage.yaml -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			doc := a.configDoc(cmd, every)
			return out.write(a, doc, func(bool) string { return doc.text() })
		},
	}
	f.add(cmd.Flags(), false)
	f.addLogs(cmd.Flags(), false)
	var report outputFlags
	var failOn string
	cmd.Flags().StringVar(&report.color, "color", "auto", "")
	cmd.Flags().BoolVar(&report.advice, "advice", false, "")
	cmd.Flags().StringVar(&failOn, "fail-on", "warning", "")
	for _, name := range []string{"color", "advice", "fail-on"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	cmd.Flags().BoolVar(&every, "all", false, "also show the thresholds that are not moved")
	out.add(cmd.Flags(), "text", "json", "yaml")
	return cmd
}

func (a *app) configDoc(cmd *cobra.Command, every bool) configDoc {
	c := &a.conf
	doc := configDoc{File: c.file.File, Context: c.context, Settings: []settingDoc{}, Off: append([]checks.ID{}, c.tuned.Off...), Thresholds: []thresholdDoc{}, Suppressions: append([]report.Suppression{}, c.tuned.Suppressions...)}
	for _, name := range config.Flags() {
		value := strings.Trim(cmd.Flags().Lookup(name).Value.String(), "[]")
		from := c.from[name]
		if from != "" && from == config.Other(name) {
			value = a.Getenv(from)
		}
		if name == "etcd-endpoints" {
			value = withoutPasswords(value)
		}
		doc.Settings = append(doc.Settings, settingDoc{name, value, cmp.Or(from, "default")})
	}
	for i := range doc.Suppressions {
		s := &doc.Suppressions[i]
		s.Expired = !s.Expires.IsZero() && !a.Now().Before(s.Expires)
	}
	for _, k := range a.rules() {
		for _, t := range k.Thresholds {
			m, moved := c.tuned.Tuning[k.ID][t.Name]
			x := thresholdDoc{k.ID, t.Name, t.String(), t.String(), "default: " + t.Source}
			if moved {
				x.Value, x.From = t.Unit.Format(m.Value), m.From
			}
			if moved || every {
				doc.Thresholds = append(doc.Thresholds, x)
			}
		}
	}
	return doc
}

// withoutPasswords leaves users and passwords out of URLs.
func withoutPasswords(urls string) string {
	var out []string
	for _, s := range strings.Split(urls, ",") {
		u, err := url.Parse(s)
		switch {
		case err != nil && strings.Contains(s, "@"):
			s = "(not shown: it may hold a password)"
		case err == nil && u.User != nil:
			u.User = nil
			s = u.String()
		}
		out = append(out, s)
	}
	return strings.Join(out, ",")
}

func (d configDoc) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "file:     %s\n", cmp.Or(d.File, "none"))
	if d.Context != "" {
		fmt.Fprintf(&b, "context:  %s\n", d.Context)
	}
	width := 0
	for _, s := range d.Settings {
		width = max(width, len(s.Name))
	}
	b.WriteString("\nSETTINGS\n")
	for _, s := range d.Settings {
		fmt.Fprintf(&b, "  %-*s  %-24s %s\n", width, s.Name, cmp.Or(s.Value, "-"), s.From)
	}
	if len(d.Thresholds) > 0 {
		b.WriteString("\nTHRESHOLDS\n")
	}
	for _, t := range d.Thresholds {
		moved := ""
		if t.Value != t.Default {
			moved = " instead of " + t.Default
		}
		fmt.Fprintf(&b, "  %s %s: %s%s  %s\n", t.Check, t.Name, t.Value, moved, t.From)
	}
	if len(d.Off) > 0 {
		b.WriteString("\nTURNED OFF\n")
	}
	for _, id := range d.Off {
		fmt.Fprintf(&b, "  %s\n", id)
	}
	if len(d.Suppressions) > 0 {
		b.WriteString("\nSUPPRESSED\n")
	}
	for _, s := range d.Suppressions {
		what := s.Check
		if s.Target != "" {
			what += " on " + s.Target
		}
		if s.AtMost != "" {
			what += " up to " + s.AtMost
		}
		state := s.Ends()
		if s.Expired {
			state += ", EXPIRED: it no longer works"
		}
		fmt.Fprintf(&b, "  %s, %s: %s  %s\n", what, state, s.Reason, s.From)
	}
	return b.String()
}
