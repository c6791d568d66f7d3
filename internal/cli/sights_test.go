package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ktriage/ktriage/remediate"
)

func TestSights(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if got := sights(dir, "7", remediate.Sight{At: at, Revision: 10}); len(got) != 0 {
		t.Errorf("something was seen before the first look: %v", got)
	}
	sights(dir, "7", remediate.Sight{At: at.Add(time.Second), Revision: 11}) // is too soon to be worth a line
	for i := range 300 {
		sights(dir, "7", remediate.Sight{At: at.Add(time.Duration(i+1) * time.Hour), Revision: int64(100 + i)})
	}
	got := sights(dir, "7", remediate.Sight{})
	if len(got) != maxSights || got[len(got)-1].Revision != 399 || got[0].Revision != 200 {
		t.Errorf("got %d, from %v to %v", len(got), got[0], got[len(got)-1])
	}
	if got := sights(dir, "8", remediate.Sight{}); len(got) != 0 {
		t.Errorf("another cluster has %v", got)
	}
	file := sightsFile(dir, "7")
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	if err := os.WriteFile(file, []byte("{\"at\":\n\x00{}\n{\"at\":\"2026-01-02T03:04:05Z\",\"revision\":5}\n{\"revision\":-1}\ncut o"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := sights(dir, "7", remediate.Sight{}); len(got) != 1 || got[0].Revision != 5 {
		t.Errorf("of a broken file: %v", got)
	}
	// Where nothing can be written, nothing is lost but the sight.
	if got := sights(filepath.Join(file, "x"), "7", remediate.Sight{At: at, Revision: 1}); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func FuzzSights(f *testing.F) {
	f.Add([]byte("{\"at\":\"2026-01-02T03:04:05Z\",\"revision\":5}\n"))
	f.Add([]byte("{}\n\xff\n{\"at\":0}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := readSights(bytes.NewReader(b))
		if len(got) > maxSights {
			t.Errorf("%d", len(got))
		}
		for _, s := range got {
			if s.Revision <= 0 || s.At.IsZero() {
				t.Errorf("%+v", s)
			}
			if _, err := json.Marshal(s); err != nil {
				t.Errorf("%+v: %v", s, err)
			}
		}
	})
}

// FuzzReadSights reads revisions from a file that is broken: what it takes has a
// revision and a time.
func FuzzReadSights(f *testing.F) {
	f.Add([]byte("{\"at\":\"2026-01-02T03:04:05Z\",\"revision\":5}\n{\"revision\":-1}\ncut o"))
	f.Add([]byte("{\"at\":\n\x00{}\n{\"at\":\"9999-12-31T23:59:59+23:59\",\"revision\":9223372036854775807}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := readSights(bytes.NewReader(b))
		if len(got) > maxSights {
			t.Errorf("it took %d", len(got))
		}
		for _, s := range got {
			if s.Revision <= 0 || s.At.IsZero() {
				t.Errorf("it took %v", s)
			}
		}
	})
}
