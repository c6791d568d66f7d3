package evidence

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

// Limits of what is read. They are far above what a ticket holds, and end the
// reading of what was made to exhaust memory or time.
const (
	maxFiles  = 100_000
	maxStored = 1 << 30  // bytes that are held in memory: what cannot be read a second time, and is wanted twice
	maxRead   = 32 << 30 // bytes that are looked at in all, unpacked
	maxText   = 64 << 20 // of a file that is read whole
	maxValue  = 16 << 20 // of one value of JSON: etcd holds none of over 1.5 MiB
	maxName   = 500
)

// A File is one piece of evidence that was not looked into yet. It may be an
// archive.
type File struct {
	Name     string
	Modified time.Time // zero if that is not known
	Open     func() (io.ReadCloser, error)
	Once     bool // Open works once, as standard input does

	rank int // of the part that it is of, the later the higher
}

// Dir lists the files below a folder. Links are not followed: they may lead
// out of it.
func Dir(fsys fs.FS) ([]File, error) {
	var out []File
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != ".":
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		case len(out) == maxFiles:
			return fmt.Errorf("it holds more than %d files", maxFiles)
		}
		f := File{Name: name, Open: func() (io.ReadCloser, error) { return fsys.Open(name) }}
		if i, err := d.Info(); err == nil {
			f.Modified = i.ModTime()
		}
		out = append(out, f)
		return nil
	})
	return out, err
}

// Bytes makes a File of what was read already.
func Bytes(name string, modified time.Time, b []byte) File {
	return File{Name: name, Modified: modified, Open: inMemory(b)}
}

// inMemory opens bytes as a file that can be sought in.
func inMemory(b []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return memory{bytes.NewReader(b)}, nil }
}

type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

// Stream makes a File of what can be read once. Of a log no more than a line is
// held in memory, however long the log is.
func Stream(name string, r io.Reader) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }, Once: true}
}

// An input is one file while it is read: of a folder, of standard input, or out
// of an archive.
type input struct {
	name     string
	modified time.Time
	in       *bufio.Reader
	again    func() (io.ReadCloser, error) // nil where it can be read once only
	depth    int                           // how many archives it is in
	rank     int                           // of the part of the evidence that it is of
	alone    bool                          // it is all the evidence: what it holds needs no longer name
}

func (e *Evidence) input(f File) (*input, io.Closer, error) {
	c, err := f.Open()
	if err != nil {
		return nil, nil, err
	}
	in := &input{name: f.Name, modified: f.Modified, rank: f.rank, in: bufio.NewReaderSize(e.meter(c), headSize)}
	if !f.Once {
		in.again = f.Open
	}
	return in, c, nil
}

// head returns the beginning of the input, which is still to be read.
func (in *input) head() ([]byte, error) {
	b, err := in.in.Peek(headSize)
	if err != nil && len(b) == 0 && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// text reads an input that is kept whole.
func (in *input) text() ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in.in, maxText+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxText:
		return nil, fmt.Errorf("it is over %d bytes", maxText)
	}
	return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), nil
}

// reopened returns how the input is read a second time. What cannot be is kept
// in memory for that, and in is what was kept.
func (e *Evidence) reopened(in *input) (func() (io.ReadCloser, error), error) {
	if in.again != nil {
		return in.again, nil
	}
	left := int64(maxStored) - e.stored
	b, err := io.ReadAll(io.LimitReader(in.in, left+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(b)) > left:
		return nil, fmt.Errorf("it would take over %d bytes of memory to keep; unpack it into a folder", int64(maxStored))
	}
	e.stored += int64(len(b))
	in.in.Reset(bytes.NewReader(b))
	return inMemory(b), nil
}

var errTooMuch = fmt.Errorf("it unpacks to more than %d bytes", int64(maxRead))

// meter bounds what is looked at in all.
func (e *Evidence) meter(r io.Reader) io.Reader { return &metered{r, &e.looked} }

type metered struct {
	r   io.Reader
	sum *int64
}

func (m *metered) Read(p []byte) (int, error) {
	if *m.sum > maxRead {
		return 0, errTooMuch
	}
	n, err := m.r.Read(p)
	*m.sum += int64(n)
	return n, err
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxName)], "?") }
