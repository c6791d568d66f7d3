package evidence

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/ktriage/ktriage/collectors"
)

// A Part is evidence that was given by itself: a folder, an archive or a file.
type Part struct {
	Name  string
	Files []File
}

// Looks puts parts of evidence together. Parts that tell of different things are
// one look. Of parts that tell of the same things, such as the same pods, those
// that are minutes apart are one look too, for which the later counts and the
// samples of a process give a window; those that are further apart are looks of
// their own. They come in the order of their time.
func Looks(parts []Part, o Options) ([]*Evidence, error) {
	if len(parts) == 1 {
		e, err := New(parts[0].Files, o)
		return []*Evidence{e}, err
	}
	type piece struct {
		Part
		alone *Evidence
	}
	var pieces []piece
	var errs []error
	for _, p := range parts {
		if err := p.again(); err != nil {
			return nil, err
		}
		e, err := New(p.Files, o)
		if err != nil {
			errs = append(errs, partError{p.Name, err})
			continue
		}
		pieces = append(pieces, piece{p, e})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	// Files of one time may come in any order; what is told last is what is.
	slices.SortStableFunc(pieces, func(a, b piece) int { return a.alone.At.Compare(b.alone.At) })
	var groups [][]piece
	for _, p := range pieces {
		n := len(groups) - 1
		if n < 0 || slices.ContainsFunc(groups[n], func(o piece) bool {
			return p.alone.At.Sub(o.alone.At) > maxApart && p.alone.overlaps(o.alone)
		}) {
			groups = append(groups, []piece{p})
			continue
		}
		groups[n] = append(groups[n], p)
	}
	var out []*Evidence
	for _, g := range groups {
		if len(g) == 1 {
			out = append(out, g[0].alone)
			continue
		}
		var files []File
		for rank, p := range g {
			for _, f := range p.Files {
				if len(p.Files) > 1 {
					f.Name = p.Name + "/" + f.Name
				}
				f.rank = rank
				files = append(files, f)
			}
		}
		e, err := New(files, o)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// A partError says which of several parts could not be read.
type partError struct {
	name string
	err  error
}

func (e partError) Error() string { return e.name + ": " + e.err.Error() }
func (e partError) Unwrap() error { return e.err }

// again makes files that can be read once into files that can be read again:
// which parts belong together is known after all were read.
func (p Part) again() error {
	for i := range p.Files {
		f := &p.Files[i]
		if !f.Once {
			continue
		}
		c, err := f.Open()
		if err != nil {
			return err
		}
		b, err := io.ReadAll(io.LimitReader(c, maxStored+1))
		if err := errors.Join(err, c.Close()); err != nil {
			return err
		}
		if len(b) > maxStored {
			return partError{p.Name, errTooMuch}
		}
		*f = Bytes(f.Name, f.Modified, b)
	}
	return nil
}

// overlaps reports whether two parts tell of the same things.
func (e *Evidence) overlaps(o *Evidence) bool {
	for kind, h := range e.objects {
		other := o.objects[kind]
		if other == nil || kind == "v1/Event" { // events are kept for an hour
			continue
		}
		for name := range h.index {
			if _, ok := other.index[name]; ok {
				return true
			}
		}
	}
	return slices.ContainsFunc(e.bodies, func(b *body) bool { return slices.ContainsFunc(o.bodies, b.same) }) ||
		slices.ContainsFunc(e.statuses, func(s *status) bool {
			return slices.ContainsFunc(o.statuses, func(t *status) bool { return s.id == t.id })
		})
}

// supersede drops what an earlier part listed of a kind and namespace that a
// later one lists too: what is there no more is in the earlier only.
func (e *Evidence) supersede() {
	for _, h := range e.objects {
		latest := map[string]int{}
		for _, o := range h.items {
			if o.listed {
				latest[o.GetNamespace()] = max(latest[o.GetNamespace()], o.rank)
			}
		}
		h.items = slices.DeleteFunc(h.items, func(o *object) bool { return o.listed && o.rank < latest[o.GetNamespace()] })
		h.index = map[string]int{}
		for i, o := range h.items {
			h.index[o.GetNamespace()+"/"+o.GetName()] = i
		}
	}
	// Statuses and reports of one process: the later ones.
	later := map[uint64]int{}
	for _, s := range e.statuses {
		later[s.id] = max(later[s.id], s.rank)
	}
	e.statuses = slices.DeleteFunc(e.statuses, func(s *status) bool { return s.rank < later[s.id] })
}

// Behind makes one Source of a recording and of loose evidence: what the first
// does not hold, such as logs, the evidence may.
func (e *Evidence) Behind(first collectors.Source) collectors.Source { return behind{first, e} }

type behind struct {
	first collectors.Source
	e     *Evidence
}

// Fetch answers from the first that can.
func (b behind) Fetch(ctx context.Context, q collectors.Request) (*collectors.Reply, error) {
	r, err := b.first.Fetch(ctx, q)
	if g := collectors.AsGap(err, collectors.Bug); g == nil || g.Reason != collectors.NotAsked {
		return r, err
	}
	if q.Page != "" {
		return r, err
	}
	if r, err := b.e.Fetch(ctx, q); err == nil {
		return r, nil
	}
	return r, err
}
