package machine

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/host"
	"github.com/ktriage/ktriage/collectors/logs"
)

const (
	podLogs = "/var/log/pods"
	// tailBytes is read of the end of a log for its last words, logBytes for
	// the lines that tell of trouble.
	tailBytes = 128 << 10
	logBytes  = 2 << 20
)

// A logFile is the log of one run of a component's container.
type logFile struct {
	role host.Role
	path string // on the node
	runs int    // which run it is of, from 1
	at   time.Time
}

// logFiles finds the logs of the components, of the newest pod of each, the
// latest run last. The runtime names them by the run: 0.log, 1.log.
func (s *Source) logFiles() ([]logFile, []host.Missed) {
	entries, err := os.ReadDir(s.at(podLogs))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, []host.Missed{{What: podLogs, Reason: collectors.Absent, Detail: "there is no such folder"}}
		}
		return nil, []host.Missed{missed(podLogs, err)}
	}
	var out []logFile
	var miss []host.Missed
	for _, e := range entries[:min(len(entries), maxEntries)] {
		if !strings.HasPrefix(e.Name(), "kube-system_") {
			continue
		}
		for _, r := range host.Components {
			if !strings.HasPrefix(e.Name(), "kube-system_"+string(r)+"-") {
				continue
			}
			dir := filepath.Join(podLogs, e.Name(), string(r))
			files, err := os.ReadDir(s.at(dir))
			if err != nil {
				if !errors.Is(err, fs.ErrNotExist) {
					miss = append(miss, missed(dir, err))
				}
				continue
			}
			for _, f := range files {
				run, ok := strings.CutSuffix(f.Name(), ".log")
				k, err := strconv.Atoi(run)
				if !ok || err != nil {
					continue
				}
				st, err := os.Stat(s.at(filepath.Join(dir, f.Name())))
				if err != nil {
					miss = append(miss, missed(filepath.Join(dir, f.Name()), err))
					continue
				}
				out = append(out, logFile{r, filepath.Join(dir, f.Name()), k + 1, st.ModTime()})
			}
		}
	}
	slices.SortFunc(out, func(a, b logFile) int { return a.at.Compare(b.at) })
	return out, miss
}

// end reads the end of a file.
func (s *Source) end(path string, most int64) ([]byte, error) {
	f, err := os.Open(s.at(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	cut := st.Size() > most
	if cut {
		if _, err := f.Seek(-most, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, most))
	if i := bytes.IndexByte(b, '\n'); cut && i >= 0 {
		b = b[i+1:]
	}
	return b, err
}

// tails reads the last lines of each component. The latest run may have begun
// only now: then the end of the one before is part of it.
func (s *Source) tails() host.Tails {
	files, miss := s.logFiles()
	t := host.Tails{Missed: miss}
	for _, r := range host.Components {
		var mine []logFile
		for _, f := range files {
			if f.role == r {
				mine = append(mine, f)
			}
		}
		if len(mine) == 0 {
			continue
		}
		var all []byte
		for _, f := range mine[max(0, len(mine)-2):] {
			b, err := s.end(f.path, tailBytes)
			if err != nil {
				t.Missed = append(t.Missed, missed(f.path, err))
				continue
			}
			all = append(all, b...)
		}
		last := mine[len(mine)-1]
		tail := host.ReadTail(r, last.path, all)
		tail.Runs = last.runs
		if len(tail.Lines) > 0 {
			t.Logs = append(t.Logs, tail)
		}
	}
	return t
}

// roles are those of logs, by those of the node.
var roles = map[host.Role]cluster.Role{
	host.Etcd: cluster.RoleEtcd, host.APIServer: cluster.RoleAPIServer, host.Controllers: cluster.RoleControllers, host.Scheduler: cluster.RoleScheduler,
}

// signatures looks for lines that tell of trouble, in the newest log of each
// component.
func (s *Source) signatures() logs.Tally {
	files, miss := s.logFiles()
	var t logs.Tally
	for _, r := range host.Components {
		var last *logFile
		for i := range files {
			if files[i].role == r {
				last = &files[i]
			}
		}
		if last == nil {
			for _, m := range miss {
				t.Missed = append(t.Missed, logs.Missed{Of: string(r), Role: roles[r], Gap: m.Gap()})
			}
			continue
		}
		b, err := s.end(last.path, logBytes)
		if err != nil {
			m := missed(last.path, err)
			t.Missed = append(t.Missed, logs.Missed{Of: string(r), Role: roles[r], Gap: m.Gap()})
			continue
		}
		in := logs.NewReader(string(r))
		for line := range bytes.Lines(b) {
			in.Add(bytes.TrimRight(line, "\r\n"))
		}
		l := in.Log()
		l.Name, l.Role, l.At = string(r), roles[r], time.Now().UTC()
		l.Date(l.At)
		t.Logs = append(t.Logs, l)
	}
	return t
}
