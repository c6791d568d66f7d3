// Package runs keeps the reports of runs in a folder: those of each run, the
// latest under names that stay, and a page over time.
//
// Every file is written whole beside its place and then takes it, so that a run
// which is killed leaves no half file. Of a run, the JSON comes last: a run is
// there when that is. Nobody locks anything, as not all file systems can: runs at
// the same time take different names, and who writes the page over time looks
// whether another run has come, until none has.
package runs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/internal/diff"
	"github.com/ktriage/ktriage/internal/render"
	"github.com/ktriage/ktriage/internal/render/html"
	"github.com/ktriage/ktriage/internal/render/prometheus"
	"github.com/ktriage/ktriage/internal/report"
)

const (
	// sub is the folder of the runs: beside the names that stay there is one file
	// of metrics only, as a textfile collector reads all that it finds.
	sub = "runs"
	// unfinished is what the names of files begin with that are being written.
	unfinished = ".ktriage-"
	// Shown is how many runs the page over time tells: each is read for it.
	Shown = 120
	// drawn is over how many runs the page of one draws its vitals.
	drawn = 30
	// abandoned is for how long a file that is being written is left alone. A run
	// writes for a second.
	abandoned = time.Hour
	// maxRounds bounds how often the page over time is written anew because another
	// run has come meanwhile.
	maxRounds = 10
)

// A Folder keeps runs. Close it when done.
type Folder struct {
	root *os.Root
	path string
}

// Open opens a folder of runs, and makes it if it is not there.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{root, dir}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// named is what a run's JSON is called: when it began, and a number from 2 on if
// another began in the same millisecond.
var named = regexp.MustCompile(`^(\d{8}T\d{6}\.\d{3}Z)(-\d+)?\.json$`)

const stamp = "20060102T150405.000Z"

// forms are the files of a run, in the order in which they are written. JSON is
// the last.
var forms = []string{"html", "prom", "json"}

// list names the runs, the earliest first.
func (f *Folder) list() ([]string, error) {
	entries, err := fs.ReadDir(f.root.FS(), sub)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if named.MatchString(e.Name()) {
			out = append(out, strings.TrimSuffix(e.Name(), ".json"))
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		// The tenth of a millisecond comes behind its second.
		return order(a, b)
	})
	return out, nil
}

func order(a, b string) int {
	ta, na, _ := strings.Cut(a, "-")
	tb, nb, _ := strings.Cut(b, "-")
	switch {
	case ta != tb:
		return strings.Compare(ta, tb)
	case len(na) != len(nb):
		return len(na) - len(nb)
	}
	return strings.Compare(na, nb)
}

func (f *Folder) read(name string) (*report.Report, error) {
	file, err := f.root.Open(path.Join(sub, name+".json"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return report.Read(file)
}

// Latest is the latest report that can be read, or nil if there is none. Skipped
// are the runs after it that cannot be read.
func (f *Folder) Latest() (rep *report.Report, skipped []error, err error) {
	names, err := f.list()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Backward(names) {
		if rep, err = f.read(name); err == nil {
			return rep, skipped, nil
		}
		skipped = append(skipped, fmt.Errorf("%s.json: %w", filepath.Join(f.path, sub, name), err))
	}
	return nil, skipped, nil
}

// Add keeps a report, and at most so many in all. It returns where the JSON is.
func (f *Folder) Add(r *report.Report, keep int, now time.Time) (string, error) {
	name, release, err := f.reserve(r.StartedAt)
	if err != nil {
		return "", err
	}
	defer release()
	past, err := f.past()
	if err != nil {
		return "", err
	}
	for _, form := range forms {
		if err := f.write(path.Join(sub, name+"."+form), func(w io.Writer) error {
			switch form {
			case "html":
				return html.WriteAfter(w, r, past)
			case "prom":
				return prometheus.Write(w, r)
			}
			return render.JSON(w, r)
		}); err != nil {
			return "", err
		}
	}
	if err := f.retain(keep, now); err != nil {
		return "", err
	}
	return filepath.Join(f.path, sub, name+".json"), f.refresh()
}

// reserve finds a name that no other run has or takes.
func (f *Folder) reserve(at time.Time) (name string, release func(), err error) {
	base := at.UTC().Format(stamp)
	for n := 1; ; n++ {
		name = base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		mark := path.Join(sub, unfinished+name)
		file, err := f.root.OpenFile(mark, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		file.Close()
		release = func() { _ = f.root.Remove(mark) }
		if _, err := f.root.Stat(path.Join(sub, name+".json")); errors.Is(err, fs.ErrNotExist) {
			return name, release, nil
		}
		release()
	}
}

// past are the vitals of the last runs.
func (f *Folder) past() ([]html.Past, error) {
	names, err := f.list()
	if err != nil {
		return nil, err
	}
	var out []html.Past
	for _, name := range names[max(0, len(names)-drawn):] {
		if r, err := f.read(name); err == nil { // the page over time tells which cannot be read
			out = append(out, html.Past{At: r.StartedAt, Vitals: r.Vitals})
		}
	}
	return out, nil
}

// write writes a file whole, or leaves what was there.
func (f *Folder) write(name string, body func(io.Writer) error) error {
	var b bytes.Buffer
	if err := body(&b); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(f.path, name), err)
	}
	dir, base := path.Split(name)
	var temp string
	var file *os.File
	for n := os.Getpid(); ; n++ {
		var err error
		temp = fmt.Sprintf("%s%s%s-%d", dir, unfinished, base, n)
		if file, err = f.root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
			break
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	_, err := file.Write(b.Bytes())
	// On the disk before it takes its place: after a power cut there is the old
	// file or the new one.
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = f.root.Rename(temp, name)
	}
	if err != nil {
		_ = f.root.Remove(temp)
	}
	return err
}

// retain takes away the oldest runs beyond keep, and what killed runs have left.
// It touches no file that a run did not make.
func (f *Folder) retain(keep int, now time.Time) error {
	names, err := f.list()
	if err != nil {
		return err
	}
	remove := func(name string) error {
		if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // another may be quicker
			return err
		}
		return nil
	}
	for _, name := range names[:max(0, len(names)-keep)] {
		for _, form := range slices.Backward(forms) { // without its JSON it is no run
			if err := remove(path.Join(sub, name+"."+form)); err != nil {
				return err
			}
		}
	}
	for _, dir := range []string{".", sub} {
		entries, err := fs.ReadDir(f.root.FS(), dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), unfinished) && !f.orphan(dir, e.Name()) {
				continue
			}
			if st, err := e.Info(); err == nil && now.Sub(st.ModTime()) > abandoned {
				if err := remove(path.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// orphan is a page or the metrics of a run that was killed before its JSON.
func (f *Folder) orphan(dir, name string) bool {
	ext := path.Ext(name)
	if dir != sub || ext != ".html" && ext != ".prom" || !named.MatchString(strings.TrimSuffix(name, ext)+".json") {
		return false
	}
	_, err := f.root.Stat(path.Join(sub, strings.TrimSuffix(name, ext)+".json"))
	return errors.Is(err, fs.ErrNotExist)
}

// refresh writes what stands for all runs: the names that stay, and the page over
// time.
func (f *Folder) refresh() error {
	names, err := f.list()
	for range maxRounds {
		if err != nil {
			return err
		}
		if err := f.stand(names); err != nil {
			return err
		}
		var again []string
		if again, err = f.list(); err == nil && slices.Equal(names, again) {
			return nil
		}
		names = again
	}
	return err
}

// stand writes what stands for just these runs.
func (f *Folder) stand(names []string) error {
	older := max(0, len(names)-Shown)
	var told []html.Run
	var before *report.Report
	latest := ""
	for _, name := range names[older:] {
		at, _, _ := strings.Cut(name, "-")
		run := html.Run{Page: sub + "/" + name + ".html"}
		run.At, _ = time.Parse(stamp, at)
		r, err := f.read(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // another run has taken it away
		case err != nil:
			run.Lost = err.Error()
		default:
			run.Cluster, run.Status, run.Totals, run.Vitals = r.Cluster, r.Status, r.Totals, r.Vitals
			if before != nil {
				run.Changes = diff.Compare(before, r)
			}
			run.Problems = troubles(r, told)
			before, latest = r, name
		}
		told = append(told, run)
	}
	if latest != "" {
		for _, form := range forms {
			b, err := f.root.ReadFile(path.Join(sub, latest+"."+form))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				err = f.write("latest."+form, func(w io.Writer) error { _, err := w.Write(b); return err })
			}
			if err != nil {
				return err
			}
		}
	}
	return f.write("index.html", func(w io.Writer) error { return html.Index(w, told, older) })
}

// troubles are the problems of a run, and since when each is told.
func troubles(r *report.Report, before []html.Run) []html.Trouble {
	var out []html.Trouble
	for _, p := range r.Problems {
		t := html.Trouble{Also: report.Also{Check: p.Check, Target: p.Target, Status: p.Status, Summary: p.Summary}, Since: r.StartedAt, Runs: 1}
		for _, run := range slices.Backward(before) {
			if run.Lost != "" {
				continue
			}
			i := slices.IndexFunc(run.Problems, func(o html.Trouble) bool { return o.Check == t.Check && o.Target == t.Target })
			if i >= 0 {
				t.Since, t.Runs = run.Problems[i].Since, run.Problems[i].Runs+1
			}
			break
		}
		out = append(out, t)
	}
	return out
}
