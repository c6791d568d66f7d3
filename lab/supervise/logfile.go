package supervise

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxLog is when a log is moved aside to make room: the disk of a machine that
// runs labs all day is worth more than old lines.
const maxLog = 64 << 20

// logFile writes lines as the container runtimes do: time, stream, F for a full
// line, text. kubelets, kwok and log tools read that.
type logFile struct {
	mu   sync.Mutex
	path string
	file *os.File
	size int64
}

func openLog(path string) (*logFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return &logFile{path: path, file: file, size: info.Size()}, nil
}

func (l *logFile) line(stream string, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > maxLog {
		l.rotate()
	}
	n, err := fmt.Fprintf(l.file, "%s %s F %s\n", time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z"), stream, text)
	l.size += int64(n)
	if err != nil {
		fmt.Fprintf(os.Stderr, "write %s: %v\n", l.path, err)
	}
}

func (l *logFile) rotate() {
	file, err := os.OpenFile(l.path+".new", os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	l.file.Close()
	os.Rename(l.path, l.path+".1")
	os.Rename(l.path+".new", l.path)
	l.file, l.size = file, 0
}

func (l *logFile) close() { l.file.Close() }

// stream returns a writer that cuts what a process prints into lines.
func (l *logFile) stream(name string) io.Writer { return &lineWriter{log: l, stream: name} }

type lineWriter struct {
	log    *logFile
	stream string
	rest   []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		w.log.line(w.stream, w.rest[:i])
		w.rest = w.rest[i+1:]
	}
}
