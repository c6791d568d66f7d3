package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/ktriage/ktriage/remediate"
)

// silence is how long a stream of a snapshot may pause. It has no deadline as a
// whole: it is as long as the database is large.
const silence = time.Minute

// roomFor is how much room a snapshot must find, of the size of the database: the
// disk may be the one that etcd itself writes to.
const roomFor = 1.5

// snapshot streams the database of a member to a file. The member appends the
// hash of what it sent, as etcdctl keeps it: etcdutl wants it there.
func (a *Actuator) snapshot(ctx context.Context, x remediate.Action) (remediate.Outcome, error) {
	out, err := a.save(ctx, x)
	if err != nil {
		return nil, &remediate.NotDone{Err: err} // there is no file, and no member changed
	}
	return out, nil
}

func (a *Actuator) save(ctx context.Context, x remediate.Action) (remediate.Outcome, error) {
	path := x.Args[remediate.ArgFile]
	if path == "" {
		return nil, errors.New("no file to save the snapshot to")
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s is there already, and is not written over", path)
	}
	c, err := a.member(ctx, x.Target.Name)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if free, err := room(filepath.Dir(path)); err == nil && float64(free) < roomFor*float64(c.status.DbSize) {
		return nil, fmt.Errorf("%s has room for %d bytes, the database has %d: a full disk can stop etcd, too", filepath.Dir(path), free, c.status.DbSize)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := pb.NewMaintenanceClient(c).Snapshot(ctx, &pb.SnapshotRequest{})
	if err != nil {
		return nil, fmt.Errorf("snapshot of %s: %w", x.Target.Name, err)
	}
	watch := time.AfterFunc(silence, func() { cancel(fmt.Errorf("nothing came for %s", silence)) })
	defer watch.Stop()
	sum, size, err := Save(path, func() ([]byte, error) {
		watch.Reset(silence)
		r, err := stream.Recv()
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return nil, err
		}
		return r.Blob, nil
	})
	if err != nil {
		return nil, fmt.Errorf("snapshot of %s: %w", x.Target.Name, err)
	}
	return remediate.Outcome{
		"file": path, "bytes": strconv.FormatInt(size, 10), "sha256": sum,
		"revision": strconv.FormatInt(c.status.Header.Revision, 10) + " or later",
	}, nil
}

// Save writes a snapshot to a file that appears when it is whole: blobs until
// io.EOF, the last 32 bytes being the hash of those before.
func Save(path string, next func() ([]byte, error)) (sum string, size int64, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-*") // mode 0600
	if err != nil {
		return "", 0, err
	}
	defer func() {
		file.Close() // was closed if all went well
		os.Remove(file.Name())
	}()
	w := tail{out: file, hash: sha256.New()}
	for {
		blob, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", 0, err
		}
		if err := w.write(blob); err != nil {
			return "", 0, err
		}
	}
	if err := w.verify(); err != nil {
		return "", 0, err
	}
	if err := file.Sync(); err != nil {
		return "", 0, err
	}
	if err := file.Close(); err != nil {
		return "", 0, err
	}
	// What the disk holds is what counts.
	if err := reread(file.Name(), w.hash.Sum(nil)); err != nil {
		return "", 0, err
	}
	if err := os.Link(file.Name(), path); err != nil { // unlike a rename, it replaces nothing
		return "", 0, err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(w.hash.Sum(nil)), w.size, nil
}

// A tail writes all it is given, and hashes all but the last 32 bytes.
type tail struct {
	out  io.Writer
	hash hash.Hash
	last []byte
	size int64
}

func (t *tail) write(b []byte) error {
	if _, err := t.out.Write(b); err != nil {
		return err
	}
	t.size += int64(len(b))
	t.last = append(t.last, b...)
	if over := len(t.last) - sha256.Size; over > 0 {
		t.hash.Write(t.last[:over])
		t.last = append(t.last[:0], t.last[over:]...)
	}
	return nil
}

// page is what a database is a multiple of.
const page = 512

func (t *tail) verify() error {
	switch {
	case t.size <= sha256.Size || t.size%page != sha256.Size:
		return fmt.Errorf("the stream ended after %d bytes, without a hash: it is not whole", t.size)
	case !bytes.Equal(t.hash.Sum(nil), t.last):
		return errors.New("the hash of what came is not the one that the member sent")
	}
	return nil
}

// reread hashes a file again, but for its last 32 bytes.
func reread(path string, want []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	h := sha256.New()
	if _, err := io.CopyN(h, f, st.Size()-sha256.Size); err != nil {
		return err
	}
	if !bytes.Equal(h.Sum(nil), want) {
		return errors.New("what the disk holds is not what was written to it")
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
