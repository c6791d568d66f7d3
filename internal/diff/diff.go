// Package diff tells what a report says otherwise than an earlier one.
//
// The law holds here too: trouble that was not looked for again, or of which
// nothing can be known now, is not gone.
package diff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/report"
)

// key is what a verdict is on. Checks and targets keep their names.
type key struct {
	check  checks.ID
	target string
}

func keyOf(f report.Finding) key { return key{f.Check, f.Target.String()} }

// side is one report, by what its verdicts are on.
type side struct {
	by      map[key]report.Finding
	ran     map[checks.ID]bool // gave a verdict on something
	unknown map[checks.ID]bool // could not judge something
}

func read(r *report.Report) side {
	s := side{map[key]report.Finding{}, map[checks.ID]bool{}, map[checks.ID]bool{}}
	for _, f := range r.Findings {
		k := keyOf(f)
		if have, ok := s.by[k]; !ok || f.Status.Severity() > have.Status.Severity() {
			s.by[k] = f
		}
		s.ran[f.Check] = true
		s.unknown[f.Check] = s.unknown[f.Check] || f.Status == checks.Unknown
	}
	return s
}

// Compare tells what the report to says otherwise than from, which is older.
func Compare(from, to *report.Report) *report.Changes {
	out := &report.Changes{SchemaVersion: report.SchemaVersion, From: from.Side(), To: to.Side(), Differs: differs(from, to), Changes: []report.Change{}}
	a, b := read(from), read(to)
	for k, was := range a.by {
		is, ok := b.by[k]
		if !ok {
			if c, ok := vanished(was, b); ok {
				out.Changes = append(out.Changes, c)
			}
			continue
		}
		switch c, ok := changed(was, is); {
		case ok:
			out.Changes = append(out.Changes, c)
		case is.Status.Bad():
			out.Same++
		}
	}
	for k, is := range b.by {
		if _, ok := a.by[k]; ok {
			continue
		}
		if c, ok := appeared(is, a); ok {
			out.Changes = append(out.Changes, c)
		}
	}
	slices.SortFunc(out.Changes, compare)
	fold(out.Changes, from, to)
	out.Status = status(to, out.Changes)
	return out
}

// changed compares two verdicts on one thing.
func changed(was, is report.Finding) (report.Change, bool) {
	c := report.Change{Check: is.Check, Component: is.Component, Target: is.Target, Before: verdict(was), After: verdict(is)}
	switch {
	case is.Status.Bad() && was.Status.Bad():
		switch {
		case is.Status.Severity() > was.Status.Severity():
			c.Kind = report.Worse
		case is.Status.Severity() < was.Status.Severity():
			c.Kind = report.Better
		default:
			return c, false
		}
	case is.Status == checks.Suppressed:
		return c, false // it is as known as before, whatever it is
	case is.Status.Bad():
		c.Kind = report.NewTrouble
		if was.Status == checks.Suppressed {
			c.Note = "it was suppressed before, and is no longer"
		}
		if was.Status == checks.Unknown {
			c.Note = "it could not be judged before, so it may be older"
		}
	case is.Status == checks.Unknown:
		if was.Status == checks.Unknown {
			return c, false
		}
		c.Kind = report.Unseen
		if was.Status.Bad() {
			c.Note = "it was trouble, and may still be"
		}
	case was.Status.Bad():
		c.Kind = report.Gone
		if is.Status == checks.OutOfScope {
			c.Note = "there is no such thing to judge any more"
		}
	case was.Status == checks.Unknown:
		c.Kind = report.Seen
	default:
		return c, false
	}
	return c, true
}

// vanished is of a verdict of which the later report holds nothing.
func vanished(was report.Finding, to side) (report.Change, bool) {
	c := report.Change{Kind: report.Unseen, Check: was.Check, Component: was.Component, Target: was.Target, Before: verdict(was)}
	switch {
	case !was.Status.Bad():
		return c, false // what was well, or not known, and is not there: a pod that has ended
	case !to.ran[was.Check]:
		c.Note = "this rule was not run; it was trouble, and may still be"
	case to.unknown[was.Check]:
		c.Note = "this rule could not judge everything; it was trouble, and may still be"
	default:
		c.Kind = report.Gone
		c.Note = "the rule has run, and found nothing of that name"
	}
	return c, true
}

// appeared is of a verdict of which the earlier report holds nothing.
func appeared(is report.Finding, from side) (report.Change, bool) {
	c := report.Change{Kind: report.NewTrouble, Check: is.Check, Component: is.Component, Target: is.Target, After: verdict(is)}
	switch {
	case is.Status == checks.Unknown && !from.ran[is.Check]:
		return c, false // it was asked for the first time
	case is.Status == checks.Unknown:
		c.Kind = report.Unseen
	case !is.Status.Bad():
		return c, false
	case !from.ran[is.Check]:
		c.Note = "this rule was not run before, so it may be older"
	case from.unknown[is.Check]:
		c.Note = "this rule could not judge everything before, so it may be older"
	}
	return c, true
}

func verdict(f report.Finding) *report.Verdict {
	return &report.Verdict{Status: f.Status, Summary: f.Summary}
}

// Kinds are the kinds of change in the order in which they are told.
var Kinds = []report.ChangeKind{report.NewTrouble, report.Worse, report.Unseen, report.Better, report.Gone, report.Seen}

func compare(a, b report.Change) int {
	return cmp.Or(
		cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)),
		cmp.Compare(severity(b), severity(a)),
		cmp.Compare(a.Check, b.Check),
		cmp.Compare(a.Target.String(), b.Target.String()),
	)
}

// severity is that of the worse side of a change.
func severity(c report.Change) int {
	n := -1
	for _, v := range []*report.Verdict{c.Before, c.After} {
		if v != nil {
			n = max(n, v.Status.Severity())
		}
	}
	return n
}

// fold puts symptoms behind the problem that explains them, where that has
// changed in the same way: a disk that became slow is one piece of news.
func fold(cs []report.Change, from, to *report.Report) {
	at := map[key]int{} // 1 is the first
	for i, c := range cs {
		at[key{c.Check, c.Target.String()}] = i + 1
	}
	// What is gone or better is explained by what was; the rest by what is.
	for _, r := range []*report.Report{from, to} {
		for _, p := range r.Problems {
			root := at[key{p.Check, p.Target.String()}]
			if root == 0 {
				continue
			}
			under := func(check checks.ID, target collectors.Target) {
				i := at[key{check, target.String()}]
				if i == 0 || i == root || cs[i-1].Of != 0 || cs[root-1].Of != 0 {
					return
				}
				past := cs[i-1].Kind == report.Gone || cs[i-1].Kind == report.Better || cs[i-1].Kind == report.Seen
				if same := kin(cs[root-1].Kind, cs[i-1].Kind); same && past == (r == from) {
					cs[i-1].Of = root
				}
			}
			for _, a := range p.Also {
				under(a.Check, a.Target)
			}
			for _, s := range p.Symptoms {
				under(s.Check, s.Target)
			}
		}
	}
}

// kin reports whether a symptom's change goes without saying after its problem's.
func kin(problem, symptom report.ChangeKind) bool {
	switch problem {
	case report.NewTrouble, report.Worse:
		return symptom == report.NewTrouble || symptom == report.Worse || symptom == report.Unseen
	case report.Gone, report.Better:
		return symptom == report.Gone || symptom == report.Better || symptom == report.Seen
	}
	return symptom == problem
}

// status is what an exit code is made of: the worst of what is new, worse, or
// out of sight. A gap that the later report explains does not count, as in it.
func status(to *report.Report, cs []report.Change) checks.Status {
	explained := map[key]bool{}
	for _, f := range to.Findings {
		explained[keyOf(f)] = f.Explained
	}
	worst := checks.OK
	if len(to.Findings) == 0 {
		worst = checks.Unknown
	}
	for _, c := range cs {
		s := checks.OK
		switch c.Kind {
		case report.NewTrouble, report.Worse:
			s = c.After.Status
		case report.Unseen:
			if !explained[key{c.Check, c.Target.String()}] {
				s = checks.Unknown
			}
		}
		if s.Severity() > worst.Severity() {
			worst = s
		}
	}
	return worst
}

// differs says why two reports may not be of one cluster, or are the wrong way
// round.
func differs(from, to *report.Report) string {
	a, b := from.Cluster, to.Cluster
	switch {
	case a.Server != "" && b.Server != "" && a.Server != b.Server:
		return fmt.Sprintf("the reports are of different API servers, %s and %s, and may be of different clusters", a.Server, b.Server)
	case a.Server == "" && b.Server == "" && a.Name != "" && b.Name != "" && a.Name != b.Name:
		return fmt.Sprintf("the reports are of clusters of different names, %s and %s", a.Name, b.Name)
	case to.StartedAt.Before(from.StartedAt):
		return "the second report is older than the first"
	}
	return ""
}
