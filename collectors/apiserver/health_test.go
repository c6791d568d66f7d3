package apiserver

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/collectors"
)

func TestParseHealth(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   Health
		gap    collectors.Reason
	}{
		{name: "all checks pass", status: 200, body: "[+]ping ok\n[+]etcd ok\nreadyz check passed\n", want: Health{OK: true, Passed: []string{"ping", "etcd"}}},
		{name: "without verbose", status: 200, body: "ok", want: Health{OK: true}},
		{
			name: "one check fails", status: 500,
			body: "[+]ping ok\n[-]etcd failed: reason withheld\n[+]poststarthook/rbac/bootstrap-roles ok\nreadyz check failed",
			want: Health{Passed: []string{"ping", "poststarthook/rbac/bootstrap-roles"}, Failed: []string{"etcd"}},
		},
		{name: "excluded checks", status: 200, body: "[+]ping excluded: ok\n[+]etcd excluded with etcd: ok\nreadyz check passed\n", want: Health{OK: true, Passed: []string{"ping", "etcd"}}},
		{name: "a failure with status 200 is a failure", status: 200, body: "[-]etcd failed\n", want: Health{Failed: []string{"etcd"}}},
		{name: "failed, and no check named", status: 500, body: "healthz check failed", want: Health{}},
		{name: "a proxy's error", status: 503, body: "<html><body><h1>503 Service Unavailable</h1>", gap: collectors.ServerError},
		{name: "a login page", status: 200, body: "<!DOCTYPE html><html>", gap: collectors.Malformed},
		{name: "an error of the API server's own", status: 503, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"apiserver is shutting down","code":503}`, gap: collectors.ServerError},
		{name: "nothing", status: 200, gap: collectors.Malformed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseHealth(tt.status, []byte(tt.body))
			var g *collectors.Gap
			if errors.As(err, &g) != (tt.gap != "") || g != nil && g.Reason != tt.gap {
				t.Fatalf("got error %v, want %q", err, tt.gap)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzReadyz(f *testing.F) {
	f.Add(200, []byte("[+]ping ok\nreadyz check passed\n"))
	f.Add(500, []byte("[-]etcd failed: reason withheld\nreadyz check failed"))
	f.Add(503, []byte("<html>\xff"))
	f.Add(200, []byte("[+]\n[-] \n[+"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		h, err := ParseHealth(status, body)
		switch {
		case err != nil:
			if h.OK || collectors.AsGap(err, collectors.Bug).Reason == collectors.Bug {
				t.Errorf("error %v with %+v", err, h)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		case h.OK && (status != 200 || len(h.Failed) > 0):
			t.Errorf("healthy by status %d with failures %v", status, h.Failed)
		}
		if n := strings.Count(string(body), "["); len(h.Passed)+len(h.Failed) > min(n, 2*maxChecks) {
			t.Errorf("%d checks of %d brackets", len(h.Passed)+len(h.Failed), n)
		}
	})
}

// The words are those of collectors/live (failure.go, status.go) and of Go.
func TestOutcomeOf(t *testing.T) {
	gap := func(r collectors.Reason, words string) *collectors.Gap {
		return &collectors.Gap{Reason: r, Detail: words}
	}
	for _, tt := range []struct {
		gap  *collectors.Gap
		want Outcome
	}{
		{nil, Answered},
		{gap(collectors.Forbidden, "HTTP 403 Forbidden: connection refused"), Answered},
		{gap(collectors.Absent, "HTTP 404 Not Found"), Answered},
		{gap(collectors.Unauthorized, "HTTP 401 Unauthorized"), Denied},
		{gap(collectors.ServerError, `answered 503: "{\"kind\":\"Status\""`), Answered},
		{gap(collectors.ServerError, "answered 503 with something that is no health report: \"<html>\""), ProxyError},
		{gap(collectors.ServerError, "HTTP 400 Bad Request: Client sent an HTTP request to an HTTPS server."), NotAPI},
		{gap(collectors.ServerError, "HTTP 429 Too Many Requests"), Answered},
		{gap(collectors.Malformed, "it answers with a web page"), NotAPI},
		{gap(collectors.Unreachable, "apiserver://10.0.0.12:6443/readyz?verbose: connection refused: nothing listens there"), Refused},
		{gap(collectors.Unreachable, "not tried again after 2 such failures in a row: connection refused: nothing listens there"), Refused},
		{gap(collectors.Unreachable, "dial tcp 10.0.0.12:6443: connect: connection refused"), Refused},
		{gap(collectors.Unreachable, "no connection within 5s: it does not react, or packets to it are dropped"), NoWay},
		{gap(collectors.Unreachable, "no route to it"), NoWay},
		{gap(collectors.Unreachable, "dial tcp 10.0.0.12:6443: i/o timeout"), NoWay},
		{gap(collectors.Unreachable, "the name lb.example is not resolved: no such host"), NoName},
		{gap(collectors.Unreachable, "its name was not resolved within 5s"), NoName},
		{gap(collectors.Unreachable, "the connection was closed without an answer"), ClosedOff},
		{gap(collectors.Timeout, "connected, but no answer within 5s"), Silent},
		{gap(collectors.Timeout, "connected, but TLS was not agreed on within 5s"), Silent},
		{gap(collectors.Timeout, "no answer before the run's time was over"), Unclear},
		{gap(collectors.Timeout, "nothing was sent within 5s: the kubeconfig's credential plugin did not answer"), Unclear},
		{gap(collectors.Unreachable, "its certificate expired on 2026-01-01T00:00:00Z"), Expired},
		{gap(collectors.Unreachable, "x509: certificate has expired or is not yet valid: current time …"), Distrusted}, // which of the two?
		{gap(collectors.Unreachable, "its certificate is valid only from 2026-01-01T00:00:00Z: does a clock run wrong?"), Distrusted},
		{gap(collectors.Unreachable, "its certificate is not signed by the CA that we were given"), Distrusted},
		{gap(collectors.Unreachable, "what answers there does not speak TLS"), NotAPI},
		{gap(collectors.NotAsked, "connection refused"), Unclear},
		{gap(collectors.Canceled, "the run was stopped"), Unclear},
	} {
		if got := OutcomeOf(tt.gap); got != tt.want {
			t.Errorf("%v: got %v, want %v", tt.gap, got, tt.want)
		}
	}
}
