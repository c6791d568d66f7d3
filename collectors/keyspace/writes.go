package keyspace

import (
	"context"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// Writes is what was written while the scan watched, out of the history that
// etcd keeps of its own accord until it is compacted.
type Writes struct {
	From, To int64 // revisions, the first excluded
	Elapsed  time.Duration
	Cut      bool // there were more than are read
	Events   int64
	Bytes    int64 // of keys and values written
	ByPrefix map[string]*Written
	Hot      []Key // the keys that were written most often
}

// Written is what was written to one group.
type Written struct {
	Group
	Events  int64
	Created int64
	Deleted int64
	Bytes   int64
}

// PerSecond is a rate over the time that was watched.
func (w Writes) PerSecond(n int64) float64 {
	if w.Elapsed <= 0 {
		return 0
	}
	return float64(n) / w.Elapsed.Seconds()
}

// writes reads the history from when the scan began to now, after the window.
func (s *scan) writes(ctx context.Context) {
	fail := func(err error) { s.out.WritesNo = collectors.AsGap(err, collectors.Unreachable) }
	if s.Window <= 0 {
		fail(collectors.Gapf(collectors.NotAsked, "no window"))
		return
	}
	// What the pages took counts, and what was waited for between them.
	rev, at, err := s.last(ctx)
	if err != nil {
		fail(err)
		return
	}
	w := &Writes{From: s.out.Revision, To: rev, Elapsed: at.Sub(s.out.At), ByPrefix: map[string]*Written{}}
	s.out.Writes = w
	if rev <= s.out.Revision {
		return
	}
	var v struct {
		Compacted int64     `json:"compact_revision"`
		More      bool      `json:"more"`
		Events    []weighed `json:"events"`
	}
	_, err = s.call(ctx, fmt.Sprintf("/watch/history?from=%d&to=%d&limit=%d", w.From+1, w.To, maxEvents), collectors.Once, &v)
	if err == nil && v.Compacted > 0 {
		err = collectors.Gapf(collectors.Absent, "the history up to revision %d was compacted while the store was read: use a shorter --window, or a smaller --sample", v.Compacted)
	}
	if err != nil {
		s.out.Writes = nil
		fail(err)
		return
	}
	w.count(v.Events, s.Prefix, s.Depth)
	w.Cut = v.More
	if n := len(v.Events); v.More && n > 0 { // of the time, only the part that was read
		w.Elapsed = time.Duration(float64(w.Elapsed) * float64(v.Events[n-1].Mod-w.From) / float64(w.To-w.From))
		w.To = v.Events[n-1].Mod
	}
}

func (s *scan) last(ctx context.Context) (int64, time.Time, error) {
	rev, at, err := s.revision(ctx, collectors.Once)
	if err != nil {
		return 0, at, err
	}
	left := s.Window - at.Sub(s.out.At)
	if left <= 0 {
		return rev, at, nil
	}
	if err := s.Wait(ctx, left); err != nil {
		return 0, at, err
	}
	return s.revision(ctx, collectors.Last)
}

// count sums up events. It keeps one number for each key that was written,
// of which there are no more than events.
func (w *Writes) count(events []weighed, prefix string, depth int) {
	keys := map[string]*Key{}
	for _, e := range events {
		key := string(e.Key)
		if len(key) < len(prefix) || key[:len(prefix)] != prefix {
			continue
		}
		g := groupOf(key, prefix, depth)
		x := w.ByPrefix[g.Prefix]
		if x == nil {
			x = &Written{Group: g}
			w.ByPrefix[g.Prefix] = x
		}
		n := int64(len(e.Key)) + e.Bytes
		w.Events++
		w.Bytes += n
		x.Events++
		x.Bytes += n
		switch {
		case e.Deleted:
			x.Deleted++
		case e.Version == 1:
			x.Created++
		}
		k := keys[key]
		if k == nil {
			k = &Key{Key: key}
			keys[key] = k
		}
		k.Writes++
		k.Bytes, k.Version = e.Bytes, e.Version
	}
	for _, k := range keys {
		w.Hot = keep(w.Hot, *k, func(k Key) int64 { return k.Writes })
	}
}
