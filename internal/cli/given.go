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

// given is the origin that --from names: a recording of ktriage, or loose
// evidence.
func (a *app) given(f *sourceFlags) (*origin, error) {
	var at time.Time
	if f.at != "" {
		t, err := time.Parse(time.RFC3339, f.at)
		if err != nil {
			return nil, usagef("--at %q is not a time such as 2006-01-02T15:04:05Z", f.at)
		}
		at = t
	}
	if f.from == "demo" {
		return recorded(f.from, bytes.NewReader(demo))
	}
	if f.from == "-" {
		return a.stream(f.from, a.Stdin, time.Time{}, at)
	}
	st, err := os.Stat(f.from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usageError{hinted{fmt.Errorf("--from: %w", err), "make one with: ktriage capture -o FILE.tar.gz"}}
	case err != nil:
		return nil, fmt.Errorf("--from: %w", err)
	case st.IsDir():
		root, err := os.OpenRoot(f.from)
		if err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
		files, err := evidence.Dir(root.FS())
		if err != nil {
			return nil, fmt.Errorf("--from %s: %w", f.from, err)
		}
		o, err := a.loose(f.from, files, at)
		if err != nil {
			root.Close()
			return nil, err
		}
		o.close = func() { root.Close() }
		return o, nil
	}
	file, err := os.Open(f.from)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	defer file.Close()
	return a.stream(f.from, file, st.ModTime(), at)
}

// maxStream bounds a single file of evidence, which is held in memory.
const maxStream = 1 << 30

// stream tells by its content what one file is: a recording, another archive,
// or a piece of evidence.
func (a *app) stream(name string, r io.Reader, modified, at time.Time) (*origin, error) {
	in := bufio.NewReader(r)
	if head, _ := in.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		b, err := io.ReadAll(io.LimitReader(in, maxStream+1))
		if err != nil {
			return nil, fmt.Errorf("--from %s: %w", name, err)
		}
		if len(b) > maxStream {
			return nil, fmt.Errorf("--from %s: it is over %d bytes", name, maxStream)
		}
		switch kind, err := archiveKind(b); {
		case err != nil:
			return nil, hinted{fmt.Errorf("--from %s: %w", name, err), "nothing was judged; make a recording with: ktriage capture -o FILE.tar.gz"}
		case kind == isRecording:
			return recorded(name, bytes.NewReader(b))
		case kind == isTar:
			files, err := evidence.Tar(bytes.NewReader(b))
			if err != nil {
				return nil, fmt.Errorf("--from %s: %w", name, err)
			}
			return a.loose(name, files, at)
		}
		return a.loose(name, []evidence.File{evidence.Bytes(filepath.Base(name), modified, b)}, at)
	}
	// The name of a tar's format stands at this place of its first block.
	if head, _ := in.Peek(262); len(head) == 262 && string(head[257:]) == "ustar" {
		files, err := evidence.Tar(in)
		if err != nil {
			return nil, fmt.Errorf("--from %s: %w", name, err)
		}
		return a.loose(name, files, at)
	}
	b, err := io.ReadAll(io.LimitReader(in, maxStream+1))
	if err != nil {
		return nil, fmt.Errorf("--from %s: %w", name, err)
	}
	if len(b) > maxStream {
		return nil, fmt.Errorf("--from %s: it is over %d bytes", name, maxStream)
	}
	return a.loose(name, []evidence.File{evidence.Bytes(filepath.Base(name), modified, b)}, at)
}

// An archive is what a gzipped file holds.
type archive int

const (
	isFile archive = iota
	isTar
	isRecording
)

// archiveKind looks at the first block of a gzipped file.
func archiveKind(b []byte) (archive, error) {
	r, err := evidence.Unzip(bytes.NewReader(b))
	if err != nil {
		return isFile, err
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return isFile, fmt.Errorf("unpack: %w", err)
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("requests/")) || bytes.HasPrefix(head, []byte("ktriage.json\x00")):
		return isRecording, nil
	case n == 512 && string(head[257:262]) == "ustar":
		return isTar, nil
	}
	return isFile, nil
}

func recorded(name string, r io.Reader) (*origin, error) {
	rec, err := capture.Open(r)
	if err != nil {
		return nil, hinted{fmt.Errorf("--from %s: %w", name, err), "nothing was judged; make a recording with: ktriage capture -o FILE.tar.gz"}
	}
	return &origin{
		source: rec, name: name, meta: &rec.Meta,
		cost: func() collectors.Cost { return rec.Meta.Cost }, close: func() {},
	}, nil
}

// loose is the origin of loose evidence. What was read of it, and what was
// not, is told on standard error.
func (a *app) loose(name string, files []evidence.File, at time.Time) (*origin, error) {
	e, err := evidence.New(files, at)
	if err != nil {
		return nil, hinted{fmt.Errorf("--from %s: %w", name, err), "nothing was judged; see docs for what is read: metrics, kubectl get -o yaml, etcdctl endpoint status, logs"}
	}
	a.note("read %s", few(e.Read))
	var left []string
	for _, s := range e.Left {
		left = append(left, fmt.Sprintf("%s (%s)", s.Name, s.Why))
	}
	if len(left) > 0 {
		a.note("not recognised: %s", few(left))
	}
	a.note("the evidence is from %s, %s", e.At.Format(time.RFC3339), e.Dated)
	return &origin{
		source: e, name: name, meta: &capture.Meta{Tool: version(), Source: name, StartedAt: e.At},
		cost: func() collectors.Cost { return collectors.Cost{} }, close: func() {},
	}, nil
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
