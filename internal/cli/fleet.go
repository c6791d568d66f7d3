package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/config"
	"github.com/ktriage/ktriage/internal/render"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

// fleetFlags say which clusters are judged side by side.
type fleetFlags struct {
	contexts []string
	all      bool
	parallel int
	dir      string
	summary  bool
}

func (f *fleetFlags) add(fs *pflag.FlagSet) {
	fs.StringSliceVar(&f.contexts, "contexts", nil, "judge the clusters of these contexts side by side, by `NAMES`; * stands for any text")
	fs.BoolVar(&f.all, "all-contexts", false, "judge the clusters of all contexts of the kubeconfig side by side")
	fs.IntVar(&f.parallel, "parallel", 4, "with several contexts: how many clusters at a time at most")
	fs.StringVar(&f.dir, "reports", "", "with several contexts: also write each report to CONTEXT.json in this `FOLDER`")
	fs.BoolVar(&f.summary, "summary", false, "with several contexts: show the table alone, without the report of each")
}

func (f *fleetFlags) asked() bool { return f.all || len(f.contexts) > 0 }

// FleetSchemaVersion is of the JSON document of several clusters. Within it, fields
// are only added.
const FleetSchemaVersion = "1"

// A Fleet is the document of several clusters.
type Fleet struct {
	SchemaVersion string        `json:"schemaVersion"`
	Status        checks.Status `json:"status"`   // of the worst, in the order of exit codes
	Clusters      []FleetMember `json:"clusters"` // the worst first
}

// A FleetMember is one of them.
type FleetMember struct {
	Context string        `json:"context"`
	Status  checks.Status `json:"status"`
	// Error says why there is no report.
	Error  string         `json:"error,omitempty"`
	Report *report.Report `json:"report,omitempty"`
	notes  string         // what the run said to its user
}

// ofOneCluster are flags that tell of one cluster, and would be told of each.
var ofOneCluster = []string{
	"context", "cluster", "server", "user", "token", "certificate-authority", "client-certificate", "client-key", "tls-server-name", "node-name",
	"etcd-endpoints", "etcd-cacert", "etcd-cert", "etcd-key", "from", "at", "record", "baseline", "node", "host-root",
}

// ofTheWhole are flags that this process obeys, and not the run of each cluster.
var ofTheWhole = []string{"contexts", "all-contexts", "parallel", "reports", "summary", "output", "fail-on", "verbose", "advice", "color"}

// fleet runs ktriage doctor for each context, as if it were asked for that alone:
// what the configuration says of a context holds, one that does not answer keeps
// nobody waiting, and what one run does not survive is told of that cluster.
func (a *app) fleet(ctx context.Context, flags *pflag.FlagSet, f *fleetFlags, out *outputFlags, bar int) error {
	kubeconfig, _ := flags.GetString("kubeconfig")
	names, err := f.names(kubeconfig)
	if err != nil {
		return err
	}
	as := form{out.format, []string{"text", "json", "yaml"}}
	if as.check() != nil {
		return usageError{hinted{usagef("-o %s is of one cluster; of several there are text, json and yaml", out.format), "write the reports with --reports FOLDER, and each with: " + a.name() + " render -o " + out.format + " FOLDER/CONTEXT.json"}}
	}
	if f.parallel < 1 {
		return usagef("--parallel must be at least 1, got %d", f.parallel)
	}
	args := []string{a.Args[0], "doctor", "-o", "json"}
	var wrong error
	flags.Visit(func(fl *pflag.Flag) {
		switch {
		case slices.Contains(ofOneCluster, fl.Name):
			wrong = cmp.Or(wrong, error(usageError{hinted{usagef("--%s is of one cluster, and several are asked for", fl.Name), "what differs by cluster goes into the configuration, below contexts: " + a.name() + " config view"}}))
		case slices.Contains(ofTheWhole, fl.Name):
		default:
			args = append(args, given(fl)...)
		}
	})
	if wrong != nil {
		return wrong
	}
	if f.dir != "" {
		if err := os.MkdirAll(f.dir, 0o755); err != nil {
			return fmt.Errorf("--reports: %w", err)
		}
	}
	doc := Fleet{SchemaVersion: FleetSchemaVersion, Status: checks.OK, Clusters: make([]FleetMember, len(names))}
	var wait sync.WaitGroup
	var mu sync.Mutex
	done, free := 0, make(chan struct{}, f.parallel)
	for i, name := range names {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			m := a.member(ctx, name, append(slices.Clone(args), "--context="+name))
			doc.Clusters[i] = m
			mu.Lock()
			defer mu.Unlock()
			done++
			a.progressNote("%s is judged, %d of %d", name, done, len(names))
		})
	}
	wait.Wait()
	slices.SortStableFunc(doc.Clusters, func(a, b FleetMember) int {
		return cmp.Or(cmp.Compare(b.Status.Severity(), a.Status.Severity()), cmp.Compare(b.count(checks.Critical), a.count(checks.Critical)), cmp.Compare(a.Context, b.Context))
	})
	for _, m := range doc.Clusters {
		if m.Status.Severity() > doc.Status.Severity() {
			doc.Status = m.Status
		}
		if m.notes != "" {
			a.note("%s: %s", m.Context, strings.TrimSpace(m.notes))
		}
	}
	if err := f.save(doc.Clusters); err != nil {
		return err
	}
	var broken error
	err = as.write(a, doc, func(bool) (text string) {
		text, broken = f.text(a, out, doc)
		return text
	})
	if err := cmp.Or(broken, err); err != nil {
		return err
	}
	return exitFor(doc.Status, bar)
}

// names are the contexts that are asked for, each once.
func (f *fleetFlags) names(kubeconfig string) ([]string, error) {
	known := contexts(kubeconfig).names
	if len(known) == 0 {
		return nil, usageError{hinted{usagef("the kubeconfig has no contexts"), "see: kubectl config get-contexts"}}
	}
	if f.all {
		if len(f.contexts) > 0 {
			return nil, usagef("--all-contexts and --contexts exclude each other")
		}
		return known, nil
	}
	var out []string
	for _, pattern := range f.contexts {
		found := false
		for _, name := range known {
			if report.Glob(pattern, name) {
				found = true
				if !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
		if !found {
			return nil, usageError{hinted{usagef("--contexts: the kubeconfig has no context %q", pattern), "it has: " + strings.Join(known, ", ")}}
		}
	}
	return out, nil
}

// given is a flag as it was given.
func given(f *pflag.Flag) []string {
	if many, ok := f.Value.(pflag.SliceValue); ok {
		var out []string
		for _, v := range many.GetSlice() {
			out = append(out, "--"+f.Name+"="+v)
		}
		return out
	}
	return []string{"--" + f.Name + "=" + f.Value.String()}
}

// member judges one cluster. The environment's etcd and node are those of one
// cluster, and not said to be this.
func (a *app) member(ctx context.Context, name string, args []string) FleetMember {
	var out, errs bytes.Buffer
	in := a.Invocation
	in.Args, in.Stdin, in.Stdout, in.Stderr, in.StdoutTTY, in.StderrTTY = args, strings.NewReader(""), &out, &errs, false, false
	in.Getenv = func(key string) string {
		for _, flag := range config.Flags() {
			if slices.Contains(ofOneCluster, flag) && (key == config.Variable(flag) || key == config.Other(flag)) {
				return ""
			}
		}
		return a.Getenv(key)
	}
	run(ctx, in)
	m := FleetMember{Context: name, Status: checks.Unknown}
	r, err := report.Read(&out)
	if err != nil { // it ended before there was a report, and said why
		m.Error = strings.TrimSpace(errs.String())
		if m.Error == "" {
			m.Error = "there is no report: " + err.Error()
		}
		return m
	}
	m.Status, m.Report, m.notes = r.Status, r, errs.String()
	return m
}

func (m *FleetMember) count(s checks.Status) int {
	n := 0
	if m.Report != nil {
		for _, p := range m.Report.Problems {
			if p.Status == s {
				n++
			}
		}
	}
	return n
}

// save writes each report to a file of its own.
func (f *fleetFlags) save(ms []FleetMember) error {
	if f.dir == "" {
		return nil
	}
	var errs []error
	taken := map[string]bool{}
	for _, m := range ms {
		if m.Report == nil {
			continue
		}
		var b bytes.Buffer
		if err := render.JSON(&b, m.Report); err != nil {
			return err
		}
		errs = append(errs, saveFile(filepath.Join(f.dir, fileName(m.Context, taken)), b.Bytes()))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("--reports: %w", err)
	}
	return nil
}

// fileName is a name for a context's file that no other has: contexts are called
// as anybody likes, arn:aws:eks:…/prod among them.
func fileName(context string, taken map[string]bool) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, context)
	plain = cmp.Or(strings.TrimLeft(plain, "."), "_")
	name := plain + ".json"
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d.json", plain, n)
	}
	taken[name] = true
	return name
}

// text is the table, and the report of each cluster that is not well.
func (f *fleetFlags) text(a *app, out *outputFlags, doc Fleet) (string, error) {
	var b strings.Builder
	b.WriteString(doc.table())
	for _, m := range doc.Clusters {
		if f.summary || m.Report == nil || m.Report.Status == checks.OK && !out.verbose {
			continue
		}
		fmt.Fprintf(&b, "\n== %s\n", term.Clean(m.Context))
		if err := render.Render(&b, "text", m.Report, out.options(a)); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// table has a line for each cluster: how it is, and what is first.
func (d *Fleet) table() string {
	rows := [][4]string{{"CLUSTER", "STATUS", "PROBLEMS", "FIRST"}}
	bad, unknown := 0, 0
	for i := range d.Clusters {
		m := &d.Clusters[i]
		row := [4]string{term.Clean(m.Context), strings.ToUpper(m.Status.String()), "-", ""}
		switch {
		case m.Report == nil:
			row[3] = m.Error
		case len(m.Report.Problems) > 0:
			p := m.Report.Problems[0]
			row[2] = m.problems()
			row[3] = p.Target.String() + ": " + p.Summary
		case m.Report.Cluster.Mode == "nothing":
			row[3] = "nothing answers" + m.why()
		case m.Report.Status == checks.Unknown:
			row[3] = fmt.Sprintf("no trouble in what was seen; %d verdicts not judged", m.Report.Totals.Unknown)
		}
		row[3] = term.Clean(strings.Join(strings.Fields(row[3]), " "))
		rows = append(rows, row)
		switch {
		case m.count(checks.Critical)+m.count(checks.Warning) > 0:
			bad++
		case m.Status == checks.Unknown:
			unknown++
		}
	}
	var wide [3]int
	for _, r := range rows {
		for i := range wide {
			wide[i] = max(wide[i], term.Columns(r[i]))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d clusters: %d with problems, %d not known, %d ok\n\n", len(d.Clusters), bad, unknown, len(d.Clusters)-bad-unknown)
	for _, r := range rows {
		var line strings.Builder
		for i, w := range wide {
			line.WriteString(r[i] + strings.Repeat(" ", w-term.Columns(r[i])+2))
		}
		b.WriteString(strings.TrimRight(line.String()+r[3], " ") + "\n")
	}
	return b.String()
}

// problems counts those of a cluster.
func (m *FleetMember) problems() string {
	var parts []string
	for _, s := range []checks.Status{checks.Critical, checks.Warning} {
		if n := m.count(s); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}

// why is what the first verdict that is missing lacked.
func (m *FleetMember) why() string {
	for _, f := range m.Report.Findings {
		if f.Status == checks.Unknown && f.Gap != nil && f.Gap.Detail != "" {
			return ": " + f.Gap.Detail
		}
	}
	return ""
}
