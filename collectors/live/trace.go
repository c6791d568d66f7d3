package live

import (
	"crypto/tls"
	"net/http/httptrace"
	"sync"
	"time"
)

// A trace notes how far a request has come.
type trace struct {
	mu    sync.Mutex
	began time.Time
	sent  time.Time
	first time.Time
	at    stage
}

func (t *trace) reach(s stage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = s
}

func (t *trace) stage() stage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at
}

// answered returns when the answer began, and how long after the request.
func (t *trace) answered() (time.Time, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, since := t.first, t.sent
	if at.IsZero() {
		at = time.Now()
	}
	if since.IsZero() {
		since = t.began
	}
	return at, max(at.Sub(since), 0)
}

func (t *trace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:           func(string) { t.reach(stageConnect) },
		DNSStart:          func(httptrace.DNSStartInfo) { t.reach(stageResolve) },
		DNSDone:           func(httptrace.DNSDoneInfo) { t.reach(stageConnect) },
		TLSHandshakeStart: func() { t.reach(stageTLS) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				t.reach(stageWaiting)
			}
		},
		GotConn: func(httptrace.GotConnInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.at, t.sent = stageWaiting, time.Now()
		},
		GotFirstResponseByte: func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.first = time.Now()
		},
	}
}
