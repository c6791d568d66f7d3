package evidence

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// A packing is how a file is packed, which is told by how it begins.
type packing int

const (
	plainFile packing = iota
	gzipped
	zstandard
	bzipped
	utf16Text // as PowerShell writes what it is to put into a file
	tarFile
	zipFile
	unknownPacking // xz, 7z
)

func packed(head []byte) packing {
	for _, m := range [...]struct {
		magic string
		what  packing
	}{
		{"\x1f\x8b", gzipped}, {"\x28\xb5\x2f\xfd", zstandard}, {"BZh", bzipped}, {"\xff\xfe", utf16Text}, {"\xfe\xff", utf16Text},
		{"PK\x03\x04", zipFile}, {"PK\x05\x06", zipFile}, {"\xfd7zXZ\x00", unknownPacking}, {"7z\xbc\xaf\x27\x1c", unknownPacking},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.what
		}
	}
	// The name of a tar's format stands at this place of its first block.
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return tarFile
	}
	return plainFile
}

// maxWindow bounds what a zstd stream may ask to be kept: what zstd --long makes
// is within it.
const maxWindow = 128 << 20

// unpack undoes what a stream is packed with.
func unpack(p packing, r io.Reader) (io.Reader, func(), error) {
	nothing := func() {}
	switch p {
	case gzipped:
		gz, err := gzip.NewReader(r)
		return gz, nothing, err
	case zstandard:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nothing, err
		}
		return z, z.Close, nil
	case bzipped:
		return bzip2.NewReader(r), nothing, nil
	case utf16Text:
		return transform.NewReader(r, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()), nothing, nil
	}
	return r, nothing, nil
}

// First returns the beginning of what a stream holds, unpacked, and leaves the
// stream as it is.
func First(in *bufio.Reader) ([]byte, error) {
	head, err := in.Peek(in.Size())
	if err != nil && len(head) == 0 && !errors.Is(err, io.EOF) {
		return nil, err
	}
	p := packed(head)
	if p != gzipped && p != zstandard {
		return head, nil
	}
	r, done, err := unpack(p, bytes.NewReader(head))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer done()
	b := make([]byte, 512)
	n, err := io.ReadFull(r, b)
	if n == 0 && err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return b[:n], nil
}

// maxDepth bounds archives in archives: a ticket's zip with a bundle in it, with
// rotated logs in that.
const maxDepth = 4

// take looks into one input and puts what it holds into the index. The error
// says why nothing, or not all, of it is there.
func (e *Evidence) take(in *input) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a bug in ktriage: %v", r)
		}
	}()
	head, err := in.head()
	if err != nil {
		return err
	}
	p := packed(head)
	if p != plainFile && in.depth == maxDepth {
		return fmt.Errorf("it is packed more than %d times over", maxDepth)
	}
	switch p {
	case gzipped, zstandard, bzipped, utf16Text:
		return e.takePacked(in, p)
	case tarFile:
		return e.takeTar(in)
	case zipFile:
		return e.takeZip(in)
	case unknownPacking:
		return errors.New("it is packed in a way that ktriage does not undo (xz, 7z): unpack it first")
	}
	if err := e.interpret(in, head); err != nil {
		return err
	}
	e.Read = append(e.Read, in.name)
	if in.modified.After(e.newest) {
		e.newest = in.modified
	}
	return nil
}

func (e *Evidence) takePacked(in *input, p packing) error {
	r, done, err := unpack(p, in.in)
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	defer done()
	inner := *in
	inner.depth++
	inner.in = bufio.NewReaderSize(e.meter(r), headSize)
	if in.again != nil {
		inner.again = func() (io.ReadCloser, error) {
			c, err := in.again()
			if err != nil {
				return nil, err
			}
			r, done, err := unpack(p, c)
			if err != nil {
				c.Close()
				return nil, err
			}
			return closer{r, func() { done(); c.Close() }}, nil
		}
	}
	return e.take(&inner)
}

// within names what is in an archive. Names only serve to tell files apart:
// nothing of an archive is written anywhere.
func (in *input) within(name string) string {
	name = path.Clean("/" + strings.ReplaceAll(clip(name), `\`, "/"))[1:]
	if in.alone {
		return name
	}
	return in.name + "/" + name
}

var errRecording = errors.New("it is a recording of ktriage: give it to --from by itself")

// takeTar reads the files of an archive as they come by.
func (e *Evidence) takeTar(in *input) error {
	before := len(e.Read)
	t := tar.NewReader(in.in)
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return e.some(before)
		case err != nil:
			return e.broken(in, before, err)
		case h.Typeflag != tar.TypeReg:
			continue
		case n == 0 && strings.HasPrefix(h.Name, "requests/"):
			return errRecording
		}
		if err := e.count(); err != nil {
			return e.broken(in, before, err)
		}
		x := &input{name: in.within(h.Name), modified: h.ModTime, in: bufio.NewReaderSize(t, headSize), depth: in.depth + 1, rank: in.rank}
		if err := e.take(x); err != nil {
			e.skip(x.name, err.Error())
		}
	}
}

// takeZip reads the files of an archive, which is held in memory packed.
func (e *Evidence) takeZip(in *input) error {
	again, err := e.reopened(in)
	if err != nil {
		return err
	}
	at, size, done, err := seekable(again)
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			done()
		}
	}()
	z, err := zip.NewReader(at, size)
	if err != nil {
		return fmt.Errorf("read archive: %w", err)
	}
	before := len(e.Read)
	for _, f := range z.File {
		if !f.Mode().IsRegular() {
			continue
		}
		if err := e.count(); err != nil {
			return e.broken(in, before, err)
		}
		name := in.within(f.Name)
		if f.Flags&1 != 0 {
			e.skip(name, "it is encrypted: unpack it with its password first")
			continue
		}
		if err := e.takeZipped(in, name, f); err != nil {
			e.skip(name, err.Error())
		}
	}
	keep = true // bodies are read out of it later
	return e.some(before)
}

func (e *Evidence) takeZipped(in *input, name string, f *zip.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	x := &input{name: name, in: bufio.NewReaderSize(e.meter(r), headSize), again: f.Open, depth: in.depth + 1, rank: in.rank}
	if exactTime(f.Extra) {
		x.modified = f.Modified
	}
	return e.take(x)
}

// exactTime reports whether a zip's entry tells its time to the second and in
// UTC: without such a field it is told to two seconds, in a zone unknown.
func exactTime(extra []byte) bool {
	for len(extra) >= 4 {
		id, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if id == 0x5455 || id == 0x000a || id == 0x000d {
			return true
		}
		if extra = extra[4:]; size > len(extra) {
			return false
		}
		extra = extra[size:]
	}
	return false
}

// seekable opens what a zip is read from: a file as it is, or else in memory.
func seekable(open func() (io.ReadCloser, error)) (io.ReaderAt, int64, func(), error) {
	c, err := open()
	if err != nil {
		return nil, 0, nil, err
	}
	done := func() { c.Close() }
	if f, ok := c.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		if size, err := f.Seek(0, io.SeekEnd); err == nil {
			return f, size, done, nil
		}
	}
	defer done()
	b, err := io.ReadAll(io.LimitReader(c, maxStored+1))
	if err == nil && len(b) > maxStored {
		err = fmt.Errorf("it is over %d bytes", int64(maxStored))
	}
	return bytes.NewReader(b), int64(len(b)), func() {}, err
}

// count takes note of one more file.
func (e *Evidence) count() error {
	if e.files++; e.files > maxFiles {
		return fmt.Errorf("it holds more than %d files", maxFiles)
	}
	return nil
}

// broken says that an archive ends before its end: what came before counts.
func (e *Evidence) broken(in *input, before int, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it breaks off, as if it was cut short")
	}
	if len(e.Read) == before {
		return fmt.Errorf("read archive: %w", err)
	}
	e.skip(in.name, "in part: "+err.Error())
	return nil
}

// some is an error if an archive had nothing in it that is read.
func (e *Evidence) some(before int) error {
	if len(e.Read) == before {
		return errors.New("no file in it is of a kind that ktriage reads")
	}
	return nil
}
