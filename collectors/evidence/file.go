package evidence

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Limits of what is read. They are far above what a ticket holds, and end the
// reading of what was made to exhaust memory.
const (
	maxFiles    = 20_000
	maxUnpacked = 1 << 30 // bytes of an archive, which is held in memory
	maxText     = 64 << 20
	maxName     = 500
)

// A File is one piece of evidence that was not looked into yet.
type File struct {
	Name     string
	Modified time.Time // zero if that is not known
	Open     func() (io.ReadCloser, error)
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
	return File{Name: name, Modified: modified, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
}

// Tar lists the files of an archive, gzipped or not. It is held in memory, and
// nothing of it is written anywhere; names only serve to tell files apart.
func Tar(r io.Reader) ([]File, error) {
	r, err := Unzip(r)
	if err != nil {
		return nil, err
	}
	var out []File
	total := int64(0)
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("read archive: %w", err)
		case h.Typeflag != tar.TypeReg:
			continue
		case len(out) == maxFiles:
			return nil, fmt.Errorf("the archive holds more than %d files", maxFiles)
		case h.Size < 0 || h.Size > maxUnpacked-total:
			return nil, fmt.Errorf("the archive unpacks to more than %d bytes", maxUnpacked)
		}
		// The header's size is a claim: what is read is what counts.
		b, err := io.ReadAll(io.LimitReader(t, h.Size))
		if err != nil {
			return nil, fmt.Errorf("read archive: %s: %w", clip(h.Name), err)
		}
		total += int64(len(b))
		out = append(out, Bytes(path.Clean("/" + clip(h.Name))[1:], h.ModTime, b))
	}
}

// Unzip undoes gzip if that is what r begins with.
func Unzip(r io.Reader) (io.Reader, error) {
	head := make([]byte, 2)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	r = io.MultiReader(bytes.NewReader(head[:n]), r)
	if n < 2 || head[0] != 0x1f || head[1] != 0x8b {
		return r, nil
	}
	gz, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return gz, nil
}

// open opens a file, undoing gzip.
func (f File) open() (io.Reader, func(), error) {
	c, err := f.Open()
	if err != nil {
		return nil, nil, err
	}
	r, err := Unzip(c)
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return r, func() { c.Close() }, nil
}

// text reads a file that is kept whole.
func (f File) text() ([]byte, error) {
	r, done, err := f.open()
	if err != nil {
		return nil, err
	}
	defer done()
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxText:
		return nil, fmt.Errorf("it is over %d bytes", maxText)
	}
	return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), nil
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxName)], "?") }
