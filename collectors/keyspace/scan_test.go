package keyspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// A fakeStore answers as the live source does, from keys in memory.
type fakeStore struct {
	keys    []weighed // sorted
	rev     int64
	events  []weighed
	compact int64

	took     time.Duration // of each page
	failAt   int           // the page that fails; 0: none
	broken   bool          // pages are no JSON
	pages    int
	mostKeys int // of any page
	waited   time.Duration
	ends     []string
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (f *fakeStore) Fetch(_ context.Context, r collectors.Request) (*collectors.Reply, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	num := func(k string) int64 { n, _ := strconv.ParseInt(q.Get(k), 10, 64); return n }
	within := func(k weighed) bool {
		return string(k.Key) >= q.Get("key") && (q.Get("end") == "\x00" || string(k.Key) < q.Get("end"))
	}
	at := start
	var v any
	switch u.Path {
	case "/maintenance/status":
		if r.Sample == collectors.Last {
			at = start.Add(10 * time.Second)
			f.rev += int64(len(f.events))
		}
		v = map[string]any{"header": map[string]any{"revision": f.rev, "member_id": 1}}
	case "/kv/sizes":
		if f.pages++; f.pages == f.failAt {
			return nil, collectors.Gapf(collectors.Timeout, "no answer within 5s")
		}
		if f.broken {
			return &collectors.Reply{At: at, Body: io.NopCloser(strings.NewReader("{{"))}, nil
		}
		p := page{Kvs: []weighed{}}
		p.Header.Revision = f.rev
		for _, k := range f.keys {
			if !within(k) {
				continue
			}
			if int64(len(p.Kvs)) == num("limit") {
				p.More = true
				break
			}
			p.Kvs = append(p.Kvs, k)
		}
		f.mostKeys = max(f.mostKeys, len(p.Kvs))
		f.ends = append(f.ends, q.Get("end"))
		v = p
	case "/kv/range":
		n := 0
		for _, k := range f.keys {
			if within(k) {
				n++
			}
		}
		v = map[string]any{"count": n}
	case "/watch/history":
		v = map[string]any{"events": f.events, "compact_revision": f.compact}
	default:
		return nil, fmt.Errorf("no %s", u.Path)
	}
	b, _ := json.Marshal(v)
	return &collectors.Reply{At: at, Elapsed: f.took, Body: io.NopCloser(bytes.NewReader(b))}, nil
}

func (f *fakeStore) options() Options {
	return Options{Addr: "etcd://m1", Depth: 1, Window: 10 * time.Second, Wait: func(_ context.Context, d time.Duration) error {
		f.waited += d
		return nil
	}}
}

func store(n int, size int64, resources ...string) *fakeStore {
	f := &fakeStore{rev: 100, took: time.Millisecond}
	for _, r := range resources {
		for i := range n {
			f.keys = append(f.keys, weighed{Key: fmt.Appendf(nil, "/registry/%s/ns-%d/o-%05d", r, i%3, i), Bytes: size, Version: int64(1 + i%2), Mod: int64(i)})
		}
	}
	slices.SortFunc(f.keys, func(a, b weighed) int { return bytes.Compare(a.Key, b.Key) })
	return f
}

func group(t *testing.T, u *Usage, name string) Counted {
	t.Helper()
	for _, g := range u.Groups {
		if g.Resource == name {
			return *g
		}
	}
	t.Fatalf("there is no group %s", name)
	return Counted{}
}

func TestScanCountsAll(t *testing.T) {
	f := store(3000, 1000, "pods", "events", "secrets")
	u, err := Scan(context.Background(), f, f.options())
	if err != nil || u.Stopped != "" {
		t.Fatal(err, u.Stopped)
	}
	for _, r := range []string{"pods", "events", "secrets"} {
		if g := group(t, u, r); g.Keys != 3000 || g.Weighed != 3000 || g.AtLeast || g.Versions != 4500 {
			t.Errorf("%s: got %+v", r, g)
		}
	}
	if f.mostKeys > maxPage {
		t.Errorf("a page had %d keys", f.mostKeys)
	}
	if f.waited < time.Duration(f.pages)*f.took {
		t.Errorf("waited %s for %d pages of %s", f.waited, f.pages, f.took)
	}
	if !slices.Contains(f.ends, "/registry/events0") {
		t.Errorf("pages of a large group do not end with it: %q", f.ends)
	}
}

func TestScanWeighsASampleAndCountsTheRest(t *testing.T) {
	f := store(5000, 2000, "pods", "zebras")
	o := f.options()
	o.Sample = 600
	u, err := Scan(context.Background(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []string{"pods", "zebras"} {
		g := group(t, u, r)
		if n, estimated := g.Size(); g.Keys != 5000 || g.Weighed < 600 || g.Weighed > 1700 || !estimated || n < 5000*2000 || n > 5000*2100 {
			t.Errorf("%s: got %+v, size %d, estimated %v", r, g, n, estimated)
		}
	}
}

func TestScanKeepsPagesOfLargeValuesSmall(t *testing.T) {
	f := store(300, 1<<20, "pods")
	if _, err := Scan(context.Background(), f, f.options()); err != nil {
		t.Fatal(err)
	}
	if f.mostKeys > firstPage {
		t.Errorf("a page had %d keys of a mebibyte", f.mostKeys)
	}
	if want := 300 * time.Second / 16; f.waited < want {
		t.Errorf("waited %s for 300 MiB, want at least %s", f.waited, want)
	}
}

func TestScanStopsWhenEtcdIsSlow(t *testing.T) {
	f := store(3000, 100, "pods")
	f.took = 2 * time.Second
	u, err := Scan(context.Background(), f, f.options())
	if err != nil || !strings.Contains(u.Stopped, "etcd is slow: 3 pages in a row took over 1s") {
		t.Fatalf("got %+v, %v", u, err)
	}
	if f.pages > maxSlow {
		t.Errorf("it asked for %d pages", f.pages)
	}
}

func TestScanTellsWhereItEnded(t *testing.T) {
	f := store(3000, 100, "pods", "secrets")
	f.failAt = 5
	u, err := Scan(context.Background(), f, f.options())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(u.Stopped, "no answer within 5s") || !strings.HasPrefix(u.StoppedA, "/registry/pods/") || !group(t, u, "pods").AtLeast {
		t.Errorf("got stopped %q at %q, %+v", u.Stopped, u.StoppedA, u.Groups[0])
	}
}

func TestScanWithoutAnAnswerIsAGap(t *testing.T) {
	for name, f := range map[string]*fakeStore{"first page fails": {rev: 1, failAt: 1}, "broken": {rev: 1, broken: true}, "no revision": {}} {
		u, err := Scan(context.Background(), f, f.options())
		var gap *collectors.Gap
		if u != nil || !errors.As(err, &gap) {
			t.Errorf("%s: got %+v, %v", name, u, err)
		}
	}
}

func TestScanCountsWhatWasWritten(t *testing.T) {
	f := store(10, 100, "pods")
	lease := weighed{Key: []byte("/registry/leases/a/b"), Bytes: 50}
	for i := range 5 {
		lease.Version, lease.Mod = int64(100+i), int64(101+i)
		f.events = append(f.events, lease)
	}
	f.events = append(f.events,
		weighed{Key: []byte("/registry/pods/a/new"), Bytes: 100, Version: 1, Mod: 106},
		weighed{Key: []byte("/registry/pods/a/gone"), Deleted: true, Mod: 107},
		weighed{Key: []byte("/registry/pods/a/gone2"), Deleted: true, Mod: 108})
	u, err := Scan(context.Background(), f, f.options())
	if err != nil || u.Writes == nil {
		t.Fatal(err, u.WritesNo)
	}
	w := u.Writes
	if l := w.ByPrefix["/registry/leases/"]; l.Events != 5 || l.Created+l.Deleted != 0 || w.PerSecond(l.Events) != 0.5 {
		t.Errorf("got leases %+v", l)
	}
	if p := w.ByPrefix["/registry/pods/"]; p.Events != 3 || p.Created != 1 || p.Deleted != 2 {
		t.Errorf("got pods %+v", p)
	}
	if w.Hot[0].Key != "/registry/leases/a/b" || w.Hot[0].Writes != 5 || w.Hot[0].Version != 104 {
		t.Errorf("got hottest %+v", w.Hot[0])
	}
	f = store(10, 100, "pods")
	f.events, f.compact = []weighed{lease}, 200
	if u, err = Scan(context.Background(), f, f.options()); err != nil || u.Writes != nil || u.WritesNo == nil || !strings.Contains(u.WritesNo.Detail, "compacted") {
		t.Errorf("got %+v, %v of a history that is gone", u.WritesNo, err)
	}
}

func TestKeepKeepsTheLargest(t *testing.T) {
	var top []Key
	for i := range 1000 {
		top = keep(top, Key{Key: fmt.Sprint(i), Bytes: int64(i * 7919 % 1000)}, func(k Key) int64 { return k.Bytes })
	}
	if len(top) != maxTop || top[0].Bytes != 999 || top[maxTop-1].Bytes != 1000-maxTop {
		t.Errorf("got %d keys from %d to %d", len(top), top[0].Bytes, top[len(top)-1].Bytes)
	}
}
