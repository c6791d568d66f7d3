package live

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/ktriage/ktriage/internal/testport"
	"github.com/ktriage/ktriage/remediate"
)

func free(t *testing.T) url.URL {
	t.Helper()
	addr, err := testport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	return url.URL{Scheme: "http", Host: addr}
}

// start runs real members of one cluster, and returns them with a writer.
func start(t *testing.T, n int, quota int64) ([]*embed.Etcd, *Load) {
	t.Helper()
	var confs []*embed.Config
	var initial []string
	w := &Load{Version: "test"}
	for i := range n {
		c := embed.NewConfig()
		c.Name, c.Dir = fmt.Sprintf("m%d", i+1), filepath.Join(t.TempDir(), "data")
		c.LogLevel, c.LogOutputs, c.UnsafeNoFsync, c.QuotaBackendBytes = "fatal", []string{"/dev/null"}, true, quota
		client, peer := free(t), free(t)
		c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
		c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
		initial = append(initial, c.Name+"="+peer.String())
		confs = append(confs, c)
		w.Endpoints = append(w.Endpoints, client.String())
	}
	out := make([]*embed.Etcd, n)
	errs := make(chan error, n)
	for i, c := range confs {
		c.InitialCluster = strings.Join(initial, ",")
		go func() {
			e, err := embed.StartEtcd(c)
			out[i] = e
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range out {
		t.Cleanup(e.Close)
		select {
		case <-e.Server.ReadyNotify():
		case <-time.After(time.Minute):
			t.Fatal("etcd does not get ready")
		}
	}
	return out, w
}

func left(t *testing.T, e *embed.Etcd, prefix string) int64 {
	t.Helper()
	end := []byte(prefix)
	end[len(end)-1]++
	r, err := e.Server.Range(context.Background(), &pb.RangeRequest{Key: []byte(prefix), RangeEnd: end, CountOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Count
}

func leases(t *testing.T, e *embed.Etcd) int {
	t.Helper()
	r, err := e.Server.LeaseLeases(context.Background(), &pb.LeaseLeasesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return len(r.Leases)
}

func load(t *testing.T, d time.Duration) remediate.WriteLoad {
	t.Helper()
	l, err := remediate.NewWriteLoad("s", d, NewPrefix())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLoadWritesAndTakesAllAway(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			es, w := start(t, n, 0)
			l := load(t, remediate.MinLoad)
			if err := w.Do(context.Background(), l); err != nil {
				t.Fatal(err)
			}
			r := w.Result
			if len(r.Took) == 0 || len(r.Took) > l.Writes() || r.Failed > 0 || r.Left != 0 || r.Stopped != "" || r.Elapsed > l.For+hopeless {
				t.Errorf("got %d writes of %d, %d failed, %d left, stopped %q, in %s", len(r.Took), l.Writes(), r.Failed, r.Left, r.Stopped, r.Elapsed)
			}
			if n := left(t, es[0], "/"); n > 0 || leases(t, es[0]) > 0 {
				t.Errorf("%d keys and %d leases are left", n, leases(t, es[0]))
			}
		})
	}
}

func TestInterruptedLoadTakesAllAway(t *testing.T) {
	es, w := start(t, 1, 0)
	l := load(t, time.Minute)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for range 600 {
			if left(t, es[0], l.Prefix) > 20 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		cancel()
	}()
	if err := w.Do(ctx, l); err == nil || w.Result.Stopped != "interrupted" || len(w.Result.Took) == 0 || w.Result.Left != 0 {
		t.Errorf("got %v, stopped %q, %d writes, %d left", err, w.Result.Stopped, len(w.Result.Took), w.Result.Left)
	}
	if n := left(t, es[0], "/"); n > 0 || leases(t, es[0]) > 0 {
		t.Errorf("%d keys and %d leases are left", n, leases(t, es[0]))
	}
}

func TestLoadEndsWhenItsWritesFail(t *testing.T) {
	es, w := start(t, 1, 0)
	l := load(t, time.Minute)
	began := time.Now()
	go func() {
		time.Sleep(time.Second)
		es[0].Server.Alarm(context.Background(), &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, MemberID: uint64(es[0].Server.MemberID()), Alarm: pb.AlarmType_NOSPACE})
	}()
	err := w.Do(context.Background(), l)
	if err == nil || !strings.Contains(w.Result.Stopped, "writes failed") || !strings.Contains(w.Result.Error, "space") || time.Since(began) > 45*time.Second {
		t.Errorf("got %v, stopped %q, error %q after %s", err, w.Result.Stopped, w.Result.Error, time.Since(began))
	}
	if n := left(t, es[0], "/"); n > 0 {
		t.Errorf("%d keys are left: deletes are allowed while there is no space", n)
	}
}

func TestLoadLeavesAKeyThatIsExpiredByItself(t *testing.T) {
	es, w := start(t, 1, 0)
	l := load(t, time.Minute)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		w.Do(ctx, l)
		close(ended)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	var lease int64
	for range 600 {
		r, err := es[0].Server.Range(context.Background(), &pb.RangeRequest{Key: []byte(l.Prefix), RangeEnd: []byte("0"), Limit: 1})
		if err == nil && len(r.Kvs) > 0 {
			lease = r.Kvs[0].Lease
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	ttl, err := es[0].Server.LeaseTimeToLive(context.Background(), &pb.LeaseTimeToLiveRequest{ID: lease})
	if err != nil || lease == 0 || ttl.GrantedTTL < int64(l.For.Seconds()) || ttl.GrantedTTL > 300 {
		t.Errorf("got lease %d, %v, %v", lease, ttl, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	es, w := start(t, 1, 0)
	l := load(t, remediate.MinLoad)
	if _, err := es[0].Server.Put(context.Background(), &pb.PutRequest{Key: []byte(l.Prefix + "mine"), Value: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if err := w.Do(context.Background(), l); err == nil || left(t, es[0], l.Prefix) != 1 {
		t.Errorf("got %v: a prefix in use was written to, or cleaned", err)
	}
	dead := &Load{Endpoints: []string{"http://127.0.0.1:1"}}
	if err := dead.Do(context.Background(), load(t, remediate.MinLoad)); err == nil {
		t.Error("got no error of a server that is not there")
	}
}
