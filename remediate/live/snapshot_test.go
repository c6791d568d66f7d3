package live

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSnapshotIsWholeOrNotThere cuts a stream off at every blob, breaks it, and
// changes it, and demands that no file is left.
func TestSnapshotIsWholeOrNotThere(t *testing.T) {
	data := []byte(strings.Repeat("0123456789abcdef", 4*512/16))
	sum := sha256.Sum256(data)
	whole := append(append([]byte{}, data...), sum[:]...)
	stream := func(b []byte, size int, end error) func() ([]byte, error) {
		return func() ([]byte, error) {
			if len(b) == 0 {
				return nil, end
			}
			n := min(size, len(b))
			blob := b[:n]
			b = b[n:]
			return blob, nil
		}
	}
	broken := append([]byte{}, whole...)
	broken[100] ^= 1
	boom := errors.New("boom")
	for _, tt := range []struct {
		name string
		next func() ([]byte, error)
		ok   bool
	}{
		{"whole", stream(whole, 1000, io.EOF), true},
		{"whole, byte by byte", stream(whole, 1, io.EOF), true},
		{"whole, at once", stream(whole, len(whole), io.EOF), true},
		{"empty", stream(nil, 1, io.EOF), false},
		{"without its hash", stream(data, 512, io.EOF), false},
		{"a page less", stream(append(append([]byte{}, data[512:]...), sum[:]...), 512, io.EOF), false},
		{"cut off", stream(whole[:600], 512, io.EOF), false},
		{"broken off", stream(whole[:600], 512, boom), false},
		{"changed", stream(broken, 512, io.EOF), false},
		{"only a hash", stream(sum[:], 512, io.EOF), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "x.db")
			_, n, err := Save(path, tt.next)
			left, _ := os.ReadDir(dir)
			if tt.ok {
				got, rerr := os.ReadFile(path)
				if err != nil || rerr != nil || string(got) != string(whole) || n != int64(len(whole)) || len(left) != 1 {
					t.Errorf("%v %v, %d bytes, files %v", err, rerr, n, left)
				}
				return
			}
			if err == nil || len(left) > 0 {
				t.Errorf("got %v, files %v", err, left)
			}
		})
	}
	t.Run("what is there is not written over", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.db")
		os.WriteFile(path, []byte("precious"), 0o600)
		if _, _, err := Save(path, stream(whole, 512, io.EOF)); err == nil {
			t.Error("it was")
		}
		if b, _ := os.ReadFile(path); string(b) != "precious" {
			t.Errorf("it holds %q", b)
		}
	})
}

func TestJournalIsOneProcessAtATime(t *testing.T) {
	dir := t.TempDir()
	j, err := OpenJournal(dir, "p")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(dir, "p"); err == nil || !strings.Contains(err.Error(), "another ktriage has it") {
		t.Errorf("got %v", err)
	}
	j.Write([]byte(`{"at":"2026-01-02T03:04:05Z","event":"began","plan":"p"}` + "\n" + `{"at":"2026-`))
	j.Close()
	j, err = OpenJournal(dir, "p")
	if err != nil || len(j.Records) != 1 {
		t.Fatalf("got %v, %v", j, err)
	}
	j.Write([]byte("x"))
	j.Close()
	b, _ := os.ReadFile(filepath.Join(dir, "p.jsonl"))
	if strings.Contains(string(b), `{"at":"2026-x`) || !strings.HasSuffix(string(b), "}\nx") {
		t.Errorf("the line that was cut off is still there: %q", b)
	}
}
