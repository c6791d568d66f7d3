package workloads

import (
	"cmp"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

// words are those of one kind of object.
type words struct {
	lag    string // what its controller has not done, after "2 Jobs"
	ok     string // that none of them is so, after "of 2 Jobs none"
	least  int    // how many must wait for it to be a verdict; 0 means 1
	source string // of the limits of what is held up
	grave  bool   // what is held up in the cluster's own namespaces is a warning
}

// most is how many reasons get a finding each.
const most = 5

const lagSource = "experience; a controller is told of changes by a watch and needs milliseconds"

// judge reports what waits for its controller, which is trouble of the control
// plane, and what something else holds up, which is a workload's own: advice,
// unless the cluster itself needs it.
func judge(p *checks.Pass, f *collectors.Fact[controllers.Loop], w words) {
	for t, l := range checks.Each(p, f) {
		switch {
		case l.Behind >= max(1, w.least):
			p.Warn(t, "%s %s for up to %s (%s)", checks.Count(l.Behind, l.Kind), w.lag, checks.Span(l.Oldest), l.Example).
				Saw(f, "wait for their controller", fmt.Sprint(l.Behind), fmt.Sprint(max(1, w.least)-1), lagSource).
				Saw(f, "oldest", checks.Span(l.Oldest), checks.Span(controllers.Patience), lagSource).
				Number("objects", float64(l.Behind)).Number("oldest", l.Oldest.Seconds()).Mark("lag", "queue="+l.Queue)
		case l.Undated > 0:
			p.Unknown(t, collectors.Gapf(collectors.Absent, "%s %s; since when is not known: they do not say when they were changed", checks.Count(l.Undated, l.Kind), w.lag))
		case l.Objects == 0:
			p.Nothing(t, "there are no objects of the kind %s", l.Kind)
		case l.Queue == "" && len(l.Held) > 0:
			p.Nothing(t, "what holds up some of %s is told of each", checks.Count(l.Objects, l.Kind))
		default:
			p.OK(t, "of %s none %s%s", checks.Count(l.Objects, l.Kind), w.ok, note(l)).
				Saw(f, "wait for their controller", fmt.Sprint(l.Behind), fmt.Sprint(max(1, w.least)-1), "")
		}
		held(p, f, l, w)
	}
}

// held reports what something else holds up, a finding a reason.
func held(p *checks.Pass, f *collectors.Fact[controllers.Loop], l controllers.Loop, w words) {
	for i, h := range l.Held[:min(len(l.Held), most)] {
		s := checks.Info
		if h.Bad || w.grave && h.System {
			s = checks.Warning
		}
		since := ""
		if h.Oldest > 0 {
			since = ", for up to " + checks.Span(h.Oldest)
		}
		more := ""
		if rest := len(l.Held) - most; rest > 0 && i == most-1 {
			more = fmt.Sprintf("; %s like it", checks.Count(rest, "more reason"))
		}
		v := p.Judge(collectors.Target{Component: collectors.Controllers, Name: h.Example}, s, "%s: %s%s%s", checks.Count(h.Count, l.Kind), h.By, since, more).
			Saw(f, h.By, checks.Count(h.Count, l.Kind), "", cmp.Or(w.source, "experience; no public source")).
			Number("objects", float64(h.Count)).Number("oldest", h.Oldest.Seconds())
		if h.Missing > 0 {
			v.Number("missing", float64(h.Missing))
		}
		if h.Mark != "" {
			v.Mark(h.Mark)
		}
	}
}

func note(l controllers.Loop) string {
	if l.Note == "" {
		return ""
	}
	return "; " + l.Note
}
