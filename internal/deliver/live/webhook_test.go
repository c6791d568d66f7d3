package live

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// hook is a webhook with secrets in its URL, that waits for nothing.
func hook(t *testing.T, base string) (Webhook, *[]time.Duration) {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	u.User, u.Path, u.RawQuery = url.UserPassword("user", "pass-secret"), "/services/path-secret", "token=query-secret"
	var waited []time.Duration
	return Webhook{URL: u, Authorization: "Bearer header-secret", Agent: "ktriage/test", Wait: func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		return nil
	}}, &waited
}

func noSecret(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("a secret is told: %v", err)
	}
}

func TestWebhook(t *testing.T) {
	for _, tc := range []struct {
		name    string
		answers []int
		after   string
		tries   int
		want    string
		waits   []time.Duration
	}{
		{"at once", []int{204}, "", 1, "", nil},
		{"after two failures", []int{500, 503, 200}, "", 3, "", []time.Duration{time.Second, 3 * time.Second}},
		{"never more than three times", []int{500, 500, 500, 200}, "", 3, "it answered 500, 3 of 3 tries made", []time.Duration{time.Second, 3 * time.Second}},
		{"what is refused is not tried again", []int{403, 200}, "", 1, "it answered 403, 1 of 3 tries made", nil},
		{"a redirect is not followed", []int{302, 200}, "", 1, "a redirect, which is not followed", nil},
		{"as long as it says", []int{429, 200}, "7", 2, "", []time.Duration{7 * time.Second}},
		{"but not for ever", []int{429, 200}, "86400", 2, "", []time.Duration{longest}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := 0
			keys := map[string]bool{}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				if r.Method != http.MethodPost || string(b) != `{"a":1}` || r.Header.Get("Content-Type") != "application/json" || r.URL.Query().Get("token") != "query-secret" {
					t.Errorf("%s %s %s", r.Method, r.URL, b)
				}
				keys[r.Header.Get("Idempotency-Key")] = true
				w.Header().Set("Retry-After", tc.after)
				w.Header().Set("Location", "http://evil.example/")
				w.WriteHeader(tc.answers[n])
				n++
			}))
			defer srv.Close()
			h, waited := hook(t, srv.URL)
			err := h.Send(t.Context(), map[string]int{"a": 1})
			noSecret(t, err)
			if n != tc.tries || len(keys) != 1 || (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%d tries, %d keys: %v", n, len(keys), err)
			}
			if len(*waited) != len(tc.waits) {
				t.Fatalf("waited %v, want %v", *waited, tc.waits)
			}
			for i, d := range tc.waits {
				if (*waited)[i] != d {
					t.Errorf("waited %v, want %v", *waited, tc.waits)
				}
			}
		})
	}
}

func TestAWebhookThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // one that hangs up without an answer
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	h, _ := hook(t, "http://"+l.Addr().String())
	err = h.Send(t.Context(), 1)
	if err == nil || !strings.Contains(err.Error(), "webhook at "+l.Addr().String()) {
		t.Errorf("got %v", err)
	}
	noSecret(t, err)
	h.URL.Host = "no-such-host.invalid"
	noSecret(t, h.Send(t.Context(), 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Send(ctx, 1); !strings.Contains(err.Error(), "1 of 3 tries made") {
		t.Errorf("it was tried again after it was stopped: %v", err)
	}
	h.Wait = func(context.Context, time.Duration) error { return errors.New("stopped") }
	noSecret(t, h.Send(t.Context(), 1))
}
