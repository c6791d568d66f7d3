// Package machine answers the requests of collectors/host: it reads the machine
// that ktriage runs on, or one whose file system is mounted somewhere. It
// changes nothing there, and it is made for a machine that is sick: it reads
// little, gives way to all others, and what does not answer in time is a gap.
package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v3/common"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

// A Config says which machine is read.
type Config struct {
	Root string // where its file system is; empty for /
	Proc string // where its /proc is; Root/proc if empty
	Sys  string // where its /sys is; Root/sys if empty
	Dev  string // where its /dev is; Root/dev if empty
}

// A Source reads the machine. It is safe for use by several goroutines.
type Source struct {
	config Config
	// rest answers what is not asked of the node; may be nil.
	rest collectors.Source

	mu    sync.Mutex
	first map[string]time.Time
	cost  collectors.Cost

	node func() host.Node // read once: the other answers follow from it
}

// New makes a Source. Requests of other schemes than its own go to rest, if it
// is not nil.
func New(c Config, rest collectors.Source) *Source {
	give(10)
	c.Root = strings.TrimSuffix(c.Root, "/")
	for _, x := range []struct {
		dir  *string
		name string
	}{{&c.Proc, "proc"}, {&c.Sys, "sys"}, {&c.Dev, "dev"}} {
		if *x.dir == "" {
			*x.dir = c.Root + "/" + x.name
		}
	}
	s := &Source{config: c, rest: rest, first: map[string]time.Time{}}
	s.node = sync.OnceValue(s.readNode)
	return s
}

// within bounds each answer: what a machine that works tells in some ms. A disk
// that hangs must not hang ktriage.
const within = 8 * time.Second

// Cost is what was asked so far.
func (s *Source) Cost() collectors.Cost {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cost
}

// Fetch answers a request as collectors.Source says.
func (s *Source) Fetch(ctx context.Context, r collectors.Request) (*collectors.Reply, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%q is not a URL", r.URL)
	}
	mine := u.Scheme == "host" || r.URL == "log:/signatures"
	if !mine {
		if s.rest != nil && u.Scheme == "config" && u.Path == "/pki" {
			return s.rest.Fetch(ctx, r)
		}
		return nil, collectors.Gapf(collectors.OutOfScope, "%s: only the node itself was looked at", r.URL)
	}
	if err := s.wait(ctx, r); err != nil {
		return nil, collectors.AsGap(err, collectors.Canceled)
	}
	began := time.Now()
	v, gap := s.inTime(ctx, func(ctx context.Context) (any, *collectors.Gap) { return s.read(ctx, r.URL) })
	if gap != nil {
		return nil, gap
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", r.URL, err)
	}
	now := time.Now()
	s.mu.Lock()
	if r.Sample == collectors.First {
		s.first[r.URL] = now
	}
	s.cost.Requests++
	s.cost.Bytes += int64(len(b))
	s.cost.PeakInFlight = 1
	s.mu.Unlock()
	return &collectors.Reply{At: now, Elapsed: now.Sub(began), Status: 200, From: r.URL, Media: "application/json", Body: io.NopCloser(bytes.NewReader(b))}, nil
}

// inTime gives up on what takes too long. The goroutine that hangs in the
// kernel is left behind, as it cannot be ended.
func (s *Source) inTime(ctx context.Context, f func(context.Context) (any, *collectors.Gap)) (any, *collectors.Gap) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	type result struct {
		v   any
		gap *collectors.Gap
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- result{nil, collectors.Gapf(collectors.Bug, "%v", r)}
			}
		}()
		v, gap := f(ctx)
		done <- result{v, gap}
	}()
	select {
	case r := <-done:
		return r.v, r.gap
	case <-ctx.Done():
		return nil, collectors.Gapf(collectors.Timeout, "the machine did not answer within %s: a disk that hangs, or no processor time", within)
	}
}

func (s *Source) read(ctx context.Context, what string) (any, *collectors.Gap) {
	ctx = context.WithValue(ctx, common.EnvKey, common.EnvMap{common.HostProcEnvKey: s.config.Proc, common.HostSysEnvKey: s.config.Sys})
	switch what {
	case host.LoadURL:
		return s.load(ctx)
	case host.NodeURL:
		return s.node(), nil
	case host.DisksURL:
		return s.disks(ctx)
	case host.FilesURL:
		return s.files(), nil
	case host.HealthURL:
		return s.health(ctx)
	case host.TailsURL:
		return s.tails(), nil
	case host.KernelURL:
		return s.kernel(ctx), nil
	case "log:/signatures":
		if n := s.node(); !n.IsControlPlane() && len(n.Missed) == 0 {
			return nil, collectors.Gapf(collectors.OutOfScope, "this is no control-plane node")
		}
		return s.signatures(), nil
	}
	return nil, collectors.Gapf(collectors.NotAsked, "%s: nothing of this name is known of a node", what)
}

// wait waits for the window before a second look.
func (s *Source) wait(ctx context.Context, r collectors.Request) error {
	if r.Sample != collectors.Last {
		return nil
	}
	s.mu.Lock()
	first, ok := s.first[r.URL]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	t := time.NewTimer(time.Until(first.Add(r.After)))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// at is where a path of the node is on this machine. A path that lies below the
// root already is left as it is: a process that was started outside of the root
// names its files so.
func (s *Source) at(path string) string {
	if s.config.Root == "" || path == s.config.Root || strings.HasPrefix(path, s.config.Root+"/") {
		return path
	}
	return s.config.Root + s.resolve(path)
}

// resolve follows the links of a path below the root: an absolute one is meant
// from there, and not from this machine's.
func (s *Source) resolve(path string) string {
	out, rest := "/", strings.Split(strings.Trim(path, "/"), "/")
	for links := 0; len(rest) > 0; {
		next := filepath.Join(out, rest[0])
		rest = rest[1:]
		to, err := os.Readlink(s.config.Root + next)
		if err != nil || links > 20 {
			out = next
			continue
		}
		links++
		if !filepath.IsAbs(to) {
			to = filepath.Join(out, to)
		} else if strings.HasPrefix(to, s.config.Root+"/") {
			to = strings.TrimPrefix(to, s.config.Root)
		}
		rest = append(strings.Split(strings.Trim(to, "/"), "/"), rest...)
		out = "/"
	}
	return out
}

// onNode is a path as the node has it.
func (s *Source) onNode(path string) string {
	if s.config.Root != "" && strings.HasPrefix(path, s.config.Root+"/") {
		return strings.TrimPrefix(path, s.config.Root)
	}
	return path
}

// readSome reads a regular file, or one of the kernel's, up to a size. Anything
// else, such as a pipe, might hang.
func readSome(path string, most int64) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

const (
	smallFile = 1 << 20
	procFile  = 1 << 20
)

// missed tells why something could not be read.
func missed(what string, err error) host.Missed {
	m := host.Missed{What: what, Reason: collectors.Absent, Detail: err.Error()}
	switch {
	case errors.Is(err, fs.ErrPermission):
		m.Reason = collectors.Forbidden
		m.Detail = "no permission"
		var p *fs.PathError
		if errors.As(err, &p) {
			m.Detail += " to read " + p.Path
		}
	case errors.Is(err, context.DeadlineExceeded):
		m.Reason = collectors.Timeout
	}
	return m
}
