package capture

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// Limits of a recording. They are far above what a run writes, and end the
// reading of one that was made to exhaust memory.
const (
	maxRecords = 200_000
	maxTotal   = 2 << 30
	maxHeader  = 1 << 20
)

// A Recording is a Source made of what another Source once said, failures
// included.
type Recording struct {
	Meta    Meta
	records map[string][]record // by request key; of a list, by page
}

type record struct {
	header
	body []byte
}

// Open reads an archive that a Recorder wrote. It returns an error, and no
// recording, for anything else, for one that was broken off, and for one that
// is over the limits.
func Open(r io.Reader) (*Recording, error) {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("not a recording of ktriage: %w", err)
	}
	a := &archive{tar: tar.NewReader(io.LimitReader(gz, maxTotal+1)), out: &Recording{records: map[string][]record{}}}
	for {
		done, err := a.next()
		switch {
		case err != nil:
			return nil, fmt.Errorf("not a whole recording of ktriage: %w", err)
		case done:
			return a.out, nil
		}
	}
}

type archive struct {
	tar     *tar.Reader
	out     *Recording
	read    int64
	files   int
	pending *record // whose body may follow
	number  string  // of pending
}

// next reads one file of the archive and reports whether it was the last.
func (a *archive) next() (bool, error) {
	h, err := a.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return false, fmt.Errorf("it ends without %s", metaName)
	case err != nil:
		return false, err
	}
	if a.files++; a.files > 2*maxRecords {
		return false, fmt.Errorf("it holds more than %d records", maxRecords)
	}
	if a.read += h.Size; h.Size < 0 || a.read > maxTotal {
		return false, fmt.Errorf("it unpacks to more than %d bytes", int64(maxTotal))
	}
	number, isHeader := strings.CutSuffix(strings.TrimPrefix(h.Name, "requests/"), ".json")
	if h.Name == metaName {
		a.flush()
		if err := a.json(h, &a.out.Meta); err != nil {
			return false, err
		}
		if v := a.out.Meta.FormatVersion; v != FormatVersion {
			return false, fmt.Errorf("its format is version %d; this ktriage reads %d", v, FormatVersion)
		}
		return true, nil
	}
	if isHeader {
		a.flush()
		a.pending, a.number = &record{}, number
		return false, a.json(h, &a.pending.header)
	}
	number, isBody := strings.CutSuffix(strings.TrimPrefix(h.Name, "requests/"), ".body")
	if !isBody || a.pending == nil || number != a.number {
		return false, fmt.Errorf("it holds a file %q that no recording has", h.Name)
	}
	a.pending.body, err = io.ReadAll(a.tar)
	return false, err
}

func (a *archive) json(h *tar.Header, v any) error {
	if h.Size > maxHeader {
		return fmt.Errorf("%s has %d bytes", h.Name, h.Size)
	}
	b, err := io.ReadAll(a.tar)
	if err != nil {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	return nil
}

// flush keeps the pending record: a page of a list in its place, anything else
// instead of what was kept before.
func (a *archive) flush() {
	if a.pending == nil {
		return
	}
	r := *a.pending
	a.pending = nil
	if r.Gap != nil && r.Gap.Kind == "" {
		r.Gap.Kind = kindBefore(r.Gap)
	}
	key := r.key()
	if r.Verb == collectors.List && r.Page == len(a.out.records[key]) {
		a.out.records[key] = append(a.out.records[key], r)
		return
	}
	a.out.records[key] = []record{r}
}

// kindBefore is the kind of a gap in a recording of the time when gaps had none:
// its words told it, and the words of those recordings change no more.
func kindBefore(g *collectors.Gap) collectors.Kind {
	switch {
	case g.Reason != collectors.Unreachable:
	case strings.Contains(g.Detail, ": no route to it"):
		return collectors.NoRoute
	case strings.Contains(g.Detail, ": no connection within "), strings.Contains(g.Detail, ": no connection: it does not react"):
		return collectors.NoReaction
	}
	return ""
}

// Fetch answers from the recording. What was not asked then is a gap now.
func (rec *Recording) Fetch(ctx context.Context, q collectors.Request) (*collectors.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rs, page := rec.records[q.Key()], 0
	if q.Page != "" {
		n, err := strconv.Atoi(q.Page)
		if err != nil {
			return nil, collectors.Gapf(collectors.Malformed, "page %q of %s is not in the recording", q.Page, q.URL)
		}
		page = n
	}
	if page < 0 || page >= len(rs) {
		return nil, collectors.Gapf(collectors.NotAsked, "the recording does not hold %s %s", q.Verb, q.URL).
			With("make a recording with this version of ktriage")
	}
	r := rs[page]
	if r.Gap != nil {
		return nil, r.Gap
	}
	return &collectors.Reply{
		At: r.At, Date: r.Date, Elapsed: time.Duration(r.ElapsedNS), Status: r.Status, From: r.From, Media: r.Media, Cert: r.Cert,
		Families: r.Families, Body: io.NopCloser(bytes.NewReader(r.body)),
	}, nil
}

// A Record says what a recording holds of one request.
type Record struct {
	Request collectors.Request
	Body    []byte
	Gap     *collectors.Gap // instead of a body
}

// All yields what the recording holds, in the order of its requests.
func (rec *Recording) All() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for _, key := range slices.Sorted(maps.Keys(rec.records)) {
			for _, r := range rec.records[key] {
				if !yield(Record{collectors.Request{Verb: r.Verb, URL: r.URL, Or: r.Or, Sample: r.Sample}, r.body, r.Gap}) {
					return
				}
			}
		}
	}
}

// Records counts what the recording holds.
func (rec *Recording) Records() int { return len(rec.records) }
