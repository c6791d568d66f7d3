// Package keyspace finds out what fills etcd's store: which resources have how
// many keys of what size, and what is written to them. It reads page by page
// from one member's own copy, waits between pages for as long as etcd needed
// for one, keeps sums and the largest few instead of keys, and stops when etcd
// gets slow. Of values it sees the length only.
package keyspace

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// The bounds of a scan's load.
const (
	// A page aims at a mebibyte: etcd puts it together in memory, and this is
	// less than a request of a client may have.
	pageBytes = 1 << 20
	// The first page has few keys, as nothing is known of their size: with
	// the largest that etcd takes, 1.5 MiB each, it is 48 MiB.
	firstPage = 32
	minPage   = 4
	maxPage   = 500
	// slowPage is when etcd counts as slow: a page takes some milliseconds of
	// one that is well. Its own limit, after which it logs a read as slow, is
	// 100 ms; a page of a mebibyte over a thin line may take longer.
	slowPage = time.Second
	maxSlow  = 3 // so many slow pages, one after the other, end the scan
	// perSecond is how many bytes are read a second at most.
	perSecond = 16 << 20

	maxGroups = 4096 // that are told apart; what comes after is one group
	maxTop    = 50   // keys that are kept of each kind
	maxEvents = 20_000
)

// Options of a scan.
type Options struct {
	Addr   string // front part of the URLs of the member that is read: "etcd://10.0.0.1:2379"
	Prefix string // of the keys; empty for all
	Depth  int    // 1: by resource; 2: by resource and namespace
	Sample int64  // keys of a group that are weighed; 0 for all. The size of the others is estimated by these.
	Window time.Duration

	Wait     func(context.Context, time.Duration) error // sleeps
	Progress func(keys, bytes int64, at string)         // may be nil
}

// A Usage is what a scan found.
type Usage struct {
	Revision int64         // when it began
	At       time.Time     // of that
	Groups   []*Counted    // in the order of their keys
	Largest  []Key         // the largest values
	Revised  []Key         // the keys that were written most often since they were made
	Stopped  string        // why it ended early; empty if it did not
	StoppedA string        // the key at which it ended
	Took     time.Duration // of the pages themselves
	Writes   *Writes       // nil if they are not known
	WritesNo *collectors.Gap
}

// Counted is a group with its sums.
type Counted struct {
	Group
	Keys     int64 // all of them, weighed or not
	AtLeast  bool  // there may be more: the scan ended within the group
	Weighed  int64
	Bytes    int64 // of the weighed keys and values
	Versions int64 // how often the weighed keys were written since they were made
	Max      int64 // the largest value
}

// Size is what the group's newest keys and values take. It is an estimate if
// not all were weighed.
func (c Counted) Size() (bytes int64, estimated bool) {
	if c.Weighed == 0 || c.Weighed >= c.Keys {
		return c.Bytes, c.Weighed < c.Keys
	}
	return int64(float64(c.Bytes) / float64(c.Weighed) * float64(c.Keys)), true
}

// A Key is one key that stands out.
type Key struct {
	Key     string `json:"key"`
	Bytes   int64  `json:"valueBytes"`
	Version int64  `json:"version"`          // how often it was written since it was made
	Writes  int64  `json:"writes,omitempty"` // in the window
}

// A page is the reply to a request for sizes.
type page struct {
	Header struct {
		Revision int64 `json:"revision"`
	} `json:"header"`
	Kvs  []weighed `json:"kvs"`
	More bool      `json:"more"`
}

type weighed struct {
	Key     []byte `json:"key"`
	Bytes   int64  `json:"bytes"`
	Mod     int64  `json:"mod_revision"`
	Version int64  `json:"version"`
	Deleted bool   `json:"deleted"`
}

type scan struct {
	Options
	src         collectors.Source
	out         *Usage
	byID        map[string]*Counted
	keys, bytes int64
	limit, slow int
}

// Scan reads the store. Its error says why nothing could be read; what ends it
// later is in the Usage.
func Scan(ctx context.Context, src collectors.Source, o Options) (*Usage, error) {
	s := &scan{Options: o, src: src, out: &Usage{}, byID: map[string]*Counted{}, limit: firstPage}
	rev, at, err := s.revision(ctx, collectors.First)
	if err != nil {
		return nil, err
	}
	s.out.Revision, s.out.At = rev, at
	if err := s.all(ctx); err != nil {
		if len(s.out.Groups) == 0 {
			return nil, err
		}
		s.out.Stopped = err.Error()
	}
	s.writes(ctx)
	return s.out, nil
}

// all reads page after page. A page may reach over several groups; within one
// that is large, its end is the group's, as etcd before 3.7 counts all keys up
// to the end of the range for each page.
func (s *scan) all(ctx context.Context) error {
	cursor, last := s.Prefix, prefixEnd(s.Prefix)
	if s.Prefix == "" {
		cursor, last = "\x00", "\x00" // to the end of all keys
	}
	end := last
	var within *Counted // the group that the last page ended in
	for {
		p, err := s.page(ctx, cursor, end)
		if err != nil {
			if within != nil {
				within.AtLeast = true
			}
			s.out.StoppedA = cursor
			return err
		}
		for _, kv := range p.Kvs {
			s.add(kv)
		}
		if !p.More || len(p.Kvs) == 0 {
			if end == last {
				return nil
			}
			cursor, end, within = end, last, nil
			continue
		}
		lastKey := string(p.Kvs[len(p.Kvs)-1].Key)
		cursor = lastKey + "\x00"
		g := s.of(lastKey)
		if g.Prefix == "" { // more groups than are told apart
			continue
		}
		first := s.of(string(p.Kvs[0].Key))
		within = g
		if first != g {
			end = last
			continue
		}
		// A whole page of one group: it is large.
		end = g.end()
		if s.Sample > 0 && g.Weighed >= s.Sample {
			n, err := s.count(ctx, cursor, end)
			if err != nil {
				g.AtLeast = true
				s.out.StoppedA = cursor
				return err
			}
			g.Keys += n
			s.keys += n
			cursor, end, within = end, last, nil
		}
	}
}

// of is the group of a key.
func (s *scan) of(key string) *Counted {
	g := groupOf(key, s.Prefix, s.Depth)
	if c := s.byID[g.Prefix]; c != nil {
		return c
	}
	if len(s.byID) >= maxGroups {
		g = Group{Resource: "(all others)"}
		if c := s.byID[""]; c != nil {
			return c
		}
	}
	c := &Counted{Group: g}
	s.byID[g.Prefix] = c
	s.out.Groups = append(s.out.Groups, c)
	return c
}

func (s *scan) add(kv weighed) {
	c := s.of(string(kv.Key))
	n := int64(len(kv.Key)) + kv.Bytes
	c.Keys++
	c.Weighed++
	c.Bytes += n
	c.Versions += kv.Version
	c.Max = max(c.Max, kv.Bytes)
	s.keys++
	s.bytes += n
	k := Key{Key: string(kv.Key), Bytes: kv.Bytes, Version: kv.Version}
	s.out.Largest = keep(s.out.Largest, k, func(k Key) int64 { return k.Bytes })
	s.out.Revised = keep(s.out.Revised, k, func(k Key) int64 { return k.Version })
}

// keep adds a key to the largest, of which there are few.
func keep(top []Key, k Key, by func(Key) int64) []Key {
	if len(top) == maxTop && by(k) <= by(top[len(top)-1]) {
		return top
	}
	i, _ := slices.BinarySearchFunc(top, k, func(a, b Key) int {
		if by(a) >= by(b) {
			return -1
		}
		return 1
	})
	top = slices.Insert(top, i, k)
	return top[:min(len(top), maxTop)]
}

// page reads one page, and then waits.
func (s *scan) page(ctx context.Context, from, to string) (page, error) {
	q := url.Values{"key": {from}, "end": {to}, "limit": {strconv.Itoa(s.limit)}}
	var p page
	took, err := s.call(ctx, "/kv/sizes?"+q.Encode(), collectors.Once, &p)
	if err != nil {
		return p, err
	}
	s.out.Took += took
	var n int64
	for _, kv := range p.Kvs {
		n += int64(len(kv.Key)) + kv.Bytes
	}
	if err := s.pace(ctx, took, n); err != nil {
		return p, err
	}
	if len(p.Kvs) > 0 {
		aim := int(pageBytes / max(1, n/int64(len(p.Kvs))))
		s.limit = max(minPage, min(aim, 4*s.limit, maxPage))
		if s.slow > 0 {
			s.limit = max(minPage, s.limit/4)
		}
		if s.Progress != nil {
			s.Progress(s.keys+int64(len(p.Kvs)), s.bytes+n, string(p.Kvs[len(p.Kvs)-1].Key))
		}
	}
	return p, nil
}

// pace waits for as long as etcd was busy, and so that no more than the bytes
// of a second are read in a second. It ends the scan when etcd is slow.
func (s *scan) pace(ctx context.Context, took time.Duration, n int64) error {
	if took > slowPage {
		if s.slow++; s.slow >= maxSlow {
			return fmt.Errorf("etcd is slow: %d pages in a row took over %s, the last %s", maxSlow, slowPage, took.Round(time.Millisecond))
		}
	} else {
		s.slow = 0
	}
	wait := max(took, time.Duration(float64(n)/perSecond*float64(time.Second))-took)
	if s.slow > 0 {
		wait *= 2
	}
	return s.Wait(ctx, wait)
}

func (s *scan) count(ctx context.Context, from, to string) (int64, error) {
	q := url.Values{"key": {from}, "end": {to}, "count_only": {"true"}, "serializable": {"true"}}
	var v struct {
		Count int64 `json:"count"`
	}
	took, err := s.call(ctx, "/kv/range?"+q.Encode(), collectors.Once, &v)
	if err != nil {
		return 0, err
	}
	return v.Count, s.pace(ctx, took, 0)
}

func (s *scan) revision(ctx context.Context, n collectors.Sample) (int64, time.Time, error) {
	var p page
	at, err := s.callAt(ctx, "/maintenance/status", n, &p)
	if err == nil && p.Header.Revision == 0 {
		err = collectors.Gapf(collectors.Malformed, "%s/maintenance/status: it tells no revision", s.Addr)
	}
	return p.Header.Revision, at.At, err
}

func (s *scan) call(ctx context.Context, path string, n collectors.Sample, v any) (time.Duration, error) {
	r, err := s.callAt(ctx, path, n, v)
	return r.Elapsed, err
}

// maxReply bounds a reply: keys of a page, without values, or events.
const maxReply = 32 << 20

func (s *scan) callAt(ctx context.Context, path string, n collectors.Sample, v any) (collectors.Reply, error) {
	reply, err := s.src.Fetch(ctx, collectors.Request{Verb: collectors.Call, URL: s.Addr + path, Sample: n})
	if err != nil {
		return collectors.Reply{}, collectors.AsGap(err, collectors.Unreachable)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(io.LimitReader(reply.Body, maxReply))
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return collectors.Reply{}, collectors.Gapf(collectors.Malformed, "%s%s: %v", s.Addr, path, err)
	}
	return *reply, nil
}
