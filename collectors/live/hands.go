package live

import (
	"crypto/tls"
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// EtcdTLS is how to speak to an etcd endpoint, host:port, with what the run
// found for it: nil for an endpoint without TLS. It is for what changes etcd,
// which a Source does not.
func (s *Source) EtcdTLS(addr string) (*tls.Config, error) {
	a := s.etcd.current(s.config)
	if a.isPlain(addr) {
		return nil, nil
	}
	if a.tls == nil {
		return nil, collectors.Gapf(collectors.Forbidden, "no client certificate for etcd: %s", strings.Join(a.tried, "; ")).With(etcdRemedy)
	}
	return a.tls.Clone(), nil
}
