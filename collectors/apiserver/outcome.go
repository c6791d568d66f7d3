package apiserver

import (
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// An Outcome is how an attempt to reach an API server ended.
type Outcome int

// The outcomes. Only some of them say something about the API server: a
// connection that times out from here may well work from where its clients are.
const (
	Unclear    Outcome = iota // words that this package does not know, or nothing was asked
	Answered                  // by an API server, be it with an error
	Denied                    // the credentials were not accepted: 401, or TLS alert
	Refused                   // nothing listens there
	ClosedOff                 // a connection came about and was closed without an answer
	Silent                    // a connection came about, and no answer in time
	ProxyError                // something that is not an API server answered with an error
	NotAPI                    // something that is not an API server answered: a login page
	NoWay                     // no connection: a timeout, or no route
	NoName                    // the name is not resolved
	Expired                   // the certificate that was shown has expired
	Distrusted                // the certificate that was shown is not accepted for another reason
)

// outcomes are the words by which an outcome is known, in the order in which
// they are looked for. A recording keeps of an error only its words; these are
// those of collectors/live and, where it passes them on, of Go's net, tls and
// x509. Words that are none of them make no verdict.
var outcomes = []struct {
	words   string
	outcome Outcome
}{
	{"connection refused", Refused},
	{"certificate expired on", Expired},
	{"not resolved", NoName},
	{"no such host", NoName},
	{"its certificate", Distrusted},
	{"x509:", Distrusted},
	{"no CA certificates", Distrusted},
	{"does not speak TLS", NotAPI},
	{"plain HTTP", NotAPI},
	{"closed without an answer", ClosedOff},
	{"connection reset", ClosedOff},
	{"EOF", ClosedOff},
	{"but no answer within", Silent},
	{"TLS was not agreed on within", Silent},
	{"TLS handshake timeout", Silent},
	{"no connection", NoWay},
	{"no route", NoWay},
	{"network is unreachable", NoWay},
	{"i/o timeout", NoWay},
}

// OutcomeOf classifies the gap of an attempt; nil means that it was answered.
func OutcomeOf(g *collectors.Gap) Outcome {
	if g == nil {
		return Answered
	}
	switch g.Reason {
	case collectors.Forbidden, collectors.Absent:
		return Answered
	case collectors.Unauthorized:
		return Denied
	case collectors.ServerError:
		switch {
		case strings.Contains(g.Detail, notHealth):
			return ProxyError
		case strings.Contains(g.Detail, "HTTP 4") && !strings.Contains(g.Detail, "HTTP 429"):
			return NotAPI // 400 to plain HTTP, 404 and the like of other servers
		}
		return Answered
	case collectors.Malformed:
		return NotAPI
	case collectors.Unreachable, collectors.Timeout:
		for _, o := range outcomes {
			if strings.Contains(g.Detail, o.words) {
				return o.outcome
			}
		}
	}
	return Unclear
}

// String puts the outcome into words that follow "the API server".
func (o Outcome) String() string {
	return map[Outcome]string{
		Answered: "answers", Denied: "does not accept the credentials", Refused: "connection refused",
		ClosedOff: "the connection is closed without an answer", Silent: "it accepts connections and says nothing",
		ProxyError: "a proxy answers in its place, with an error", NotAPI: "what answers is not an API server",
		NoWay: "no connection comes about", NoName: "its name is not resolved",
		Expired: "its certificate has expired", Distrusted: "its certificate is not accepted",
	}[o]
}

// Reached reports whether an API server was there, whatever it said.
func (o Outcome) Reached() bool { return o == Answered || o == Denied }

// Down reports whether the outcome shows, from wherever it was seen, that no
// API server serves at that address.
func (o Outcome) Down() bool {
	return o == Refused || o == ClosedOff || o == Silent || o == ProxyError || o == Expired
}
