package apiserver

import (
	"github.com/ktriage/ktriage/collectors"
)

// Certificate is what each instance serves with. It is had from the answer to
// the same request as its health.
var Certificate = &collectors.Fact[collectors.Cert]{
	ID:      "apiserver.certificate",
	Doc:     "the certificate that each instance serves with",
	Needs:   []collectors.Any{Ways},
	Targets: targets,
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return askHealth(t.Addr + readyz)
	},
	Read: func(rs []collectors.Answered) (collectors.Cert, error) {
		if rs[0].Cert == nil {
			return collectors.Cert{}, collectors.Gapf(collectors.Absent, "%s was answered, and what certificate was shown is not known", rs[0].From)
		}
		return *rs[0].Cert, nil
	},
}
