package evidence

import (
	"cmp"
	"slices"
	"time"
)

const (
	// Two samples that are further apart are no window: a rate over an hour
	// tells of the hour, not of now.
	maxApart = 10 * time.Minute
	minApart = time.Second
	// Go collects its garbage at least every two minutes.
	gcAtLeast = 150 * time.Second
)

// dateBody tells when a body was served, if the file's time is not at odds with
// what is in it: a file that was downloaded from a ticket has the time of that.
func (b *body) dateBody(modified time.Time) {
	switch {
	case !b.stamp.IsZero():
		b.at, b.exact = b.stamp, true
	case !modified.IsZero() && !b.at.IsZero() && !modified.Before(b.at.Add(-time.Second)) && modified.Before(b.at.Add(gcAtLeast)):
		b.at, b.exact = modified, true
	}
}

// same reports whether two bodies are of one process.
func (b *body) same(o *body) bool {
	return b.role == o.role && b.started != "" && b.started == o.started && (b.id == 0 || o.id == 0 || b.id == o.id)
}

// pair finds bodies of one process. The latest is what it is now, and the
// earliest of the minutes before is what to compare it with.
func (e *Evidence) pair() {
	var kept []*body
	for _, b := range e.bodies {
		if slices.ContainsFunc(kept, b.same) {
			continue
		}
		group := []*body{}
		for _, o := range e.bodies {
			if b.same(o) {
				group = append(group, o)
			}
		}
		if b.started == "" || len(group) == 1 {
			kept = append(kept, b)
			continue
		}
		kept = append(kept, e.pairOf(group))
	}
	e.bodies = kept
}

// pairOf returns the latest of several bodies of one process, with the one
// before it. Its processor time orders them: it only grows.
func (e *Evidence) pairOf(group []*body) *body {
	slices.SortStableFunc(group, func(a, b *body) int { return cmp.Compare(a.cpu, b.cpu) })
	last, rest := group[len(group)-1], group[:len(group)-1]
	for _, b := range rest {
		switch apart := last.at.Sub(b.at); {
		case b.cpu == last.cpu:
			e.skip(b.name, "it is the same as "+last.name)
		case last.before != nil:
			e.skip(b.name, "it is one more sample of the process of "+last.name)
		case e.apart > 0 && len(rest) == 1:
			b.at = last.at.Add(-e.apart)
			last.before = b
		case !b.exact || !last.exact || b.cpu > last.cpu:
			e.skip(b.name, "it is an earlier sample of the process of "+last.name+", and how much earlier is not known: give it, such as --window 30s")
		case apart > maxApart:
			e.skip(b.name, "it is an earlier sample of the process of "+last.name+", too long before to be counted from")
		case apart >= minApart:
			last.before = b
		default:
			e.skip(b.name, "it was taken at the same time as "+last.name)
		}
	}
	if last.before != nil {
		e.Window = max(e.Window, last.at.Sub(last.before.at))
	}
	return last
}
