// Package pendingview writes what is known of pods that wait for a person.
package pendingview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/internal/fit"
	"github.com/ktriage/ktriage/internal/pending"
	"github.com/ktriage/ktriage/internal/term"
)

// width is that of a terminal on which nobody has touched anything.
const width = 80

// pad is what stands below a group's first line.
const pad = "           "

// titles are the turns in an operator's words.
var titles = map[pending.Turn]string{
	pending.NoScheduler:   "no scheduler acts",
	pending.Scheduler:     "the scheduler's turn",
	pending.Error:         "scheduler error",
	pending.Binding:       "binding refused",
	pending.Gate:          "gated",
	pending.Unschedulable: "unschedulable",
	pending.Preemption:    "waits for preemption",
	pending.NotStarted:    "kubelet silent",
	pending.Starting:      "starting",
	pending.Deletion:      "being deleted",
	pending.NotCreated:    "not created",
}

type text struct{ strings.Builder }

func (t *text) line(s string) { t.WriteString(strings.TrimRight(s, " ") + "\n") }

// wrapped writes a paragraph behind first, its other lines behind rest.
func (t *text) wrapped(first, rest, s string) {
	for i, l := range term.Wrap(term.Clean(s), width-len([]rune(rest))) {
		if i > 0 {
			first = rest
		}
		t.line(first + l)
	}
}

// command writes a command as it is to be typed, which no line break may cut.
func (t *text) command(indent, c string) { t.line(indent + term.Clean(c)) }

// Text writes the table, a few lines for each group.
func Text(tb pending.Table) string {
	var t text
	switch {
	case len(tb.Groups) == 0 && unknown(tb, "pending pods"):
		t.line("whether pods wait is not known")
	case len(tb.Groups) == 0:
		t.line("no pod waits, and none is kept from being created")
	default:
		t.wrapped("", "  ", summary(tb))
	}
	for _, g := range tb.Groups {
		t.line("")
		t.group(g)
	}
	t.rest(tb)
	return t.String()
}

func summary(tb pending.Table) string {
	var parts []string
	if tb.Pending > 0 {
		parts = append(parts, checks.Count(tb.Pending, "pod")+" "+verb(tb.Pending, "waits", "wait"))
	}
	if tb.NotCreated > 0 {
		parts = append(parts, fmt.Sprintf("%s %s not created", checks.Count(tb.NotCreated, "pod"), verb(tb.NotCreated, "is", "are")))
	}
	return strings.Join(parts, ", ") + ": " + checks.Count(len(tb.Groups), "cause")
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func unknown(tb pending.Table, what string) bool {
	return slices.ContainsFunc(tb.Unseen, func(u pending.Unseen) bool { return u.What == what })
}

func (t *text) group(g pending.Group) {
	head := fmt.Sprintf("%-10s ", checks.Count(g.Pods, "pod"))
	t.wrapped(head, pad, fmt.Sprintf("%s for %s: %s", titles[g.Turn], upTo(g), g.Cause))
	t.said(pad, g)
	t.wrapped(pad+"of ", pad+"   ", who(g))
	for _, e := range g.Evidence {
		t.wrapped(pad+"- ", pad+"  ", e)
	}
	for i, c := range g.Changes {
		if i == 1 && g.Turn != pending.NotCreated {
			break // the first is the smallest; all are shown for one pod
		}
		label := "smallest change"
		switch {
		case i > 0:
			label = ""
		case g.Unproved:
			label = "next"
		case g.From == pending.Model && (len(g.Workloads) > 1 || g.More > 0):
			label += " for " + g.Example
		}
		if label != "" {
			label += ": "
		}
		t.wrapped(pad, pad+"  ", label+c.Summary)
		for _, cmd := range c.Commands {
			t.command(pad+"  ", cmd)
		}
	}
}

func upTo(g pending.Group) string {
	s := checks.Span(g.Oldest.Duration())
	if g.Pods > 1 {
		return "up to " + s
	}
	return s
}

// said marks what is history: the scheduler's words of some time ago.
func (t *text) said(indent string, g pending.Group) {
	switch {
	case g.From == pending.Message && g.Turn == pending.NotCreated && g.SaidAgo > 0:
		t.wrapped(indent, indent+"  ", "(as the API server said "+checks.Span(g.SaidAgo.Duration())+" ago)")
	case g.From == pending.Message && g.Turn != pending.NotCreated && g.Said != "":
		when := "some time ago"
		if g.SaidAgo > 0 {
			when = checks.Span(g.SaidAgo.Duration()) + " ago"
		}
		s := "so the scheduler said " + when
		if g.Turn == pending.Unschedulable {
			s += "; what is so now could not be worked out"
		}
		t.wrapped(indent, indent+"  ", "("+s+")")
	}
}

// who names the owners of a group's pods.
func who(g pending.Group) string {
	var out []string
	for _, w := range g.Workloads {
		s := w.Namespace + "/" + w.Name
		if w.Kind != "" {
			s = w.Kind + " " + s
		}
		if w.Pods != g.Pods {
			s += fmt.Sprintf(" (%d)", w.Pods)
		}
		out = append(out, s)
	}
	s := strings.Join(out, ", ")
	if g.More > 0 {
		s += fmt.Sprintf(" and %d more", g.More)
	}
	if g.Turn != pending.NotCreated && !(len(g.Workloads) == 1 && g.Workloads[0].Kind == "") {
		s += ", such as " + g.Example
	}
	return s
}

// One writes all that is known of one pod.
func One(tb pending.Table, g pending.Group, w pods.Waiter) string {
	var t text
	owner := ""
	if w.Owner.Kind != "" {
		owner = " of " + w.Owner.Kind + " " + w.Owner.Name
	}
	t.wrapped("", "  ", fmt.Sprintf("pod %s%s, pending for %s", w.ID(), owner, checks.Span(tb.At.Sub(w.Created))))
	t.line("")
	t.wrapped("WAITS FOR  ", pad, titles[g.Turn]+": "+g.Cause)
	t.said(pad, g)
	for _, e := range g.Evidence {
		t.wrapped(pad+"- ", pad+"  ", e)
	}
	if g.From != pending.Message && g.Said != "" {
		when := ""
		if g.SaidAgo > 0 {
			when = " " + checks.Span(g.SaidAgo.Duration()) + " ago"
		}
		t.wrapped(pad+"- ", pad+"  ", "the scheduler said"+when+": "+g.Said)
	}
	if g.Verdict != nil {
		t.nodes(g.Verdict.Verdict)
	}
	t.ways(g)
	t.rest(tb)
	return t.String()
}

// nodes writes each group of nodes with all that keeps the pod off them.
func (t *text) nodes(v fit.Verdict) {
	if len(v.Blocked) > 0 {
		t.line("")
		t.line("WHATEVER THE NODE")
		for _, f := range v.Blocked {
			t.wrapped("  - ", "    ", say(f))
		}
	}
	if v.NumNodes == 0 {
		return
	}
	t.line("")
	t.line(fmt.Sprintf("NODES (%d)", v.NumNodes))
	if len(v.Fits) > 0 {
		t.wrapped(fmt.Sprintf("%5d  ", len(v.Fits)), "       ", checks.List(v.Fits, 4))
		t.line("         - nothing there is in the way")
	}
	for i, g := range v.Groups {
		names := checks.List(g.Nodes, 4)
		if i == 0 && len(v.Groups) > 1 && len(v.Fits) == 0 {
			names += " (nearest to fitting)"
		}
		t.wrapped(fmt.Sprintf("%5d  ", len(g.Nodes)), "       ", names)
		for _, f := range g.Failures {
			s := say(f)
			if len(g.Nodes) > 1 && (f.Resource != nil || f.Port != nil || f.Spread != nil) {
				s += " (of " + g.Nodes[0] + ")" // whose numbers they are
			}
			t.wrapped("         - ", "           ", s)
		}
	}
}

func say(f fit.Failure) string {
	if f.Detail == "" {
		return f.Reason
	}
	if r := f.Resource; r != nil && !strings.Contains(f.Detail, r.Name) {
		return r.Name + ": " + f.Detail
	}
	return f.Detail
}

// ways writes the changes, the smallest first.
func (t *text) ways(g pending.Group) {
	if len(g.Changes) == 0 {
		return
	}
	t.line("")
	switch {
	case g.Unproved:
		t.line("WHAT TO DO NEXT")
	case len(g.Changes) == 1:
		t.line("WHAT WOULD GET IT RUNNING")
	default:
		t.line("WHAT WOULD GET IT RUNNING, each by itself, the smallest first")
	}
	for i, c := range g.Changes {
		s := c.Summary
		if x := consequence(c); x != "" {
			s += " (" + x + ")"
		}
		t.wrapped(fmt.Sprintf("%3d. ", i+1), "     ", s)
		for _, cmd := range c.Commands {
			t.command("     ", cmd)
		}
	}
}

// consequence is what a change does besides helping the pod.
func consequence(c pending.Change) string {
	var parts []string
	if c.Nodes > 1 {
		parts = append(parts, fmt.Sprintf("it then fits on %d nodes", c.Nodes))
	}
	switch c.Harm {
	case fit.Others:
		parts = append(parts, "other pods may be placed otherwise from then on")
	case fit.Disrupts:
		parts = append(parts, "stops running pods")
	}
	if c.Waits != "" {
		parts = append(parts, c.Waits)
	}
	return strings.Join(parts, "; ")
}

// rest writes what is not known.
func (t *text) rest(tb pending.Table) {
	if len(tb.NotModelled) > 0 {
		t.line("")
		t.wrapped("not modelled: ", "  ", strings.Join(tb.NotModelled, ", "))
	}
	if tb.NotListed > 0 {
		t.line("")
		t.line(fmt.Sprintf("%s more wait and are not listed", checks.Count(tb.NotListed, "pod")))
	}
	if len(tb.Unseen) == 0 {
		return
	}
	t.line("")
	t.line("NOT SEEN")
	for _, u := range merge(tb.Unseen) {
		s := string(u.Reason)
		if u.Detail != "" {
			s += ": " + u.Detail
		}
		if u.Remedy != "" {
			s += " (" + u.Remedy + ")"
		}
		t.wrapped("- ", "  ", u.What+": "+s)
	}
}

// absent is how a recording, or loose evidence, begins to say what it does not
// hold, and what is said of several such things.
var absent = map[string]string{"the recording does not hold ": "the recording does not hold it", "the evidence holds no ": "the evidence holds none"}

// merge puts together what is not seen for the same reason.
func merge(us []pending.Unseen) []pending.Unseen {
	var out []pending.Unseen
	for _, u := range us {
		for begins, short := range absent {
			if u.Reason == collectors.NotAsked && strings.HasPrefix(u.Detail, begins) {
				u.Detail, u.Remedy = short, ""
			}
		}
		i := slices.IndexFunc(out, func(o pending.Unseen) bool { return o.Reason == u.Reason && o.Detail == u.Detail })
		if i >= 0 {
			out[i].What += ", " + u.What
			continue
		}
		out = append(out, u)
	}
	return out
}
