package capture

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/redact"
)

// A Recorder writes what a run asks and gets into an archive, as it comes, but
// for private keys: it holds no more than one reply in memory. It is safe for use by several
// goroutines.
type Recorder struct {
	mu   sync.Mutex
	gz   *gzip.Writer
	tar  *tar.Writer
	next int
	err  error // the first error; nothing is written after it

	redactor *redact.Redactor // nil: nothing but private keys is replaced
	most     int64            // bytes of bodies; 0 for as many as come
	size     int64
	left     int
}

// Redacting makes the Recorder replace what the Redactor replaces, and say so
// in the recording.
func (r *Recorder) Redacting(by *redact.Redactor) *Recorder {
	r.redactor = by
	return r
}

// AtMost bounds the bytes of all bodies. The gaps of replies that do not fit any
// more say so.
func (r *Recorder) AtMost(n int64) *Recorder {
	r.most = n
	return r
}

// NewRecorder starts an archive (tar, gzipped) on w.
func NewRecorder(w io.Writer) *Recorder {
	gz := gzip.NewWriter(w)
	return &Recorder{gz: gz, tar: tar.NewWriter(gz)}
}

// Left counts the replies that did not fit.
func (r *Recorder) Left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left
}

// Record keeps one reply or gap. Errors are kept for Close.
func (r *Recorder) Record(req collectors.Request, page int, reply *collectors.Reply, body []byte, gap *collectors.Gap) {
	h := header{Verb: req.Verb, URL: req.URL, Or: req.Or, Sample: req.Sample, Page: page, Gap: gap}
	if reply != nil {
		h.At, h.Date, h.ElapsedNS = reply.At.UTC(), reply.Date.UTC(), int64(reply.Elapsed)
		h.Status, h.From, h.Media, h.Cert = reply.Status, reply.From, reply.Media, reply.Cert
		if reply.Date.IsZero() {
			h.Date = time.Time{}
		}
		h.Families = held(req, reply)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if reply != nil && r.most > 0 && r.size+int64(len(body)) > r.most {
		h = header{Verb: req.Verb, URL: req.URL, Or: req.Or, Sample: req.Sample, Page: page,
			Gap: collectors.Gapf(collectors.NotAsked, "the recording had reached its size when the reply to %s %s came", req.Verb, req.URL).With("a larger --max-size")}
		reply = nil
		r.left++
	}
	r.size += int64(len(body))
	r.next++
	name := fmt.Sprintf("requests/%05d", r.next)
	r.file(name+".json", h)
	if reply != nil {
		r.write(name+".body", body)
	}
}

// held lists the families that the body of a Scrape was cut to, here or when a
// recording that is now played back was made.
func held(req collectors.Request, reply *collectors.Reply) []string {
	var out []string
	for _, w := range req.Want {
		if reply.Families == nil || slices.Contains(reply.Families, w.Name) {
			out = append(out, w.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Close writes the description of the run and ends the archive. It returns
// the first error of all that were met.
func (r *Recorder) Close(m Meta) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.FormatVersion = FormatVersion
	m.Left = r.left
	if r.redactor != nil {
		m.Redacted = &Redacted{Replaced: r.redactor.Counts(), Never: never()}
	}
	r.file(metaName, m)
	if r.err != nil {
		return fmt.Errorf("write recording: %w", r.err)
	}
	if err := errors.Join(r.tar.Close(), r.gz.Close()); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}

func (r *Recorder) file(name string, v any) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		r.err = errors.Join(r.err, err)
		return
	}
	r.write(name, append(b, '\n'))
}

func (r *Recorder) write(name string, b []byte) {
	if r.err != nil {
		return
	}
	if clean := withoutKeys(b); r.redactor != nil {
		if mayHoldKey(b) {
			r.redactor.Masked()
		}
		b = r.redactor.Bytes(clean)
	} else {
		b = clean
	}
	if r.err = r.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(b))}); r.err == nil {
		_, r.err = r.tar.Write(b)
	}
}
