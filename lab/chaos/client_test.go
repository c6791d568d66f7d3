package chaos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// A load is clients that write and read, and remember what they were told.
type load struct {
	stop context.CancelFunc
	wait sync.WaitGroup

	mu    sync.Mutex
	ops   []porcupine.Operation
	acked map[string]string // every write to a key of its own that was acknowledged
	slow  time.Duration     // the longest that one took
	fails int
	began time.Time
}

type input struct {
	key   string
	write bool
	value string
}

const (
	registers = 4
	clients   = 8
	// opTime is how long a client waits. What it then does not know, the
	// checker takes for possible at any later time.
	opTime = 5 * time.Second
)

// startLoad starts the clients. Each speaks to one member first, and to the
// others when that fails, as API servers with several endpoints do.
func startLoad(t *testing.T, c *cluster, run string) *load {
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{stop: cancel, acked: map[string]string{}, began: time.Now()}
	for i := range clients {
		eps := c.endpoints()
		eps = append(eps[i%len(eps):], eps[:i%len(eps)]...)
		cl, err := clientv3.New(clientv3.Config{Endpoints: eps, Logger: zap.NewNop(), DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second, MaxUnaryRetries: 1})
		if err != nil {
			t.Fatal(err)
		}
		l.wait.Go(func() {
			defer cl.Close()
			r := rand.New(rand.NewPCG(uint64(i), 7))
			for n := 0; ctx.Err() == nil; n++ {
				l.one(ctx, cl, i, n, run, r)
				time.Sleep(time.Duration(5+r.IntN(20)) * time.Millisecond)
			}
		})
	}
	return l
}

func (l *load) one(ctx context.Context, cl *clientv3.Client, client, n int, run string, r *rand.Rand) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), opTime)
	defer cancel()
	if n%4 == 3 {
		key, value := fmt.Sprintf("kept/%s/%d/%d", run, client, n), fmt.Sprint(n)
		began := time.Now()
		_, err := cl.Put(ctx, key, value)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err == nil {
			l.acked[key] = value
			l.slow = max(l.slow, time.Since(began))
		} else {
			l.fails++
		}
		return
	}
	in := input{key: fmt.Sprintf("reg/%s/%d", run, r.IntN(registers)), write: r.IntN(2) == 0}
	if in.write {
		in.value = fmt.Sprintf("%d-%d", client, n)
	}
	op := porcupine.Operation{ClientId: client, Call: int64(time.Since(l.began))}
	var err error
	if in.write {
		_, err = cl.Put(ctx, in.key, in.value)
	} else {
		var got *clientv3.GetResponse
		if got, err = cl.Get(ctx, in.key); err == nil && len(got.Kvs) == 1 {
			in.value = ""
			op.Output = string(got.Kvs[0].Value)
		} else if err == nil {
			op.Output = ""
		}
	}
	op.Input, op.Return = in, int64(time.Since(l.began))
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.slow = max(l.slow, time.Duration(op.Return-op.Call))
	case in.write && errors.Is(err, rpctypes.ErrCorrupt):
		l.fails++
		return // while the alarm is raised, nothing is applied
	case in.write:
		l.fails++
		op.Return = math.MaxInt64          // it may still take place
		op.ClientId = clients + len(l.ops) // and its client goes on meanwhile
	default:
		l.fails++
		return // a read that failed says nothing
	}
	l.ops = append(l.ops, op)
}

// check ends the load and demands that nothing that was promised is missing.
func (l *load) check(t *testing.T, c *cluster, all *tally) {
	t.Helper()
	l.stop()
	l.wait.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	lost := 0
	for key, want := range l.acked {
		got, err := c.client.Get(ctx, key)
		if err != nil {
			t.Fatalf("read back %s: %v", key, err)
		}
		if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != want {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d writes that were acknowledged are lost", lost, len(l.acked))
	}
	model := porcupine.Model{
		Partition: func(h []porcupine.Operation) [][]porcupine.Operation {
			by := map[string][]porcupine.Operation{}
			for _, o := range h {
				k := o.Input.(input).key
				by[k] = append(by[k], o)
			}
			var out [][]porcupine.Operation
			for _, p := range by {
				out = append(out, p)
			}
			return out
		},
		Init: func() any { return "" },
		Step: func(state, in, out any) (bool, any) {
			if i := in.(input); i.write {
				return true, i.value
			}
			return out.(string) == state.(string), state
		},
	}
	switch porcupine.CheckOperationsTimeout(model, l.ops, time.Minute) {
	case porcupine.Illegal:
		t.Errorf("what was read is not linearizable, in %d operations", len(l.ops))
	case porcupine.Unknown:
		t.Logf("linearizability of %d operations was not decided in a minute", len(l.ops))
		all.count(len(l.acked), len(l.ops), true)
	default:
		all.count(len(l.acked), len(l.ops), false)
	}
	if len(l.ops) < 20 || len(l.acked) == 0 {
		t.Errorf("the clients did next to nothing: %d operations, %d writes", len(l.ops), len(l.acked))
	}
}
