package evidence

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ktriage/ktriage/collectors"
)

type entry struct {
	name, text string
	link       string
}

func tarOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: tar.TypeReg, Size: int64(len(e.text)), ModTime: time.Unix(1e9, 0)}
		if e.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, e.text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzOf(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstOf(t *testing.T, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

func zipOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: time.Unix(1e9, 0)}
		text := e.text
		if e.link != "" {
			h.SetMode(0o777 | 1<<27) // fs.ModeSymlink
			text = e.link
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPackings has the same two files in every way that they come in, with a
// path that leads out of the archive and a link among them.
func TestPackings(t *testing.T) {
	in := []entry{{name: "../../etc/m", text: etcdBody}, {name: "link", link: "/etc/passwd"}, {name: `cp\sched.txt`, text: schedBody}}
	plain := tarOf(t, in...)
	for name, b := range map[string][]byte{
		"a.tar": plain, "a.tar.gz": gzOf(t, plain), "a.tar.zst": zstOf(t, plain), "a.zip": zipOf(t, in...), "twice": gzOf(t, zstOf(t, plain)),
	} {
		for _, once := range []bool{false, true} {
			f := Bytes(name, time.Time{}, b)
			if once {
				f = Stream(name, bytes.NewReader(b))
			}
			e, err := New([]File{f}, Options{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if !slices.Equal(e.Read, []string{"cp/sched.txt", "etc/m"}) || len(e.Left) != 0 {
				t.Errorf("%s: read %q, left %v", name, e.Read, e.Left)
			}
			if body, gap := ask(t, e, collectors.Scrape, "pod+http://kube-system/m:2381/metrics"); gap != nil || body != etcdBody {
				t.Errorf("%s: %v %q", name, gap, body)
			}
		}
	}
}

func TestAnArchiveInATicketsArchive(t *testing.T) {
	inner := gzOf(t, tarOf(t, entry{name: "cp-1/metrics", text: etcdBody}))
	e, err := New([]File{Bytes("t.zip", time.Time{}, zipOf(t, entry{name: "bundle.tar.gz", text: string(inner)}, entry{name: "notes.txt", text: "it is slow"}))}, Options{})
	if err != nil || !slices.Equal(e.Read, []string{"bundle.tar.gz/cp-1/metrics"}) || len(e.Left) != 1 {
		t.Errorf("%v %+v", err, e)
	}
}

func TestWhatPowerShellWritesIsRead(t *testing.T) {
	b := []byte{0xff, 0xfe}
	for _, c := range strings.ReplaceAll(etcdBody, "\n", "\r\n") {
		b = append(b, byte(c), 0)
	}
	e, err := New([]File{Bytes("m.txt", time.Time{}, b)}, Options{})
	if err != nil || len(e.bodies) != 1 || e.bodies[0].id != 0xa1 {
		t.Errorf("%v %+v", err, e)
	}
}

func TestWhatIsCutShortCountsAsFarAsItGoesAndSaysSo(t *testing.T) {
	log := strings.Repeat("E0815 10:00:28.523612       1 reflector.go:140] Failed to watch *v1.Pod\n", 9000)
	whole := tarOf(t, entry{name: "m", text: etcdBody}, entry{name: "kube-scheduler.log", text: log})
	e, err := New([]File{Bytes("b.tar.gz", time.Time{}, gzOf(t, whole[:len(whole)/2]))}, Options{})
	if err != nil || !slices.Contains(e.Read, "m") || len(e.Left) == 0 || !strings.Contains(e.Left[0].Why, "in part") {
		t.Errorf("%v %+v", err, e)
	}
	// A part of a list would pass for all there is.
	list := `{"kind":"PodList","apiVersion":"v1","items":[` + strings.Repeat(etcdPod+",", 3)
	yaml := "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: a\n"
	for _, s := range []string{list, yaml} {
		e := evidence(t, map[string]string{"list": s, "m": etcdBody})
		if len(e.objects) != 0 || len(e.Left) != 1 {
			t.Errorf("%d kinds are kept of what breaks off: %v", len(e.objects), e.Left)
		}
	}
}

func TestWhatCannotBeUnpackedIsSaid(t *testing.T) {
	for name, b := range map[string]string{
		"a.tar.xz": "\xfd7zXZ\x00\x00", "a.gz": "\x1f\x8bnot gzip", "a.zst": "\x28\xb5\x2f\xfdnot", "a.zip": "PK\x03\x04not", "a.tar": string(tarOf(t, entry{name: "notes", text: "hello"})),
		"rec": string(gzOf(t, tarOf(t, entry{name: "requests/00001.json", text: "{}"}))),
	} {
		if _, err := New([]File{Bytes(name, time.Time{}, []byte(b))}, Options{}); err == nil || len(err.Error()) > 400 {
			t.Errorf("%s: %v", name, err)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

func TestAnArchiveThatHoldsItselfOverAndOverEnds(t *testing.T) {
	b := []byte(etcdBody)
	for range 9 {
		b = gzOf(t, b)
	}
	if _, err := New([]File{Bytes("a.gz", time.Time{}, b)}, Options{}); err == nil || !strings.Contains(err.Error(), "times over") {
		t.Error(err)
	}
}

// endless repeats a text.
type endless struct {
	text string
	at   int
}

func (r *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.text)
	}
	return n, nil
}

// allocated is how much memory a function asked for, in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestMemoryIsBounded reads what would not fit into memory, as it comes out of
// readers that make it up.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads 10 GB several times")
	}
	const huge = 10 << 30
	x := &endless{text: strings.Repeat("x", 1<<16)}
	for _, c := range []struct {
		name, begins string
		fill         io.Reader
		most         uint64
	}{
		{"one line of a log", "E0815 10:00:28.523612       1 reflector.go:140] ", x, 8 << 20},
		{"one line of nothing", "", x, 8 << 20},
		{"one string of JSON", `{"kind":"Pod","apiVersion":"v1","x":"`, x, 160 << 20},
		{"one line of YAML", "apiVersion: v1\nkind: Pod\nx: ", x, 512 << 20}, // half of it without the race detector
		{"one label of a metric", `etcd_server_has_leader{a="`, x, 8 << 20},
		{"nothing but zeros", "", &endless{text: strings.Repeat("\x00", 1<<16)}, 8 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e *Evidence
			var err error
			used := allocated(func() {
				e, err = New([]File{Stream("-", io.MultiReader(strings.NewReader(c.begins), io.LimitReader(c.fill, huge)))}, Options{})
			})
			if used > c.most {
				t.Errorf("it took %d MiB", used>>20)
			}
			t.Logf("%d MiB, %v", used>>20, err)
			if err == nil && len(e.Left) == 0 {
				t.Log("all of it was read")
			}
		})
	}
}

// TestABombIsNotUnpacked has 10 GB of zeros in an archive of 10 MB.
func TestABombIsNotUnpacked(t *testing.T) {
	if testing.Short() {
		t.Skip("it packs 10 GB")
	}
	r, w := io.Pipe()
	go func() {
		z, _ := zstd.NewWriter(w)
		a := tar.NewWriter(z)
		a.WriteHeader(&tar.Header{Name: "pods.json", Typeflag: tar.TypeReg, Size: 10 << 30})
		io.WriteString(a, `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"`)
		io.Copy(a, io.LimitReader(&endless{text: strings.Repeat("x", 1<<16)}, 2<<30))
		w.CloseWithError(z.Close())
	}()
	_, err := New([]File{Stream("-", r)}, Options{})
	if err == nil || !strings.Contains(err.Error(), "one value of it is over") {
		t.Error(err)
	}
	io.Copy(io.Discard, r)
}
