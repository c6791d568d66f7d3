package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// Why a request of ours ended before its time.
var (
	errTooLong = errors.New("reply not complete in time")
	errClosed  = errors.New("reply closed")
)

// A lateError says that what had to happen did not, within that time.
type lateError struct{ within time.Duration }

func (e *lateError) Error() string { return fmt.Sprintf("nothing within %s", e.within) }

// errKubelet is why a certificate that the cluster's CA signed does not count.
var errKubelet = errors.New("the certificate is a kubelet's")

// A stage is how far an attempt had come when it ended.
type stage int

const (
	stageStart   stage = iota // nothing was sent: credentials were being fetched
	stageResolve              // the name was being looked up
	stageConnect              // a connection was being made
	stageTLS                  // connected; TLS was being agreed on
	stageWaiting              // the request was sent
)

// A failure is an attempt without an answer, in words.
type failure struct {
	reason collectors.Reason
	kind   collectors.Kind
	words  string
	remedy string
	note   string
	how    reach
}

// gap makes a Gap of the failure of one way.
func (f failure) gap(way string) *collectors.Gap {
	return &collectors.Gap{Reason: f.reason, Kind: f.kind, Detail: way + ": " + f.words, Remedy: f.remedy, Note: f.note}
}

// explain classifies the error of an attempt that got as far as at. The
// context is the caller's own: if it is done, the run was stopped.
func explain(ctx context.Context, err error, at stage, timeout time.Duration) failure {
	if ctx.Err() != nil {
		return stopped(ctx, at)
	}
	var late *lateError
	if errors.As(err, &late) {
		return timedOut(at, late.within)
	}
	var netErr net.Error
	if errors.As(err, &netErr) && netErr.Timeout() {
		return timedOut(at, timeout)
	}
	if f, ok := explainTLS(err); ok {
		return f
	}
	var f *forwardError
	if errors.As(err, &f) {
		return failure{reason: f.reason, kind: f.kind, words: f.words, remedy: f.remedy, how: f.how}
	}
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return failure{reason: collectors.Unreachable, words: fmt.Sprintf("the name %s is not resolved: %s", dns.Name, dns.Err), how: notReached}
	case errors.Is(err, syscall.ECONNREFUSED):
		return failure{reason: collectors.Unreachable, words: "connection refused: nothing listens there", how: notReached}
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return failure{reason: collectors.Unreachable, kind: collectors.NoRoute, words: "no route to it", how: notReached}
	case errors.Is(err, syscall.ETIMEDOUT):
		return failure{reason: collectors.Unreachable, kind: collectors.NoReaction, words: "no connection: it does not react, or packets to it are dropped", how: notReached}
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE):
		return failure{reason: collectors.Unreachable, words: "the connection was closed without an answer", how: silent}
	case errors.As(err, &op) && op.Op == "dial":
		return failure{reason: collectors.Unreachable, words: op.Error(), how: notReached}
	case at == stageStart:
		// Only what adds credentials comes before a connection is looked for.
		return failure{
			reason: collectors.Unauthorized, words: "no credentials could be had: " + err.Error(), how: notReached,
			remedy: "see that the credential plugin of the kubeconfig works: kubectl auth whoami",
		}
	}
	return failure{reason: collectors.Unreachable, words: err.Error(), how: silent}
}

func stopped(ctx context.Context, at stage) failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && at != stageStart {
		return failure{reason: collectors.Timeout, words: "no answer before the run's time was over", how: ourselves}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failure{reason: collectors.Canceled, words: "the run's time was over before it was asked", how: ourselves}
	}
	return failure{reason: collectors.Canceled, words: "the run was stopped", how: ourselves}
}

func timedOut(at stage, timeout time.Duration) failure {
	f := failure{reason: collectors.Unreachable, how: notReached}
	switch at {
	case stageStart:
		f.words = fmt.Sprintf("nothing was sent within %s: the kubeconfig's credential plugin did not answer", timeout)
		f.reason, f.how = collectors.Timeout, silent
	case stageResolve:
		f.words = fmt.Sprintf("its name was not resolved within %s", timeout)
	case stageConnect:
		f.kind = collectors.NoReaction
		f.words = fmt.Sprintf("no connection within %s: it does not react, or packets to it are dropped", timeout)
	case stageTLS:
		f.words = fmt.Sprintf("connected, but TLS was not agreed on within %s", timeout)
		f.reason = collectors.Timeout
	case stageWaiting:
		f.words = fmt.Sprintf("connected, but no answer within %s", timeout)
		f.reason, f.how = collectors.Timeout, silent
	}
	return f
}

// remoteError is how crypto/tls marks an alert that the other side sent.
const remoteError = "remote error"

// explainTLS puts into words why the two sides did not accept each other.
func explainTLS(err error) (failure, bool) {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		roots   x509.SystemRootsError
		record  tls.RecordHeaderError
		op      *net.OpError
	)
	f := failure{reason: collectors.Unreachable, how: notReached}
	switch {
	case errors.As(err, &unknown):
		f.words = "its certificate is not signed by the CA that we were given"
		if unknown.Cert != nil {
			f.words += fmt.Sprintf(" (issuer %q)", unknown.Cert.Issuer)
		}
		f.remedy = "is this the right cluster, and the CA of its servers?"
	case errors.As(err, &name):
		f.words = fmt.Sprintf("its certificate is not for %s but for %s", name.Host, names(name.Certificate))
	case errors.As(err, &invalid):
		f.words = "its certificate is not valid: " + invalid.Error()
		if c := invalid.Cert; invalid.Reason == x509.Expired && c != nil {
			f.words = fmt.Sprintf("its certificate expired on %s", c.NotAfter.UTC().Format(time.RFC3339))
			if time.Now().Before(c.NotBefore) {
				f.words = fmt.Sprintf("its certificate is valid only from %s: does a clock run wrong?", c.NotBefore.UTC().Format(time.RFC3339))
			}
		}
	case errors.Is(err, errKubelet):
		f.words = "its certificate is a kubelet's: what answers there is no API server"
	case errors.As(err, &roots):
		f.words = "this machine has no CA certificates, and we were given none"
	case errors.As(err, &record):
		f.words = "what answers there does not speak TLS"
		f.how = answered
	case errors.Is(err, http.ErrSchemeMismatch):
		f.words = "what answers there speaks plain HTTP, not HTTPS"
		f.how = answered
	case errors.As(err, &op) && op.Op == remoteError:
		// crypto/tls keeps the type of the alert to itself.
		f.reason = collectors.Unauthorized
		f.words = fmt.Sprintf("it did not accept the client certificate, or the lack of one: %s", strings.TrimPrefix(op.Err.Error(), "tls: "))
		f.how = answered
	default:
		return failure{}, false
	}
	return f, true
}

// maxNames is how many of a certificate's names are told.
const maxNames = 4

func names(c *x509.Certificate) string {
	var out []string
	if c != nil {
		out = append(out, c.DNSNames...)
		for _, ip := range c.IPAddresses {
			out = append(out, ip.String())
		}
	}
	if len(out) == 0 {
		return "no name at all"
	}
	if n := len(out) - maxNames; n > 0 {
		out = append(out[:maxNames], fmt.Sprintf("%d more", n))
	}
	return quote(strings.Join(out, ", "))
}
