package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/host"
	"github.com/ktriage/ktriage/internal/diagnose"
	"github.com/ktriage/ktriage/internal/vitals"
)

// A Run is what a report is made of.
type Run struct {
	Version  string // of ktriage
	Source   string // "live", or the recording's name
	Duration time.Duration
	Cost     collectors.Cost
	Snapshot *collectors.Snapshot
	Checks   []*checks.Check
	Findings []checks.Finding
	Vitals   []vitals.Vital
	// Suppressions and Off come from the configuration.
	Suppressions []Suppression
	Off          []checks.ID
}

// Facts are those that the report itself reads, for its header.
var Facts = []collectors.Any{cluster.HowReached, cluster.Version, cluster.NodeSummary, cluster.WhatKind}

// New makes the document of a run.
func New(r Run) *Report {
	findings, by, told := suppress(r.Findings, r.Suppressions, r.Snapshot.At)
	r.Findings = findings
	d := diagnose.Diagnose(seen(findings), diagnose.Links)
	rep := &Report{
		SchemaVersion: SchemaVersion, Tool: Tool{r.Version}, Source: r.Source,
		StartedAt: r.Snapshot.At.UTC(), DurationSeconds: round(r.Duration), WindowSeconds: round(r.Snapshot.Window),
		Vitals: append([]vitals.Vital{}, r.Vitals...), Cost: r.Cost,
		Problems: []Problem{}, Findings: []Finding{}, Suppressions: told, Off: r.Off,
	}
	rep.Cluster = newCluster(r)
	byID := map[checks.ID]*checks.Check{}
	for _, c := range r.Checks {
		byID[c.ID] = c
	}
	rep.Status = status(r.Findings, d)
	explained := map[string]bool{}
	for _, p := range d.Problems {
		rep.Problems = append(rep.Problems, newProblem(p, byID[p.Root.Check]))
		for _, s := range p.Symptoms {
			explained[string(s.Check)+" "+s.Target.String()] = true
		}
	}
	for i, f := range r.Findings {
		rep.Findings = append(rep.Findings, Finding{
			Check: f.Check, Component: component(byID[f.Check], f), Target: f.Target, Status: f.Status, Summary: f.Summary, Gap: f.Gap, Evidence: f.Evidence,
			Explained:  explained[string(f.Check)+" "+f.Target.String()] && f.Status != checks.OK && f.Status != checks.Suppressed,
			Suppressed: by[i],
		})
		rep.Totals.add(f.Status)
	}
	return rep
}

// status is that of the worst finding. A gap that a problem explains does not
// count: what a dead process cannot be asked is no worse than that it is dead.
func status(fs []checks.Finding, d diagnose.Diagnosis) checks.Status {
	counted := slices.Concat(d.Unknown, d.Rest)
	for _, f := range fs {
		if f.Status.Bad() || f.Status == checks.Suppressed {
			counted = append(counted, f)
		}
	}
	return checks.Worst(counted)
}

func round(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

func component(c *checks.Check, f checks.Finding) collectors.Component {
	if c != nil {
		return c.Component
	}
	return f.Target.Component
}

func (t *Totals) add(s checks.Status) {
	switch s {
	case checks.OK:
		t.OK++
	case checks.Info:
		t.Info++
	case checks.Warning:
		t.Warning++
	case checks.Critical:
		t.Critical++
	case checks.OutOfScope:
		t.OutOfScope++
	case checks.Suppressed:
		t.Suppressed++
	default:
		t.Unknown++
	}
}

func newProblem(p diagnose.Problem, c *checks.Check) Problem {
	f := p.Root
	out := Problem{
		Check: f.Check, Component: component(c, f), Target: f.Target, Status: p.Status(), Summary: f.Summary,
		Evidence: append([]checks.Evidence{}, f.Evidence...), Symptoms: []Symptom{}, AlsoPossible: []Also{}, Remedies: []Remedy{},
		Doc: "ktriage explain " + string(f.Check), Because: p.Why(),
	}
	for _, u := range p.Unseen {
		out.Unseen = append(out.Unseen, Hidden{u.What, u.Why})
	}
	for _, s := range p.Siblings {
		out.Also = append(out.Also, also(s))
	}
	for i, s := range p.Symptoms {
		out.Symptoms = append(out.Symptoms, Symptom{s.Check, s.Target, s.Status, s.Summary, s.Because, s.Of, p.Chain(i)})
	}
	for _, a := range p.AlsoPossible {
		out.AlsoPossible = append(out.AlsoPossible, also(a))
	}
	if c != nil {
		for _, r := range c.Remedies {
			out.Remedies = append(out.Remedies, Remedy{expand(r.Title, f.Target), expand(r.Command, f.Target), r.Risk, r.Recipe})
		}
	}
	return out
}

func also(f checks.Finding) Also { return Also{f.Check, f.Target, f.Status, f.Summary} }

// expand fills a command's placeholders. Names come from the cluster: one that
// is no name of Kubernetes' is quoted for the shell that it may be pasted to.
func expand(command string, t collectors.Target) string {
	ns, obj, ok := strings.Cut(t.Name, "/")
	if !ok {
		// What a finding of many is about is in none, and whoever reads it fills it in.
		ns, obj = "NAMESPACE", t.Name
	}
	return strings.NewReplacer(
		"{name}", quote(t.Name), "{node}", quote(cmp.Or(t.Node, t.Name)), "{ns}", quote(ns), "{obj}", quote(obj),
	).Replace(command)
}

func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:", r)
	}
	if s == "" || !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func newCluster(r Run) Cluster {
	s := r.Snapshot
	if n, gap := host.Nodes.One(s); gap == nil {
		return Cluster{Name: n.Name, Mode: "node", Distribution: "unknown", Reached: []Reached{}}
	}
	access, _ := cluster.HowReached.One(s)
	version, versionGap := cluster.Version.One(s)
	nodes, _ := cluster.NodeSummary.One(s)
	kind, kindGap := cluster.WhatKind.One(s)
	c := Cluster{Name: access.Name, Server: access.Server, Version: version.Git, Nodes: nodes.Count, Reached: reached(r)}
	if kindGap == nil {
		c.Distribution = string(kind.Distribution)
	}
	etcd := slices.ContainsFunc(c.Reached, func(x Reached) bool { return x.Component == collectors.Etcd && x.Answered > 0 })
	switch {
	case versionGap != nil && etcd:
		c.Mode = "etcd-only"
	case versionGap != nil:
		c.Mode = "nothing"
	case kind.Managed():
		c.Mode = "managed"
	case etcd:
		c.Mode = "full"
	default:
		c.Mode = "api-only"
	}
	return c
}

// reached counts the targets of the main components, and those that answered
// something: that gave a number, or a verdict other than that they are down.
func reached(r Run) []Reached {
	out := []Reached{}
	for _, c := range []collectors.Component{collectors.APIServer, collectors.Etcd, collectors.Scheduler, collectors.Controllers} {
		known, answered, dead := map[string]bool{}, map[string]bool{}, map[string]bool{}
		see := func(t collectors.Target, answers bool) {
			if t.Component != c || t.Name == "" || strings.Contains(t.Name, "/") { // an object is no instance
				return
			}
			known[t.Name] = true
			if answers {
				answered[t.Name] = true
			}
		}
		for _, f := range r.Findings {
			down := f.Status.Bad() && (strings.HasSuffix(string(f.Check), "-down") || strings.HasSuffix(string(f.Check), "-unreachable") || f.Check == "etcd-unstarted-member")
			if f.Status != checks.OutOfScope {
				see(f.Target, f.Status != checks.Unknown && !down)
			}
			if down && f.Target.Component == c {
				dead[f.Target.Name] = true
			}
		}
		for _, v := range r.Vitals {
			see(v.Target, true)
		}
		for name := range dead { // what is told of it by others is no answer of its own
			delete(answered, name)
		}
		if len(known) > 0 {
			out = append(out, Reached{c, len(answered), len(known)})
		}
	}
	return out
}
