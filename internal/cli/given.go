package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/evidence"
)

// A piece is what one --from names: a recording of ktriage, or loose evidence.
type piece struct {
	name  string
	rec   *capture.Recording // nil if it is loose
	files []evidence.File
	close func()
}

// ended is when a recording ends.
func (p *piece) ended() time.Time {
	return p.rec.Meta.StartedAt.Add(seconds(p.rec.Meta.WindowSeconds))
}

// given is the origin that --from names, once or several times.
func (a *app) given(f *sourceFlags) (*origin, error) {
	var o evidence.Options
	if f.at != "" {
		t, err := time.Parse(time.RFC3339, f.at)
		if err != nil {
			return nil, usagef("--at %q is not a time such as 2006-01-02T15:04:05Z", f.at)
		}
		o.At = t
	}
	if f.windowSet != nil && f.windowSet() {
		o.Apart = f.window
	}
	var pieces []*piece
	closeAll := func() {
		for _, p := range pieces {
			p.close()
		}
	}
	stdin := false
	for _, name := range f.from {
		if name == "-" && stdin {
			closeAll()
			return nil, usagef("--from - is given twice; there is one standard input")
		}
		stdin = stdin || name == "-"
		p, err := a.piece(name)
		if err != nil {
			closeAll()
			return nil, err
		}
		pieces = append(pieces, p)
	}
	out, err := a.together(pieces, o)
	if err != nil {
		closeAll()
		return nil, err
	}
	out.close = closeAll
	return out, nil
}

// piece opens what one --from names.
func (a *app) piece(name string) (*piece, error) {
	switch name {
	case "demo":
		return recorded(name, bytes.NewReader(demo))
	case "-":
		return stream(name, evidence.Stream("stdin", a.Stdin), a.Stdin)
	}
	st, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usageError{hinted{fmt.Errorf("--from: %w", err), "make one with: ktriage capture -o FILE.tar.gz"}}
	case err != nil:
		return nil, fmt.Errorf("--from: %w", err)
	case st.IsDir():
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
		files, err := evidence.Dir(root.FS())
		if err != nil {
			root.Close()
			return nil, fmt.Errorf("--from %s: %w", name, err)
		}
		return &piece{name: name, files: files, close: func() { root.Close() }}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	defer file.Close()
	f := evidence.File{Name: filepath.Base(name), Modified: st.ModTime(), Open: func() (io.ReadCloser, error) { return os.Open(name) }}
	if !st.Mode().IsRegular() { // a pipe, as of <(kubectl …): it can be read once
		b, err := io.ReadAll(io.LimitReader(file, maxPiped+1))
		if err == nil && len(b) > maxPiped {
			err = fmt.Errorf("it is over %d bytes; write it to a file first", maxPiped)
		}
		if err != nil {
			return nil, fmt.Errorf("--from %s: %w", name, err)
		}
		return stream(name, evidence.Bytes(filepath.Base(name), time.Time{}, b), bytes.NewReader(b))
	}
	return stream(name, f, file)
}

// maxPiped bounds what is read of a pipe, which is held in memory.
const maxPiped = 1 << 30

// headBytes is what is looked at to tell a recording from another archive: more
// than a block of gzip.
const headBytes = 64 << 10

// stream tells by its content what one file is: a recording, or a piece of
// evidence, archives among them.
func stream(name string, f evidence.File, r io.Reader) (*piece, error) {
	in := bufio.NewReaderSize(r, headBytes)
	head, err := evidence.First(in)
	if err == nil && isRecording(head) {
		return recorded(name, in)
	}
	if f.Once { // what was looked at is still to be read
		f = evidence.Stream(f.Name, in)
	}
	return &piece{name: name, files: []evidence.File{f}, close: func() {}}, nil
}

// isRecording looks at the first block of an archive.
func isRecording(head []byte) bool {
	return bytes.HasPrefix(head, []byte("requests/")) || bytes.HasPrefix(head, []byte("ktriage.json\x00"))
}

func recorded(name string, r io.Reader) (*piece, error) {
	rec, err := capture.Open(r)
	if err != nil {
		return nil, hinted{fmt.Errorf("--from %s: %w", name, err), "nothing was judged; make a recording with: ktriage capture -o FILE.tar.gz"}
	}
	return &piece{name: name, rec: rec, close: func() {}}, nil
}

// together makes one origin of all that was given.
func (a *app) together(pieces []*piece, o evidence.Options) (*origin, error) {
	var recs []*piece
	var parts []evidence.Part
	names := make([]string, 0, len(pieces))
	for _, p := range pieces {
		names = append(names, p.name)
		if p.rec != nil {
			recs = append(recs, p)
		} else {
			parts = append(parts, evidence.Part{Name: filepath.Base(p.name), Files: p.files})
		}
	}
	name := strings.Join(names, " and ")
	if len(recs) > 1 {
		return a.recordings(recs, parts, o)
	}
	if len(recs) == 1 {
		rec := recs[0]
		out := &origin{source: rec.rec, name: name, meta: &rec.rec.Meta, node: rec.rec.Meta.Node, cost: func() collectors.Cost { return rec.rec.Meta.Cost }, close: func() {}}
		if len(parts) == 0 {
			return out, nil
		}
		if o.At.IsZero() {
			o.At = rec.ended()
		}
		looks, err := a.looks(name, parts, o)
		if err != nil {
			return nil, err
		}
		out.source = looks[len(looks)-1].Behind(rec.rec)
		return out, nil
	}
	looks, err := a.looks(name, parts, o)
	if err != nil {
		return nil, err
	}
	out := a.ofLook(name, looks[len(looks)-1])
	if len(looks) > 1 {
		out.before = a.ofLook(name, looks[len(looks)-2])
	}
	return out, nil
}

// recordings is the origin of the latest of several recordings, which are looks
// at different times.
func (a *app) recordings(recs []*piece, parts []evidence.Part, o evidence.Options) (*origin, error) {
	latest, before := recs[0], recs[0]
	for _, p := range recs {
		if p.ended().After(latest.ended()) {
			latest = p
		}
	}
	for _, p := range recs {
		if p != latest && (before == latest || p.ended().After(before.ended())) {
			before = p
		}
	}
	if before == latest || before.ended().Equal(latest.ended()) {
		return nil, usagef("--from: %s and %s are recordings of the same moment; give one of them", recs[0].name, recs[1].name)
	}
	pieces := []*piece{latest}
	for _, p := range parts {
		pieces = append(pieces, &piece{name: p.Name, files: p.Files, close: func() {}})
	}
	out, err := a.together(pieces, o)
	if err != nil {
		return nil, err
	}
	out.before, err = a.together([]*piece{before}, evidence.Options{})
	return out, err
}

// looks reads loose evidence. What was read of it, and what was not, is told on
// standard error.
func (a *app) looks(name string, parts []evidence.Part, o evidence.Options) ([]*evidence.Evidence, error) {
	looks, err := evidence.Looks(parts, o)
	if err != nil {
		return nil, hinted{fmt.Errorf("--from %s: %w", name, err), "nothing was judged; what is read: metrics, kubectl get -o yaml, etcdctl endpoint status, logs and more; see docs/evidence.md"}
	}
	for _, e := range looks {
		a.note("read %s", few(e.Read))
		var left []string
		for _, s := range e.Left {
			left = append(left, fmt.Sprintf("%s (%s)", s.Name, s.Why))
		}
		if len(left) > 0 {
			a.note("not recognised: %s", few(left))
		}
		a.note("the evidence is from %s, %s", e.At.Format(time.RFC3339), e.Dated)
		if e.Window > 0 {
			a.note("two samples of a process, %s apart: counters are judged over that time", e.Window.Round(time.Millisecond))
		}
	}
	return looks, nil
}

// ofLook is the origin of one look of loose evidence.
func (a *app) ofLook(name string, e *evidence.Evidence) *origin {
	return &origin{
		deep: e.Deep(), source: e, name: name, meta: &capture.Meta{Tool: version(), Source: name, StartedAt: e.At, WindowSeconds: e.Window.Seconds()},
		cost: func() collectors.Cost { return collectors.Cost{} }, close: func() {},
	}
}

// few counts names and lists the first of them. They are the names of files,
// which anybody may have chosen.
func few(names []string) string {
	const most = 8
	var out []string
	for _, n := range names[:min(len(names), most)] {
		out = append(out, strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
				return '?'
			}
			return r
		}, n))
	}
	noun := "files"
	if len(names) == 1 {
		noun = "file"
	}
	s := fmt.Sprintf("%d %s: %s", len(names), noun, strings.Join(out, ", "))
	if len(names) > most {
		s += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return s
}
