package live

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"

	"github.com/ktriage/ktriage/remediate"
)

// A Load makes the test of writes.
type Load struct {
	Endpoints []string    // URLs
	TLS       *tls.Config // nil without TLS
	Version   string      // of ktriage

	Result   remediate.LoadResult      // of the last load, also of one that failed
	Progress func(done int, of string) // told now and then; may be nil
}

// NewPrefix returns a prefix for the keys of one load that no other program,
// and no other load, writes under. It is outside of what Kubernetes reads.
func NewPrefix() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails
	return "/ktriage.load/" + hex.EncodeToString(b) + "/"
}

// Do makes the load. What it measured is in Result, also if it ended early.
func (e *Load) Do(ctx context.Context, l remediate.WriteLoad) error { return e.load(ctx, l) }

const (
	// connections bounds how many there are: etcdctl makes one a worker, of
	// which a load has up to a thousand.
	connections = 8
	// hopeless is how long one write may take before the load is ended.
	hopeless = 5 * time.Second
	// cleanWithin is how long taking the keys away may take.
	cleanWithin = 20 * time.Second
	// leaseSlack is by how much the lease outlives the load, so that the keys
	// never expire while they are written.
	leaseSlack = 2 * time.Minute
	// maxFailed ends the load: it is made to measure, not to insist.
	maxFailed = 10
)

// load writes, and takes everything away again whatever happens.
func (e *Load) load(ctx context.Context, l remediate.WriteLoad) (err error) {
	e.Result = remediate.LoadResult{Load: l, TTL: l.For + leaseSlack, Left: -1, LeftWhy: "nothing was written"}
	var clients []*clientv3.Client
	defer func() {
		for _, c := range clients {
			c.Close()
		}
	}()
	for range min(connections, l.Workers) {
		c, err := e.client()
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		clients = append(clients, c)
	}
	first := clients[0]
	begin, cancel := context.WithTimeout(ctx, hopeless)
	defer cancel()
	before, err := first.Get(begin, l.Prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return fmt.Errorf("count keys below %s: %w", l.Prefix, err)
	}
	if before.Count > 0 {
		return fmt.Errorf("%s is in use: it has %d keys", l.Prefix, before.Count)
	}
	lease, err := first.Grant(begin, int64(e.Result.TTL.Seconds()))
	if err != nil {
		return fmt.Errorf("grant a lease: %w", err)
	}
	defer func() { err = errors.Join(err, e.clean(ctx, first, l, lease.ID)) }()
	return e.write(ctx, clients, l, lease.ID, before.Header.RaftTerm)
}

func (e *Load) client() (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Endpoints: e.Endpoints, TLS: e.TLS, DialTimeout: hopeless, Logger: zap.NewNop(),
		MaxUnaryRetries: 1, // attempts: a write that fails is counted, not repeated
		DialOptions:     []grpc.DialOption{grpc.WithUserAgent("ktriage/" + e.Version), grpc.WithDisableRetry()},
	})
}

// write makes the writes at the load's rate. It returns an error if it ended
// before its time.
func (e *Load) write(ctx context.Context, clients []*clientv3.Client, l remediate.WriteLoad, lease clientv3.LeaseID, term uint64) error {
	began := time.Now()
	run, stop := context.WithDeadlineCause(ctx, began.Add(l.For), errDone)
	defer stop()
	run, end := context.WithCancelCause(run)
	defer end(nil)
	limit := rate.NewLimiter(rate.Limit(l.Rate), 1)
	value := strings.Repeat("k", remediate.LoadValue)
	var mu sync.Mutex
	done := func(took time.Duration, nowTerm uint64, err error) {
		mu.Lock()
		defer mu.Unlock()
		r := &e.Result
		switch {
		case err != nil:
			if r.Failed++; r.Failed == 1 {
				r.Error = err.Error()
			}
			if r.Failed >= maxFailed || took >= hopeless {
				end(fmt.Errorf("%d writes failed: %w", r.Failed, err))
			}
			return
		case nowTerm != term:
			end(fmt.Errorf("the leader changed under the load"))
		}
		r.Took = append(r.Took, took)
		if e.Progress != nil && len(r.Took)%l.Rate == 0 {
			e.Progress(len(r.Took), fmt.Sprint(l.Writes()))
		}
	}
	var next int64
	take := func() (int64, bool) {
		if limit.Wait(run) != nil {
			return 0, false
		}
		mu.Lock()
		defer mu.Unlock()
		next++
		return next, next <= int64(l.Writes())
	}
	var wg sync.WaitGroup
	for w := range l.Workers {
		c := clients[w%len(clients)]
		wg.Go(func() {
			for {
				n, ok := take()
				if !ok {
					return
				}
				// One that was begun is waited for, within reason: what it
				// wrote must be known when the keys are taken away.
				one, cancel := context.WithTimeout(context.WithoutCancel(run), hopeless)
				at := time.Now()
				resp, err := c.Put(one, loadKey(l.Prefix, n), value, clientv3.WithLease(lease))
				took := time.Since(at)
				cancel()
				if err != nil {
					done(took, 0, err)
					continue
				}
				done(took, resp.Header.RaftTerm, nil)
			}
		})
	}
	wg.Wait()
	e.Result.Elapsed = time.Since(began)
	cause := context.Cause(run)
	switch {
	case ctx.Err() != nil:
		e.Result.Stopped = "interrupted"
	case cause != nil && !errors.Is(cause, errDone):
		e.Result.Stopped = cause.Error()
	default:
		return nil
	}
	return errors.New(e.Result.Stopped)
}

var errDone = errors.New("the load is done")

// loadKey is one of the keys that are written over and over, as long as
// etcdctl's.
func loadKey(prefix string, n int64) string {
	k := fmt.Sprintf("%s%d/", prefix, n%remediate.LoadKeys)
	return k + strings.Repeat("k", max(0, remediate.LoadKey-len(k)))
}

// clean takes the keys away and looks whether they are gone, also when the run
// was stopped.
func (e *Load) clean(ctx context.Context, c *clientv3.Client, l remediate.WriteLoad, lease clientv3.LeaseID) error {
	r := &e.Result
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanWithin)
	defer cancel()
	var err error
	for ctx.Err() == nil { // a leader may be missing for a moment
		if err = e.delete(ctx, c, l); err == nil {
			break
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	if err != nil {
		r.Left, r.LeftWhy = -1, err.Error()
		return fmt.Errorf("take the keys below %s away: %w; they expire by themselves within %s", l.Prefix, err, r.TTL)
	}
	if _, err := c.Revoke(ctx, lease); err != nil {
		return fmt.Errorf("revoke lease %x: %w; it expires by itself within %s", lease, err, r.TTL)
	}
	return nil
}

func (e *Load) delete(ctx context.Context, c *clientv3.Client, l remediate.WriteLoad) error {
	if _, err := c.Delete(ctx, l.Prefix, clientv3.WithPrefix()); err != nil {
		return err
	}
	left, err := c.Get(ctx, l.Prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return err
	}
	e.Result.Left, e.Result.LeftWhy, e.Result.Revision = left.Count, "", left.Header.Revision
	if left.Count > 0 {
		return fmt.Errorf("%d keys are left", left.Count)
	}
	return nil
}
