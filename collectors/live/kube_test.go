package live

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ktriage/ktriage/collectors"
)

func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }

// newKubeSource is a source for an API server that h plays.
func newKubeSource(t *testing.T, h http.HandlerFunc) (*Source, *server) {
	t.Helper()
	ca := newAuthority(t, "cluster")
	srv := newServer(t, ca.issue(t, "127.0.0.1").pair(t), h)
	return newSource(t, Config{Kubeconfig: kubeconfigFor(srv.URL, ca), QPS: 1000, Burst: 1000, RequestTimeout: 10 * time.Second}), srv
}

func statusJSON(code int, message string) string {
	b, _ := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Message: message, Code: int32(code)})
	return string(b)
}

func statusProto(t *testing.T, code int, message string) string {
	t.Helper()
	st := metav1.Status{Status: "Failure", Message: message, Code: int32(code)}
	raw, err := st.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Status"}, Raw: raw}
	b, err := u.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return "k8s\x00" + string(b)
}

func TestStatusesOfTheAPI(t *testing.T) {
	const html = "<html><body>sign in</body></html>"
	for _, tt := range []struct {
		name   string
		verb   collectors.Verb
		url    string
		code   int
		media  string
		body   string
		reason collectors.Reason // empty: a reply
		words  []string
	}{
		{"200 is a reply", collectors.Get, "kube:/version", 200, "application/json", "{}", "", nil},
		{"401 asks about the credentials", collectors.Get, "kube:/version", 401, "application/json", statusJSON(401, "Unauthorized"), collectors.Unauthorized, []string{"HTTP 401", "expired"}},
		{"403 of a list names the role", collectors.List, "kube:/api/v1/pods", 403, "application/json", statusJSON(403, `User "x" cannot list`), collectors.Forbidden, []string{`User "x" cannot list`, "--verb=list --resource=pods"}},
		{"403 in protobuf is read too", collectors.List, "kube:/apis/apps/v1/deployments", 403, "application/vnd.kubernetes.protobuf", statusProto(t, 403, "no deployments for you"), collectors.Forbidden, []string{"no deployments for you", "--resource=deployments.apps"}},
		{"403 of metrics names the URL", collectors.Scrape, "kube:/metrics", 403, "text/plain", "forbidden: no", collectors.Forbidden, []string{"--non-resource-url=/metrics"}},
		{"404 is absence", collectors.List, "kube:/api/v1/pods", 404, "text/plain", "404 page not found", collectors.Absent, []string{"404 page not found"}},
		{"500 of a list is a gap", collectors.List, "kube:/api/v1/pods", 500, "application/json", statusJSON(500, "etcdserver: no leader"), collectors.ServerError, []string{"etcdserver: no leader"}},
		{"503 of a scrape is a gap", collectors.Scrape, "kube:/metrics", 503, "text/plain", "down", collectors.ServerError, []string{"503", "down"}},
		{"500 of a get is a reply", collectors.Get, "kube:/readyz?verbose", 500, "text/plain", "[-]etcd failed", "", nil},
		{"a web page is not objects", collectors.List, "kube:/api/v1/pods", 200, "text/html; charset=utf-8", html, collectors.Malformed, []string{"web page"}},
		{"a web page is no reason", collectors.List, "kube:/api/v1/pods", 502, "text/html", html, collectors.ServerError, []string{"web page, so not from"}},
		{"an error without a body", collectors.List, "kube:/api/v1/pods", 500, "application/json", "", collectors.ServerError, []string{"HTTP 500"}},
		{"garbage for protobuf", collectors.List, "kube:/api/v1/pods", 403, "application/vnd.kubernetes.protobuf", "k8s\x00\xff\xff\xff", collectors.Forbidden, []string{"HTTP 403"}},
		{"terminal escapes come on one line", collectors.List, "kube:/api/v1/pods", 500, "text/plain", "a\r\n\tb", collectors.ServerError, []string{"a b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", tt.media)
				w.WriteHeader(tt.code)
				io.WriteString(w, tt.body)
			})
			reply, body, gap := fetch(t, s, collectors.Request{Verb: tt.verb, URL: tt.url})
			if tt.reason != "" {
				wantGap(t, gap, tt.reason, append(tt.words, tt.url)...)
				return
			}
			if gap != nil {
				t.Fatalf("got gap %v", gap)
			}
			if reply.Status != tt.code || body != tt.body || reply.From != tt.url || reply.Media != tt.media {
				t.Errorf("got %+v with body %q", reply, body)
			}
			if reply.Date.IsZero() || reply.At.IsZero() || reply.Elapsed <= 0 {
				t.Errorf("got date %v, at %v, elapsed %v, want all of them", reply.Date, reply.At, reply.Elapsed)
			}
		})
	}
}

func TestListIsAskedPageByPageAsProtobuf(t *testing.T) {
	var got []string
	s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.String()+" "+r.Header.Get("Accept")+" "+r.Header.Get("User-Agent"))
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
	})
	req := collectors.Request{Verb: collectors.List, URL: "kube:/api/v1/pods?labelSelector=a%3Db"}
	for _, page := range []string{"", "next"} {
		req.Page = page
		if _, _, gap := fetch(t, s, req); gap != nil {
			t.Fatal(gap)
		}
	}
	const accept = " application/vnd.kubernetes.protobuf, application/json ktriage/dev"
	want := []string{
		"/api/v1/pods?labelSelector=a%3Db&limit=500" + accept,
		"/api/v1/pods?continue=next&labelSelector=a%3Db&limit=500" + accept,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestExpiredListGoesOnWithTheTokenOfTheError(t *testing.T) {
	s, srv := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "still good" {
			io.WriteString(w, "rest")
			return
		}
		w.WriteHeader(http.StatusGone)
		io.WriteString(w, `{"kind":"Status","message":"expired","metadata":{"continue":"still good"}}`)
	})
	_, body, gap := fetch(t, s, collectors.Request{Verb: collectors.List, URL: "kube:/api/v1/pods", Page: "old"})
	if gap != nil || body != "rest" {
		t.Errorf("got %q, %v", body, gap)
	}
	if n := srv.requests.Load(); n != 2 {
		t.Errorf("got %d requests, want 2", n)
	}
}

func TestExpiredListWithoutATokenIsAGap(t *testing.T) {
	s, srv := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusGone)
		io.WriteString(w, statusJSON(410, "too old resource version"))
	})
	_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.List, URL: "kube:/api/v1/pods", Page: "old"})
	wantGap(t, gap, collectors.ServerError, "410", "too old resource version")
	if n := srv.requests.Load(); n != 1 {
		t.Errorf("got %d requests, want 1", n)
	}
}

func TestThrottledRequestIsTriedAgainAFewTimes(t *testing.T) {
	for _, tt := range []struct {
		name      string
		throttled int64
		requests  int64
	}{{"until it goes through", 2, 3}, {"but not for ever", 99, 3}} {
		t.Run(tt.name, func(t *testing.T) {
			var srv *server
			s, srv := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
				if srv.requests.Load() <= tt.throttled {
					w.Header().Set("Retry-After", "0")
					w.WriteHeader(429)
				}
			})
			_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.List, URL: "kube:/api/v1/pods"})
			if tt.throttled > 2 {
				wantGap(t, gap, collectors.ServerError, "429", "3 tries")
			} else if gap != nil {
				t.Error(gap)
			}
			if n := srv.requests.Load(); n != tt.requests {
				t.Errorf("got %d requests, want %d", n, tt.requests)
			}
		})
	}
}

func TestScrapeIsUnpackedAndStreamed(t *testing.T) {
	read := make(chan struct{})
	s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept"); got != "text/plain;version=0.0.4" {
			t.Errorf("got Accept %q", got)
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, "one 1\n")
		z.Flush()
		w.(http.Flusher).Flush()
		<-read // the rest comes when the beginning was read
		io.WriteString(z, "two 2\n")
		z.Close()
	})
	reply, err := s.Fetch(t.Context(), collectors.Request{Verb: collectors.Scrape, URL: "kube:/metrics"})
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b := make([]byte, 6)
	if _, err := io.ReadFull(reply.Body, b); err != nil || string(b) != "one 1\n" {
		t.Fatalf("got %q, %v", b, err)
	}
	close(read)
	if rest, err := io.ReadAll(reply.Body); err != nil || string(rest) != "two 2\n" {
		t.Errorf("got %q, %v", rest, err)
	}
}

func TestReplyThatBreaksOffIsAGap(t *testing.T) {
	s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "only this")
	})
	_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "kube:/metrics"})
	wantGap(t, gap, collectors.Unreachable, "broke off after 9 bytes")
}

// endless writes until nobody listens any more.
func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, strings.Repeat("x", 1000)); err != nil {
			return
		}
		w.(http.Flusher).Flush()
	}
}

func TestReplyThatDoesNotEndIsCutOff(t *testing.T) {
	s, _ := newKubeSource(t, endless)
	s.config.BodyTimeout = 200 * time.Millisecond
	_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Scrape, URL: "kube:/metrics"})
	wantGap(t, gap, collectors.Timeout, "not complete after 200ms")
	if got := s.limit.inFlight; got != 0 {
		t.Errorf("got %d requests in flight after the end, want none", got)
	}
}

func TestStopInsideAReplyIsCanceled(t *testing.T) {
	s, _ := newKubeSource(t, endless)
	ctx, cancel := context.WithCancel(t.Context())
	reply, err := s.Fetch(ctx, collectors.Request{Verb: collectors.Scrape, URL: "kube:/metrics"})
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if _, err := io.ReadFull(reply.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = io.Copy(io.Discard, reply.Body)
	wantGap(t, asGap(t, err), collectors.Canceled)
}

func TestStopBeforeAnAnswerIsCanceled(t *testing.T) {
	asked := make(chan struct{})
	s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, _, gap := fetchCtx(t, ctx, s, collectors.Request{Verb: collectors.Get, URL: "kube:/readyz", Or: []string{"kube:/livez"}})
	wantGap(t, gap, collectors.Canceled, "the run was stopped")
	if strings.Contains(gap.Detail, "/livez") {
		t.Errorf("another way was tried after the stop: %s", gap.Detail)
	}
	_, _, gap = fetchCtx(t, ctx, s, collectors.Request{Verb: collectors.Get, URL: "kube:/readyz"})
	wantGap(t, gap, collectors.Canceled)
}

func TestEndOfTheRunsTimeIsATimeout(t *testing.T) {
	s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, _, gap := fetchCtx(t, ctx, s, collectors.Request{Verb: collectors.Get, URL: "kube:/readyz"})
	wantGap(t, gap, collectors.Timeout, "before the run's time was over")
}

func TestRedirectIsNotFollowed(t *testing.T) {
	ca := newAuthority(t, "cluster")
	other := newServer(t, ca.issue(t, "127.0.0.1").pair(t), func(http.ResponseWriter, *http.Request) {})
	s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/login?secret=1", http.StatusFound)
	})
	_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "kube:/version"})
	wantGap(t, gap, collectors.Malformed, "redirects to "+other.addr())
	if strings.Contains(gap.Detail, "secret=1") {
		t.Errorf("the gap quotes the redirect: %s", gap.Detail)
	}
	if n := other.requests.Load(); n != 0 {
		t.Errorf("the other host got %d requests", n)
	}
}

func TestFailuresToConnectAreToldApart(t *testing.T) {
	ca, other := newAuthority(t, "cluster"), newAuthority(t, "another")
	ok := func(http.ResponseWriter, *http.Request) {}
	stranger := newServer(t, other.issue(t, "127.0.0.1").pair(t), ok)
	misnamed := newServer(t, ca.issue(t, "api.example.com").pair(t), ok)
	expired := newServer(t, ca.issueUntil(t, time.Now().Add(-time.Hour), "127.0.0.1").pair(t), ok)
	plain := httptest.NewServer(http.HandlerFunc(ok))
	defer plain.Close()
	for _, tt := range []struct {
		name, url string
		reason    collectors.Reason
		words     string
	}{
		{"nothing listens", "https://" + deadAddr(t), collectors.Unreachable, "connection refused: nothing listens there"},
		{"nothing is said", "https://" + muteAddr(t), collectors.Timeout, "connected, but TLS was not agreed on within 180ms"},
		{"the CA is another", stranger.URL, collectors.Unreachable, `not signed by the CA that we were given (issuer "CN=another")`},
		{"the name is another", misnamed.URL, collectors.Unreachable, "certificate is not for 127.0.0.1 but for api.example.com"},
		{"the certificate expired", expired.URL, collectors.Unreachable, "certificate expired on 20"},
		{"it is not TLS", strings.Replace(plain.URL, "http:", "https:", 1), collectors.Unreachable, "does not speak TLS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSource(t, Config{Kubeconfig: kubeconfigFor(tt.url, ca), RequestTimeout: 300 * time.Millisecond})
			_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "kube:/version"})
			wantGap(t, gap, tt.reason, "kube:/version at 127.0.0.1:", tt.words)
		})
	}
	for _, srv := range []*server{stranger, misnamed, expired} {
		if n := srv.requests.Load(); n != 0 {
			t.Errorf("a server that failed verification got %d requests", n)
		}
	}
}

func TestSlowAnswerIsATimeout(t *testing.T) {
	s, _ := newKubeSource(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s.config.RequestTimeout = time.Second
	_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "kube:/version"})
	wantGap(t, gap, collectors.Timeout, "connected, but no answer within 1s")
	_, _, gap = fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "kube:/version", Urgency: crucial})
	wantGap(t, gap, collectors.Timeout, "connected, but no answer within 1.6s")
}

func TestDeadAddressIsNotDialledForEachRequest(t *testing.T) {
	s := newSource(t, Config{Kubeconfig: kubeconfigFor("https://"+deadAddr(t), newAuthority(t, "cluster"))})
	var gap *collectors.Gap
	for range 5 {
		_, _, gap = fetch(t, s, collectors.Request{Verb: collectors.List, URL: "kube:/api/v1/pods"})
	}
	wantGap(t, gap, collectors.Unreachable, "kube:/api/v1/pods at ", "connection refused: nothing listens there", "not tried again after 2 failures in a row")
	if got := s.Cost().Requests; got != 2 {
		t.Errorf("got %d attempts, want 2", got)
	}
	now := time.Now().Add(cooldown)
	s.breaker.now = func() time.Time { return now }
	for range 5 {
		fetch(t, s, collectors.Request{Verb: collectors.List, URL: "kube:/api/v1/pods"})
	}
	if got := s.Cost().Requests; got != 3 {
		t.Errorf("got %d attempts once the address had cooled down, want 3", got)
	}
}

func TestWithoutAKubeconfig(t *testing.T) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: []string{"/nowhere/config"}}
	empty := kubeconfig{clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{ClusterDefaults: clientcmdapi.Cluster{Server: noServer}})}
	broken := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(broken, []byte("{{{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		k     Kubeconfig
		words string
	}{
		{"none was given", nil, "there is no kubeconfig"},
		{"none is there", empty, "none was found in /nowhere/config"},
		{"it cannot be read", kubeconfig{clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: broken}, &clientcmd.ConfigOverrides{})}, "cannot be used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSource(t, Config{Kubeconfig: tt.k})
			for _, u := range []string{"kube:/version", "apiserver://10.0.0.1:6443/metrics", "pod+http://ns/p:80/", "config:/cluster"} {
				_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: u})
				wantGap(t, gap, collectors.NotAsked, tt.words, "--kubeconfig")
			}
		})
	}
}

func TestClusterIsDescribedWithoutSecrets(t *testing.T) {
	ca := newAuthority(t, "cluster")
	cert := ca.issue(t)
	for _, tt := range []struct {
		user   string
		change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
	}{
		{"token", func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}},
		{"client certificate", func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.Token, u.ClientCertificateData, u.ClientKeyData = "", cert.cert, cert.key
		}},
		{"token, impersonating jane", func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Impersonate = "jane" }},
		{"exec plugin", func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.Token, u.Exec = "", execPlugin("true")
		}},
		{"nothing: anonymous", func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Token = "" }},
	} {
		t.Run(tt.user, func(t *testing.T) {
			s := newSource(t, Config{Kubeconfig: kubeconfigFor("https://user:pw@api.example.com/base", ca, tt.change)})
			_, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "config:/cluster"})
			until := fmt.Sprintf(`,"caUntil":%q`, ca.cert.NotAfter.UTC().Format(time.RFC3339))
			if tt.user == "client certificate" {
				until = fmt.Sprintf(`,"clientUntil":%q`, certificates(cert.cert)[0].NotAfter.Format(time.RFC3339)) + until
			}
			want := fmt.Sprintf(`{"name":"prod","server":"https://api.example.com/base","context":"work","namespace":"shop","user":%q`, tt.user) + until
			if gap == nil {
				body, _, _ = strings.Cut(body, `,"client":`)
				body, _, _ = strings.Cut(body, `,"ca":`)
			}
			if gap != nil || body != want {
				t.Errorf("got %s, %v\nwant %s", body, gap, want)
			}
		})
	}
}

func TestTheServersCertificateIsTold(t *testing.T) {
	s, srv := newKubeSource(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	reply, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "kube:/readyz"})
	if gap != nil {
		t.Fatal(gap)
	}
	want := srv.TLS.Certificates[0].Leaf
	if want == nil {
		want, _ = x509.ParseCertificate(srv.TLS.Certificates[0].Certificate[0])
	}
	if reply.Cert == nil || !reply.Cert.NotAfter.Equal(want.NotAfter) || reply.Cert.Issuer != "CN=cluster" {
		t.Errorf("%+v", reply.Cert)
	}
}

func execPlugin(command string, args ...string) *clientcmdapi.ExecConfig {
	return &clientcmdapi.ExecConfig{Command: command, Args: args, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
}

func TestCredentialPluginThatFails(t *testing.T) {
	ca := newAuthority(t, "cluster")
	srv := newServer(t, ca.issue(t, "127.0.0.1").pair(t), func(http.ResponseWriter, *http.Request) {})
	for _, tt := range []struct {
		name   string
		plugin *clientcmdapi.ExecConfig
		reason collectors.Reason
		words  string
	}{
		{"is not there", execPlugin("/nowhere/plugin"), collectors.Unauthorized, "no credentials could be had"},
		{"hangs", execPlugin("sleep", "3"), collectors.Timeout, "credential plugin did not answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := kubeconfigFor(srv.URL, ca, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Token, u.Exec = "", tt.plugin })
			s := newSource(t, Config{Kubeconfig: k, RequestTimeout: 300 * time.Millisecond})
			_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "kube:/version"})
			wantGap(t, gap, tt.reason, tt.words)
		})
	}
	if n := srv.requests.Load(); n != 0 {
		t.Errorf("the server got %d requests without credentials", n)
	}
}

func TestImpersonationGoesToTheAPIAlone(t *testing.T) {
	ca := newAuthority(t, "cluster")
	var got string
	srv := newServer(t, ca.issue(t, "127.0.0.1").pair(t), func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Impersonate-User") + " " + r.Header.Get("Authorization")
	})
	as := func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Impersonate = "jane" }
	s := newSource(t, Config{Kubeconfig: kubeconfigFor(srv.URL, ca, as), NodeName: "n", ForwardToken: true})
	for u, want := range map[string]string{
		"kube:/version": "jane Bearer " + token,
		"pod+https://n@ns/p:" + srv.port() + "/metrics": " Bearer " + token,
	} {
		if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: u}); gap != nil {
			t.Fatal(gap)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", u, got, want)
		}
	}
}

func TestServerBehindAPath(t *testing.T) {
	ca := newAuthority(t, "cluster")
	var got string
	srv := newServer(t, ca.issue(t, "127.0.0.1").pair(t), func(w http.ResponseWriter, r *http.Request) { got = r.RequestURI })
	s := newSource(t, Config{Kubeconfig: kubeconfigFor(srv.URL+"/k8s/clusters/c-1", ca)})
	if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "kube:/readyz?verbose"}); gap != nil {
		t.Fatal(gap)
	}
	if want := "/k8s/clusters/c-1/readyz?verbose"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestGrant(t *testing.T) {
	for _, tt := range []struct {
		verb collectors.Verb
		path string
		want string
	}{
		{collectors.List, "/api/v1/pods", "--verb=list --resource=pods"},
		{collectors.List, "/api/v1/namespaces/kube-system/pods", "--verb=list --resource=pods"},
		{collectors.Get, "/api/v1/namespaces/kube-system", "--verb=get --resource=namespaces"},
		{collectors.Get, "/api/v1/namespaces/ns/pods/p/log", "--verb=get --resource=pods/log"},
		{collectors.List, "/apis/apps/v1/deployments", "--verb=list --resource=deployments.apps"},
		{collectors.Get, "/apis/apps/v1/namespaces/ns/deployments/d/scale", "--verb=get --resource=deployments.apps/scale"},
		{collectors.Scrape, "/metrics", "ktriage-metrics --verb=get --non-resource-url=/metrics"},
		{collectors.Get, "/readyz/etcd", "--non-resource-url=/readyz/etcd"},
	} {
		if got := grant(tt.verb, tt.path); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%s %s: got %q, want the end %q", tt.verb, tt.path, got, tt.want)
		}
	}
}
