package live

import (
	"net/http"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// transports keeps one transport for each address, so that requests to one
// share connections and requests to different ones never do.
type transports struct {
	mu sync.Mutex
	m  map[string]http.RoundTripper
}

func newTransports() *transports { return &transports{m: map[string]http.RoundTripper{}} }

func (t *transports) get(key string, make func() (http.RoundTripper, error)) (http.RoundTripper, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if rt := t.m[key]; rt != nil {
		return rt, nil
	}
	rt, err := make()
	if err == nil {
		t.m[key] = rt
	}
	return rt, err
}

// close ends idle connections. Those in use end with their requests.
func (t *transports) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, rt := range t.m {
		utilnet.CloseIdleConnectionsFor(rt)
	}
}
