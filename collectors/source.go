package collectors

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Verb says what kind of reply is expected, and so how it is read.
type Verb string

// The verbs. All of them read.
const (
	Get    Verb = "get"    // one small body, kept whole
	List   Verb = "list"   // Kubernetes objects, page by page
	Scrape Verb = "scrape" // Prometheus text, cut to the wanted families as it streams in
	Call   Verb = "call"   // a remote procedure; the body is its response as JSON
	Greet  Verb = "greet"  // TLS is agreed on and nothing sent; the body is the certificates that the server showed, as PEM
	Review Verb = "review" // may this run's user, or another, do that? An access review, which is created and read at once and kept by nobody
)

// A Sample says which of a run's two looks a request belongs to.
type Sample int

// A request without a sample is made once. One that is Last waits until the
// run's window has passed since the request that is First.
const (
	Once Sample = iota
	First
	Last
)

// A Request names one thing to read. It is plain data: a run can show what it
// will ask, derive the rights that it needs, record it and replay it.
//
// The scheme of a URL says by whom it is answered:
//
//	kube:/api/v1/pods                                the Kubernetes API, at the kubeconfig's address
//	apiserver://10.0.0.1:6443/metrics                one API server, past any load balancer
//	pod+https://kube-system/kube-scheduler-a:10259/  a port of a pod, by port-forward or, on its node, directly
//	pod+http://kube-system/etcd-a:2381/metrics
//	etcd://10.0.0.1:2379/maintenance/status          etcd's gRPC API; /metrics and /health of its client port
//	tls://10.0.0.1:10250                             a port, to Greet
//	config:/etcd                                     what this run was given: flags, environment, usual places
type Request struct {
	Verb   Verb
	URL    string
	Or     []string // other ways to the same thing, tried in order if the first does not answer
	Sample Sample
	Want   []metrics.Select // of a Scrape; not part of what the request is

	// Page is the token of a list's page, After how long after its First
	// request a Last one is made, and Urgency how much cannot be asked before
	// the answer is there: facts, and the Last to a First. Collect sets them; they are no part of what
	// the request is.
	Page    string
	After   time.Duration
	Urgency int
}

// Key identifies the request in a run and in a recording. Facts whose requests
// have the same key share one.
func (r Request) Key() string {
	s := string(r.Verb) + " " + r.URL
	if len(r.Or) > 0 {
		s += " | " + strings.Join(r.Or, " | ")
	}
	switch r.Sample {
	case First:
		s += " #first"
	case Last:
		s += " #last"
	}
	return s
}

// A Reply is what came back.
type Reply struct {
	At      time.Time     // when the answer came, by the clock of the machine that ktriage runs on
	Date    time.Time     // when the answer came by the server's own clock; zero if it does not say
	Elapsed time.Duration // from sending the request to the first byte of the answer
	Status  int           // HTTP status; 0 where there is none
	From    string        // the URL that answered
	Media   string        // content type
	Cert    *Cert         // that the server showed; nil without TLS, or where it is not known
	Body    io.ReadCloser

	// Families are those that a recorded Scrape was cut to: what is not among
	// them may have been served. Nil if the body is whole, or if that is not known.
	Families []string
}

// A Cert is what a server's certificate says of itself.
type Cert struct {
	Subject   string    `json:"subject"`
	Issuer    string    `json:"issuer"`
	NotBefore time.Time `json:"notBefore"`
	NotAfter  time.Time `json:"notAfter"`
	DNSNames  []string  `json:"dnsNames,omitempty"`
	IPs       []string  `json:"ips,omitempty"`
	Serial    string    `json:"serial,omitempty"` // hexadecimal
	CA        bool      `json:"ca,omitempty"`     // it may sign others
}

// A Source answers requests and changes nothing. A live cluster, a recording,
// a foreign bundle and a test script are all Sources.
//
// Fetch returns a Gap as its error where there is no answer. An HTTP status
// that says so (401, 403, 404, and 5xx to a List or a Scrape) is a Gap; a 5xx
// to a Get is a Reply, since health endpoints answer so. Page of a List comes
// from the page before it. The caller closes Body.
type Source interface {
	Fetch(context.Context, Request) (*Reply, error)
}

// A Recorder keeps what a run asked and got. Its methods may be called from
// several goroutines.
type Recorder interface {
	// Record keeps one reply with its body, as filtered, or the gap in its
	// place. The pages of a list come in order, one call each, from 0; the
	// gap of a page that failed stands in the page's place. Of anything else
	// a second record replaces the first.
	Record(req Request, page int, reply *Reply, body []byte, gap *Gap)
}

// Cost is what a run asked of the cluster.
type Cost struct {
	Requests     int   `json:"requests"`     // that were sent, those for other ways included
	Bytes        int64 `json:"bytes"`        // that were received, as they came over the wire
	PeakInFlight int   `json:"peakInFlight"` // the most requests at one time
}
