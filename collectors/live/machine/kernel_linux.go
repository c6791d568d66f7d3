package machine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ktriage/ktriage/collectors/host"
)

// kernelLines bounds what is read of the kernel's log, which holds less.
const kernelLines = 50000

// kernel reads the kernel's ring of lines, which stays as it is.
func (s *Source) kernel(ctx context.Context) host.Kernel {
	var k host.Kernel
	boot := s.booted()
	path := filepath.Join(s.config.Dev, "kmsg")
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		k.Missed = append(k.Missed, missed("the kernel's log", &os.PathError{Op: "open", Path: path, Err: err}))
		return k
	}
	defer unix.Close(fd)
	k.From = path
	buf := make([]byte, 8<<10)
	for range kernelLines {
		if ctx.Err() != nil {
			break
		}
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.EINTR) {
			continue // lines were overwritten meanwhile
		}
		if err != nil || n <= 0 {
			break // the end, or no kernel's log at all
		}
		since, text, ok := host.ParseKmsg(buf[:n])
		if !ok {
			continue
		}
		at := time.Time{}
		if !boot.IsZero() {
			at = boot.Add(since).UTC()
		}
		if k.Since.IsZero() {
			k.Since = at
		}
		k.Line(at, text)
	}
	return k
}

// clock asks the kernel for the state of its clock.
func clock() (*host.Clock, error) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return nil, err
	}
	offset := time.Duration(t.Offset) * time.Microsecond
	if t.Status&unix.STA_NANO != 0 {
		offset = time.Duration(t.Offset)
	}
	return &host.Clock{Synced: state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0, Offset: offset, MaxError: time.Duration(t.Maxerror) * time.Microsecond}, nil
}

// ioprioIdle is the class of those who get the disk when nobody else wants it.
const (
	ioprioWhoProcess = 1
	ioprioIdle       = 3 << 13
)

// give makes this process give way to others, to processors and disks. Both are
// of a thread, which those that it starts take over.
func give(nice int) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		_ = unix.Setpriority(unix.PRIO_PROCESS, id, nice) // best effort: it may give way more already
		_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoProcess, uintptr(id), uintptr(ioprioIdle))
	}
}
