package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/remediate"
)

// A Lock keeps other runs out: those of this machine by a file, those of others
// by a key in etcd that is bound to a lease, and by a Lease in Kubernetes for
// those who look there. Every lock that can be had is taken; one that another
// holds stops the run.
type Lock struct {
	kinds []string
	file  *os.File
	stop  context.CancelFunc
	wait  sync.WaitGroup

	mu      sync.Mutex
	renewed time.Time
	lost    error
	free    []func()
	bound   bool // there is something that has to be renewed
}

// How long a lock outlives its holder, and how often it is renewed. A run that
// could not renew for lockTTL less a margin stops between steps.
const (
	lockTTL   = 60 * time.Second
	lockRenew = 10 * time.Second
)

// A held lock is one that another run has.
type heldError struct{ what, by string }

func (e *heldError) Error() string {
	return fmt.Sprintf("another run is under way: %s is held by %s", e.what, e.by)
}

// A KubeLock takes a Lease in Kubernetes; nil if there is no Kubernetes.
type KubeLock interface {
	// Acquire takes the lease. It returns ErrHeld's holder if another has it.
	Acquire(ctx context.Context, holder string, ttl time.Duration) (heldBy string, err error)
	Renew(ctx context.Context, holder string) error
	Release(ctx context.Context, holder string) error
}

// Acquire takes the locks. In a cluster that refuses writes for want of space
// the key cannot be written: the file has to do, and the guard that finds a
// defragmentation that another started.
func (a *Actuator) Acquire(ctx context.Context, dir, holder string, kube KubeLock) (*Lock, error) {
	l := &Lock{renewed: time.Now()}
	if err := l.takeFile(dir, a.config.State.ClusterID, holder); err != nil {
		return nil, err
	}
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	var renewals []func(context.Context) error
	var err error
	if len(a.config.State.Members) > 0 {
		renewals, err = l.takeEtcd(ctx, a, holder)
	} else if kube == nil {
		err = errors.New("lock: there is no kubeconfig")
	}
	if err == nil && kube != nil {
		var more func(context.Context) error
		if more, err = l.takeKube(ctx, kube, holder, len(a.config.State.Members) == 0); more != nil {
			renewals = append(renewals, more)
		}
	}
	if err != nil {
		l.Release()
		return nil, err
	}
	if len(renewals) > 0 {
		l.bound = true
		l.wait.Go(func() { l.keep(ctx, renewals) })
	}
	return l, nil
}

// Kinds tells which locks were taken.
func (l *Lock) Kinds() string { return strings.Join(l.kinds, ", ") }

func (l *Lock) takeFile(dir, cluster, holder string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	path := filepath.Join(dir, "lock-"+cluster)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if err := lockFile(f); err != nil {
		by := make([]byte, 256)
		n, _ := f.Read(by)
		f.Close()
		return &heldError{path, strings.TrimSpace(string(by[:n]))}
	}
	l.file = f
	if err := f.Truncate(0); err == nil {
		f.WriteAt([]byte(holder+"\n"), 0) // for who finds it locked; the lock does not depend on it
	}
	l.kinds = append(l.kinds, "file "+path)
	return nil
}

func (l *Lock) takeEtcd(ctx context.Context, a *Actuator, holder string) ([]func(context.Context) error, error) {
	c, err := a.any(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	c.Close()
	var id int64
	err = a.with(ctx, func(ctx context.Context, c *conn) error {
		g, err := pb.NewLeaseClient(c).LeaseGrant(ctx, &pb.LeaseGrantRequest{TTL: int64(lockTTL / time.Second)})
		if err != nil {
			return err
		}
		id = g.ID
		return nil
	})
	if errors.Is(rpctypes.Error(err), rpctypes.ErrNoSpace) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock: grant a lease: %w", err)
	}
	revoke := func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*brief)
		defer cancel()
		a.with(ctx, func(ctx context.Context, c *conn) error { // else it runs out
			_, err := pb.NewLeaseClient(c).LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: id})
			return err
		})
	}
	key := []byte(etcd.LockKey)
	var txn *pb.TxnResponse
	err = a.with(ctx, func(ctx context.Context, c *conn) (err error) {
		txn, err = pb.NewKVClient(c).Txn(ctx, &pb.TxnRequest{
			Compare: []*pb.Compare{{Target: pb.Compare_CREATE, Result: pb.Compare_EQUAL, Key: key, TargetUnion: &pb.Compare_CreateRevision{CreateRevision: 0}}},
			Success: []*pb.RequestOp{{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: key, Value: []byte(holder), Lease: id}}}},
			Failure: []*pb.RequestOp{{Request: &pb.RequestOp_RequestRange{RequestRange: &pb.RangeRequest{Key: key}}}},
		})
		return err
	})
	switch {
	case errors.Is(rpctypes.Error(err), rpctypes.ErrNoSpace):
		revoke()
		return nil, nil
	case err != nil:
		revoke()
		return nil, fmt.Errorf("lock: write %s: %w", etcd.LockKey, err)
	case !txn.Succeeded:
		revoke()
		by := "someone"
		if kvs := txn.Responses[0].GetResponseRange().GetKvs(); len(kvs) == 1 {
			by = string(kvs[0].Value)
		}
		return nil, &heldError{"the key " + etcd.LockKey + " in etcd", by}
	}
	l.kinds = append(l.kinds, "etcd key "+etcd.LockKey)
	l.free = append(l.free, revoke)
	return []func(context.Context) error{func(ctx context.Context) error {
		return a.with(ctx, func(ctx context.Context, c *conn) error { return renewLease(ctx, c, id) })
	}}, nil
}

// renewLease renews a lease once.
func renewLease(ctx context.Context, c *conn, id int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := pb.NewLeaseClient(c).LeaseKeepAlive(ctx)
	if err != nil {
		return err
	}
	if err := s.Send(&pb.LeaseKeepAliveRequest{ID: id}); err != nil {
		return err
	}
	r, err := s.Recv()
	if err != nil {
		return err
	}
	if r.TTL <= 0 {
		return errGone
	}
	return nil
}

// errGone is why a lock cannot be renewed: it ran out, and may be another's.
var errGone = errors.New("the lock ran out")

// with calls f with a connection to one member after the other, until one
// answers. While one is being defragmented another has to do.
func (a *Actuator) with(ctx context.Context, f func(context.Context, *conn) error) error {
	var errs []error
	for _, m := range a.present() {
		err := func() error {
			// One that is gone must not use up what the next could answer in.
			ctx, cancel := context.WithTimeout(ctx, brief/3)
			defer cancel()
			c, err := a.member(ctx, m.Name)
			if err != nil {
				return err
			}
			defer c.Close()
			return f(ctx, c)
		}()
		if err == nil || errors.Is(err, errGone) || errors.Is(rpctypes.Error(err), rpctypes.ErrNoSpace) {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (l *Lock) takeKube(ctx context.Context, kube KubeLock, holder string, needed bool) (func(context.Context) error, error) {
	by, err := kube.Acquire(ctx, holder, lockTTL)
	switch {
	case by != "":
		return nil, &heldError{"the Lease kube-system/" + LeaseName, by}
	case err != nil && needed:
		return nil, fmt.Errorf("lock: take the Lease kube-system/%s: %w", LeaseName, err)
	case err != nil:
		return nil, nil // the API server cannot write, or we may not: the key in etcd has to do
	}
	l.kinds = append(l.kinds, "Lease kube-system/"+LeaseName)
	l.free = append(l.free, func() {
		ctx, cancel := context.WithTimeout(context.Background(), brief)
		defer cancel()
		kube.Release(ctx, holder) // else it runs out
	})
	return func(ctx context.Context) error { return kube.Renew(ctx, holder) }, nil
}

// LeaseName is the Lease in kube-system that a run takes.
const LeaseName = "ktriage"

// keep renews the locks until it is stopped. One that stands still for a while,
// as the API server may during a step, is not lost before it has run out.
func (l *Lock) keep(ctx context.Context, renewals []func(context.Context) error) {
	last := make([]time.Time, len(renewals))
	for i := range last {
		last[i] = time.Now()
	}
	for (Clock{}).Sleep(ctx, lockRenew) == nil {
		for i, renew := range renewals {
			err := renew(ctx)
			if err == nil {
				last[i] = time.Now()
			}
			if errors.Is(err, errGone) {
				l.mu.Lock()
				l.lost = err
				l.mu.Unlock()
			}
		}
		oldest := last[0]
		for _, t := range last {
			if t.Before(oldest) {
				oldest = t
			}
		}
		l.mu.Lock()
		l.renewed = oldest
		l.mu.Unlock()
	}
}

// Held returns an error if the locks may have run out.
func (l *Lock) Held() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch ago := time.Since(l.renewed); {
	case l.lost != nil:
		return fmt.Errorf("the lock is lost: %w", l.lost)
	case l.bound && ago > lockTTL-2*lockRenew:
		return fmt.Errorf("the lock may be lost: it could not be renewed for %s", ago.Round(time.Second))
	}
	return nil
}

// Release gives the locks back.
func (l *Lock) Release() {
	if l.stop != nil {
		l.stop()
		l.wait.Wait()
	}
	for _, f := range l.free {
		f()
	}
	if l.file != nil {
		l.file.Truncate(0) // the lock ends with the file; its name stays, for others wait on that very file
		l.file.Close()
	}
}

var _ remediate.Lock = (*Lock)(nil)
