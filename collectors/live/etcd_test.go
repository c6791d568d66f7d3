package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ktriage/ktriage/collectors"
)

// startEtcd runs a real member, with TLS if there is an authority, and returns
// its client address and the flags that reach it. It holds one secret.
func startEtcd(t *testing.T, ca *authority) (addr string, flags EtcdFlags) {
	t.Helper()
	dir := t.TempDir()
	conf := embed.NewConfig()
	conf.Dir = filepath.Join(dir, "data")
	conf.LogLevel, conf.LogOutputs = "fatal", []string{"/dev/null"}
	conf.UnsafeNoFsync = true
	client, peer := deadAddr(t), deadAddr(t)
	scheme := "http"
	if ca != nil {
		scheme = "https"
		srv, cl := ca.issue(t, "127.0.0.1"), ca.issue(t)
		write(t, dir, map[string][]byte{"ca.crt": ca.pem, "srv.crt": srv.cert, "srv.key": srv.key, "client.crt": cl.cert, "client.key": cl.key})
		conf.ClientTLSInfo.CertFile, conf.ClientTLSInfo.KeyFile = filepath.Join(dir, "srv.crt"), filepath.Join(dir, "srv.key")
		conf.ClientTLSInfo.TrustedCAFile, conf.ClientTLSInfo.ClientCertAuth = filepath.Join(dir, "ca.crt"), true
		flags = EtcdFlags{CACert: filepath.Join(dir, "ca.crt"), Cert: filepath.Join(dir, "client.crt"), Key: filepath.Join(dir, "client.key")}
	}
	cu, pu := url.URL{Scheme: scheme, Host: client}, url.URL{Scheme: "http", Host: peer}
	conf.ListenClientUrls, conf.AdvertiseClientUrls = []url.URL{cu}, []url.URL{cu}
	conf.ListenPeerUrls, conf.AdvertisePeerUrls = []url.URL{pu}, []url.URL{pu}
	conf.InitialCluster = conf.InitialClusterFromName(conf.Name)
	e, err := embed.StartEtcd(conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(time.Minute):
		t.Fatal("etcd does not get ready")
	}
	for i := range 3 {
		if _, err := e.Server.Put(context.Background(), &pb.PutRequest{Key: fmt.Appendf(nil, "/registry/secrets/%d", i), Value: []byte(token)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Server.Put(context.Background(), &pb.PutRequest{Key: []byte("compact_rev_key"), Value: []byte("17")}); err != nil {
		t.Fatal(err)
	}
	flags.Endpoints = []string{cu.String()}
	return client, flags
}

func TestEtcdAnswersAsItsOwnClientPrints(t *testing.T) {
	addr, flags := startEtcd(t, newAuthority(t, "etcd"))
	s := newSource(t, Config{Etcd: flags})
	call := func(path string) map[string]any {
		t.Helper()
		reply, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + addr + path})
		if gap != nil {
			t.Fatal(gap)
		}
		if reply.Elapsed <= 0 || reply.At.IsZero() || reply.From != "etcd://"+addr+path {
			t.Errorf("%s: got %+v", path, reply)
		}
		if strings.Contains(body, token) || strings.Contains(body, "value") {
			t.Errorf("%s shows the value of a key: %s", path, body)
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatalf("%s: %v: %s", path, err, body)
		}
		if v["header"].(map[string]any)["member_id"] == nil {
			t.Errorf("%s: got no member in the header: %s", path, body)
		}
		return v
	}
	for _, path := range []string{"/member/list", "/member/list?serializable=true"} {
		if m := call(path)["members"].([]any); len(m) != 1 || m[0].(map[string]any)["clientURLs"].([]any)[0] != "https://"+addr {
			t.Errorf("%s: got members %v", path, m)
		}
	}
	if v := call("/maintenance/status"); v["version"] != "3.7.3" || v["dbSize"].(float64) <= 0 || v["leader"] == nil {
		t.Errorf("got status %v", v)
	}
	if v := call("/maintenance/alarms"); v["alarms"] != nil {
		t.Errorf("got alarms %v", v)
	}
	whole, early := call("/maintenance/hashkv"), call("/maintenance/hashkv?rev=2")
	if whole["hash"] == early["hash"] {
		t.Errorf("got the same hash at two revisions: %v and %v", whole, early)
	}
	if v := call("/kv/range?key=/registry/secrets/1"); len(v["kvs"].([]any)) != 1 {
		t.Errorf("got %v, want one key", v)
	}
	if v := call("/kv/range?key=/registry/&prefix=true&limit=2&keysonly=false"); len(v["kvs"].([]any)) != 2 || v["count"].(float64) != 3 {
		t.Errorf("got %v, want two keys of three", v)
	}
	if v := call("/kv/range?prefix=true&count_only=true&serializable=true"); v["kvs"] != nil || v["count"].(float64) != 4 {
		t.Errorf("got %v, want a count of four", v)
	}
	// The one value that is read, and only by itself.
	if _, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + addr + "/kv/range?key=compact_rev_key"}); gap != nil || !strings.Contains(body, `"value":"MTc="`) {
		t.Errorf("got %q, %v", body, gap)
	}
	call("/kv/range?key=compact_rev_key&prefix=true")
	call("/kv/range?key=compact_rev_key&end=z")

	reply, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "etcd://" + addr + "/metrics"})
	if gap != nil || !strings.Contains(body, "etcd_server_has_leader 1") || reply.Status != 200 {
		t.Errorf("got %.100q, %v", body, gap)
	}
	if _, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "etcd://" + addr + "/health"}); gap != nil || !strings.Contains(body, `"health":"true"`) {
		t.Errorf("got %q, %v", body, gap)
	}
	if got := s.Cost(); got.Bytes == 0 || got.Requests != 14 {
		t.Errorf("got cost %+v, want 14 requests", got)
	}

	for path, want := range map[string]string{
		"/kv/put?key=a":                 "no call",
		"/maintenance/defragment":       "no call",
		"/kv/range":                     "needs a key",
		"/kv/range?key=a&limit=many":    "not a number",
		"/maintenance/hashkv?rev=later": "not a number",
	} {
		_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + addr + path})
		wantGap(t, gap, collectors.NotAsked, want)
	}
	_, _, gap = fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + addr + "/maintenance/hashkv?rev=999999"})
	wantGap(t, gap, collectors.ServerError, "future revision")
}

func TestEtcdWithoutTLS(t *testing.T) {
	addr, flags := startEtcd(t, nil)
	s := newSource(t, Config{Etcd: flags})
	for _, r := range []collectors.Request{{Verb: collectors.Call, URL: "etcd://" + addr + "/maintenance/status"}, {Verb: collectors.Scrape, URL: "etcd://" + addr + "/metrics"}} {
		if _, _, gap := fetch(t, s, r); gap != nil {
			t.Errorf("%s: %v", r.URL, gap)
		}
	}
}

func TestEtcdThatRefuses(t *testing.T) {
	ca, other := newAuthority(t, "etcd"), newAuthority(t, "another")
	addr, good := startEtcd(t, ca)
	dir := t.TempDir()
	strange := other.issue(t)
	write(t, dir, map[string][]byte{"ca.crt": other.pem, "client.crt": strange.cert, "client.key": strange.key})
	file := func(n string) string { return filepath.Join(dir, n) }
	expired := ca.issueUntil(t, time.Now().Add(-time.Hour))
	write(t, dir, map[string][]byte{"expired.crt": expired.cert, "expired.key": expired.key})
	for _, tt := range []struct {
		name   string
		flags  EtcdFlags
		reason collectors.Reason
		words  []string
	}{
		{"no credentials", EtcdFlags{Endpoints: good.Endpoints}, collectors.Forbidden, []string{"no client certificate for etcd", "--etcd-cacert, --etcd-cert, --etcd-key: not given", "ETCDCTL_CACERT", "give a client certificate"}},
		{"a CA alone", EtcdFlags{CACert: good.CACert}, collectors.Unauthorized, []string{"did not accept the client certificate, or the lack of one", "give a client certificate"}},
		{"a certificate of another CA", EtcdFlags{CACert: good.CACert, Cert: file("client.crt"), Key: file("client.key")}, collectors.Unauthorized, []string{"did not accept the client certificate", "the client certificate came from", file("client.crt")}},
		{"a certificate that expired", EtcdFlags{CACert: good.CACert, Cert: file("expired.crt"), Key: file("expired.key")}, collectors.Unauthorized, []string{"did not accept the client certificate"}},
		{"the CA of another cluster", EtcdFlags{CACert: file("ca.crt"), Cert: good.Cert, Key: good.Key}, collectors.Unreachable, []string{"not signed by the CA", "--etcd-cacert"}},
		{"a file that is not there", EtcdFlags{CACert: file("none.crt"), Cert: good.Cert, Key: good.Key}, collectors.Forbidden, []string{"no file " + file("none.crt")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSource(t, Config{Etcd: tt.flags})
			for _, r := range []collectors.Request{
				{Verb: collectors.Call, URL: "etcd://" + addr + "/maintenance/status"},
				{Verb: collectors.Scrape, URL: "etcd://" + addr + "/metrics"},
			} {
				began := time.Now()
				_, _, gap := fetch(t, s, r)
				wantGap(t, gap, tt.reason, append(tt.words, r.URL)...)
				if d := time.Since(began); d > 4*time.Second {
					t.Errorf("%s took %v", r.URL, d)
				}
			}
		})
	}
	t.Run("an unverified server, if the user says so", func(t *testing.T) {
		s := newSource(t, Config{Etcd: EtcdFlags{CACert: file("ca.crt"), Cert: good.Cert, Key: good.Key, InsecureSkipVerify: true}})
		if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + addr + "/maintenance/status"}); gap != nil {
			t.Error(gap)
		}
	})
}

func TestEtcdThatIsNotThere(t *testing.T) {
	ca := newAuthority(t, "etcd")
	dir := t.TempDir()
	cl := ca.issue(t, "127.0.0.1")
	write(t, dir, map[string][]byte{"ca.crt": ca.pem, "c.crt": cl.cert, "c.key": cl.key})
	flags := EtcdFlags{CACert: filepath.Join(dir, "ca.crt"), Cert: filepath.Join(dir, "c.crt"), Key: filepath.Join(dir, "c.key")}
	web := newServer(t, cl.pair(t), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) })
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for _, tt := range []struct {
		name, addr string
		reason     collectors.Reason
		words      string
	}{
		{"nothing listens", deadAddr(t), collectors.Unreachable, "connection refused: nothing listens there"},
		{"it is frozen", muteAddr(t), collectors.Timeout, "connected, but TLS was not agreed on within 300ms"},
		{"it is no etcd", web.addr(), collectors.Absent, "has no such call"},
		{"it is not even TLS", strings.TrimPrefix(plain.URL, "http://"), collectors.Unreachable, "does not speak TLS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSource(t, Config{Etcd: flags, RequestTimeout: 500 * time.Millisecond})
			for i := range 3 {
				began := time.Now()
				_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + tt.addr + "/maintenance/status"})
				wantGap(t, gap, tt.reason, tt.words)
				if d := time.Since(began); d > 2*time.Second {
					t.Errorf("attempt %d took %v", i+1, d)
				}
			}
		})
	}
	t.Run("plain HTTP where gRPC is expected", func(t *testing.T) {
		s := newSource(t, Config{Etcd: EtcdFlags{Endpoints: []string{plain.URL}}, RequestTimeout: 500 * time.Millisecond})
		_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + strings.TrimPrefix(plain.URL, "http://") + "/maintenance/status"})
		wantGap(t, gap, collectors.Unreachable)
	})
	t.Run("the run is stopped", func(t *testing.T) {
		s := newSource(t, Config{Etcd: flags})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		_, _, gap := fetchCtx(t, ctx, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + muteAddr(t) + "/maintenance/status"})
		wantGap(t, gap, collectors.Canceled)
	})
}

func TestEtcdThatComesBackIsFoundAgain(t *testing.T) {
	ca := newAuthority(t, "etcd")
	addr, flags := startEtcd(t, ca)
	s := newSource(t, Config{Etcd: flags})
	dead := deadAddr(t)
	r := collectors.Request{Verb: collectors.Call, URL: "etcd://" + dead + "/maintenance/status"}
	for range dialsToOpen {
		fetch(t, s, r)
	}
	_, _, gap := fetch(t, s, r)
	wantGap(t, gap, collectors.Unreachable, "not tried again")
	// Others are none the worse for it.
	if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + addr + "/maintenance/status"}); gap != nil {
		t.Error(gap)
	}
}

func TestWhatEtcdSaysIsToldFromWhatTheConnectionSays(t *testing.T) {
	for _, tt := range []struct {
		name   string
		err    error
		reason collectors.Reason
		how    reach
	}{
		{"no leader is an answer", status.Error(codes.Unavailable, "etcdserver: no leader"), collectors.ServerError, answered},
		{"so is its own timeout", status.Error(codes.Unavailable, "etcdserver: request timed out"), collectors.ServerError, answered},
		{"a broken connection is none", status.Error(codes.Unavailable, "error reading from server: EOF"), collectors.Unreachable, silent},
		{"nor is our timeout", status.Error(codes.DeadlineExceeded, "context deadline exceeded"), collectors.Timeout, silent},
		{"a role is missing", status.Error(codes.PermissionDenied, "etcdserver: permission denied"), collectors.Forbidden, answered},
		{"a login is missing", status.Error(codes.Unauthenticated, "etcdserver: invalid auth token"), collectors.Unauthorized, answered},
		{"the call is not known", status.Error(codes.Unimplemented, "unknown method"), collectors.Absent, answered},
	} {
		if got := explainRPC(t.Context(), tt.err, &link{}, time.Second); got.reason != tt.reason || got.how != tt.how {
			t.Errorf("%s: got %+v, want %s", tt.name, got, tt.reason)
		}
	}
}

func TestClosedSourceLeavesNothingBehind(t *testing.T) {
	ca := newAuthority(t, "etcd")
	dir := t.TempDir()
	cl := ca.issue(t, "127.0.0.1")
	write(t, dir, map[string][]byte{"ca.crt": ca.pem, "c.crt": cl.cert, "c.key": cl.key})
	web := newServer(t, cl.pair(t), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) })
	s := newSource(t, Config{
		Etcd:           EtcdFlags{CACert: filepath.Join(dir, "ca.crt"), Cert: filepath.Join(dir, "c.crt"), Key: filepath.Join(dir, "c.key")},
		RequestTimeout: 200 * time.Millisecond,
	})
	for _, addr := range []string{web.addr(), deadAddr(t), muteAddr(t)} {
		for range 2 {
			if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + addr + "/maintenance/status"}); gap == nil {
				t.Errorf("%s: got an answer, want a gap", addr)
			}
		}
	}
	s.Close()
	var left []string
	for range 50 {
		left = nil
		b := make([]byte, 1<<20)
		for stack := range strings.SplitSeq(string(b[:runtime.Stack(b, true)]), "\n\n") {
			if strings.Contains(stack, "grpc/internal/transport.") || strings.Contains(stack, "clientv3.") || strings.Contains(stack, "live.(*Source).callEtcd") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
}
