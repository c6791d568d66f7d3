package chaos

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// A serving watches which members answer from their databases.
type serving struct {
	stop context.CancelFunc
	wait sync.WaitGroup

	mu      sync.Mutex
	samples []sample
}

type sample struct {
	began, ended time.Time
	away         []string // members that did not answer
}

// answerTime is beyond what an answer takes on a busy machine, and below what a
// defragmentation may.
const answerTime = 2 * time.Second

func startServing(c *cluster) *serving {
	ctx, cancel := context.WithCancel(context.Background())
	s := &serving{stop: cancel}
	s.wait.Go(func() {
		one := map[string]*clientv3.Client{}
		for _, m := range c.members {
			cl, err := clientv3.New(clientv3.Config{Endpoints: []string{m.url()}, Logger: zap.NewNop(), DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second, MaxUnaryRetries: 1})
			if err != nil {
				return
			}
			defer cl.Close()
			one[m.name] = cl
		}
		for ctx.Err() == nil {
			x := sample{began: time.Now()}
			var mu sync.Mutex
			var wait sync.WaitGroup
			for name, cl := range one {
				wait.Go(func() {
					ctx, cancel := context.WithTimeout(ctx, answerTime)
					defer cancel()
					if _, err := cl.Get(ctx, "health", clientv3.WithSerializable()); err != nil {
						mu.Lock()
						x.away = append(x.away, name)
						mu.Unlock()
					}
				})
			}
			wait.Wait()
			x.ended = time.Now()
			if ctx.Err() == nil {
				s.mu.Lock()
				s.samples = append(s.samples, x)
				s.mu.Unlock()
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return s
}

// recovery is how long a member may need to be back, and a step that was begun
// before the fault to be over.
const recovery = 20 * time.Second

// check demands that never more than one member was away, but for a step that
// had begun when the fault came.
func (s *serving) check(t *testing.T, f *fault) {
	t.Helper()
	s.stop()
	s.wait.Wait()
	if f.name == "corrupt" {
		return // no member answers then
	}
	twice := 0 // one sample may be a machine that is busy
	for _, x := range s.samples {
		overlap := !f.at.IsZero() && f.away && x.ended.After(f.at) && (x.began.Before(f.at.Add(recovery)) || x.began.After(f.until) && x.began.Before(f.until.Add(recovery)))
		if overlap || len(x.away) < 2 {
			twice = 0
			continue
		}
		if twice++; twice == 2 {
			t.Errorf("%s did not answer at one time, %s after the fault", strings.Join(x.away, " and "), x.began.Sub(f.at).Round(time.Millisecond))
		}
	}
}
