package live

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// A gate stands before a server and can be shut: connections stay, and nothing
// passes, as with a process that is stopped.
type gate struct {
	net.Listener
	mu sync.RWMutex // locked while it is shut
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{Listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			go g.pass(in, out)
			go g.pass(out, in)
		}
	}()
	return g
}

func (g *gate) pass(from, to net.Conn) {
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		g.mu.RLock()
		_, werr := to.Write(b[:n])
		g.mu.RUnlock()
		if err != nil || werr != nil {
			return
		}
	}
}

func TestServerThatFreezesIsTimedOutAndFoundAgain(t *testing.T) {
	ca := newAuthority(t, "both")
	etcd, flags := startEtcd(t, ca)
	api := newServer(t, ca.issue(t, "127.0.0.1").pair(t), func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	etcdGate, apiGate := newGate(t, etcd), newGate(t, api.addr())
	s := newSource(t, Config{
		Etcd: flags, RequestTimeout: time.Second,
		Kubeconfig: kubeconfigFor("https://"+apiGate.Addr().String(), ca),
	})
	for _, tt := range []struct {
		gate *gate
		r    collectors.Request
	}{
		{etcdGate, collectors.Request{Verb: collectors.Call, URL: "etcd://" + etcdGate.Addr().String() + "/maintenance/status"}},
		{etcdGate, collectors.Request{Verb: collectors.Get, URL: "etcd://" + etcdGate.Addr().String() + "/health"}},
		{apiGate, collectors.Request{Verb: collectors.Get, URL: "kube:/readyz"}},
	} {
		if _, _, gap := fetch(t, s, tt.r); gap != nil {
			t.Fatal(gap)
		}
		tt.gate.mu.Lock()
		for range 2 {
			_, _, gap := fetch(t, s, tt.r)
			wantGap(t, gap, collectors.Timeout, "connected, but ", "within ")
		}
		tt.gate.mu.Unlock()
		if _, _, gap := fetch(t, s, tt.r); gap != nil {
			t.Errorf("after the thaw: %v", gap)
		}
	}
}
