package cli

import (
	"fmt"
	"sync"
	"time"
)

// progress is the line on standard error while a run collects. It is written
// to a terminal only.
type progress struct {
	a       *app
	on      bool
	until   time.Time
	started time.Time

	mu          sync.Mutex
	text        string
	doneN, allN int
	stop        chan struct{}
	stopped     sync.WaitGroup
}

func (a *app) progress(o *origin, window time.Duration) *progress {
	p := &progress{a: a, on: a.StderrTTY && o.meta == nil, stop: make(chan struct{})}
	if !p.on {
		return p
	}
	p.started = a.Now()
	p.until = p.started.Add(window)
	p.stopped.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				p.draw()
			}
		}
	})
	return p
}

func (p *progress) update(done, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doneN, p.allN = done, all
}

func (p *progress) note(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = s
	p.until = p.started.Add(maxWindow)
}

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.until.Sub(p.a.Now()).Round(time.Second)
	line := fmt.Sprintf("ktriage: %d of %d answers", p.doneN, p.allN)
	if left > 0 {
		line += fmt.Sprintf(", watching for %ds more", int(left.Seconds()))
	}
	if p.text != "" {
		line += " (" + p.text + ")"
	}
	if len(line) > 79 {
		line = line[:79]
	}
	fmt.Fprintf(p.a.Stderr, "\r\x1b[K%s", line)
}

// done takes the line away.
func (p *progress) done() {
	if !p.on {
		return
	}
	close(p.stop)
	p.stopped.Wait()
	fmt.Fprint(p.a.Stderr, "\r\x1b[K")
}
