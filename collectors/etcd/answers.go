package etcd

import (
	"slices"
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// An Answer is how a member ended calls of one method.
type Answer struct{ Method, Code string }

// failing are the codes of calls that did not do what they were for and where
// that is not the client's doing. Source: etcd-mixin, etcdHighNumberOfFailedGRPCRequests.
var failing = []string{"Unknown", "FailedPrecondition", "ResourceExhausted", "Internal", "Unavailable", "DataLoss", "DeadlineExceeded"}

// Failed reports whether the call failed for a reason that lies with etcd. A
// watch that ends Unavailable ended with its client, as with every restart of
// an API server.
func (a Answer) Failed() bool {
	return slices.Contains(failing, a.Code) && a.Method != "Watch"
}

// Answers is how a member ended its clients' calls.
type Answers struct {
	By      map[Answer]metrics.Growth
	Elapsed time.Duration // of the window; zero if the two looks cannot be compared
	Broken  string        // why they cannot
	Uptime  time.Duration
}

// AnswerMetrics is how each member ended its clients' calls.
var AnswerMetrics = windowFact("etcd.answers", "how each member ended the calls of its clients, by method and code", func(w metrics.Window) (Answers, error) {
	const family = "grpc_server_handled_total"
	if !w.Has(family) {
		return Answers{}, missing(w, 0, family)
	}
	return Answers{
		By: metrics.Growths(w, family, func(x metrics.Series) (Answer, bool) {
			return Answer{x.Get("grpc_method"), x.Get("grpc_code")}, true
		}),
		Elapsed: w.Elapsed(), Broken: w.Broken, Uptime: w.Uptime(),
	}, nil
}, metrics.Select{Name: "grpc_server_handled_total", By: []string{"grpc_method", "grpc_code"}})
