package etcd

import (
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// Certificate is what each member serves its clients with.
var Certificate = &collectors.Fact[collectors.Cert]{
	ID:      "etcd.certificate",
	Doc:     "the certificate that each member serves its clients with",
	Needs:   []collectors.Any{Members},
	Targets: MemberTargets,
	Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: clientAddr(s, t) + "/health"}}
	},
	Read: func(rs []collectors.Answered) (collectors.Cert, error) {
		switch {
		case rs[0].Cert != nil:
			return *rs[0].Cert, nil
		case strings.Contains(rs[0].From, "http://"):
			return collectors.Cert{}, collectors.Gapf(collectors.OutOfScope, "the member serves its clients without TLS")
		}
		return collectors.Cert{}, collectors.Gapf(collectors.Absent, "%s was answered, and what certificate was shown is not known", rs[0].From)
	},
}
