package nodes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// The signers of kubelets' certificates.
const (
	ServingSigner = "kubernetes.io/kubelet-serving"
	ClientSigner  = "kubernetes.io/kube-apiserver-client-kubelet"
)

// A Queue is the requests to one signer that nobody has decided on.
type Queue struct {
	Signer  string
	Pending int
	Late    int // for longer than Undecided
	Oldest  time.Duration
	Example string
	Who     string // asked for that one
}

// Undecided is how long a request may wait. Source: RULES; an approver decides
// in a moment.
const Undecided = 5 * time.Minute

// Requested is the certificates that are asked for and not decided on.
type Requested struct {
	All      int
	By       []Queue  // by signer
	Unsigned Unsigned // approved, and not signed
}

// Unsigned are the requests to the controller manager's own signers that were
// approved for longer than Unfinished, and have no certificate.
type Unsigned struct {
	Count   int
	Oldest  time.Duration
	Example string
}

// Unfinished is how long a request that is approved may wait for its
// certificate: a controller signs it at once [exp].
const Unfinished = time.Minute

// signers are those of which kube-controller-manager signs by default.
var signers = []string{ServingSigner, ClientSigner, "kubernetes.io/kube-apiserver-client"}

// Requests are the requests for certificates.
var Requests = &collectors.Fact[Requested]{
	ID:      "nodes.certificate-requests",
	Doc:     "the requests for certificates that nobody has approved or denied",
	Needs:   []collectors.Any{cluster.Clock},
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.List, URL: "kube:/apis/certificates.k8s.io/v1/certificatesigningrequests"}}
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Requested] {
		now, _ := cluster.Now(s) // without it, this machine's clock has to do
		var out Requested
		return collectors.Folder[Requested]{
			Add: func(_ int, o objects.Object) { out.add(o.(*certificatesv1.CertificateSigningRequest), now) },
			Done: func([]collectors.Answered) (Requested, error) {
				slices.SortFunc(out.By, func(a, b Queue) int { return cmp.Compare(a.Signer, b.Signer) })
				return out, nil
			},
		}
	},
}

func (r *Requested) add(o *certificatesv1.CertificateSigningRequest, now time.Time) {
	r.All++
	if len(o.Status.Conditions) > 0 {
		r.signed(o, now) // approved, denied or failed
		return
	}
	i := slices.IndexFunc(r.By, func(q Queue) bool { return q.Signer == o.Spec.SignerName })
	if i < 0 {
		if len(r.By) == maxDistinct {
			return
		}
		i = len(r.By)
		r.By = append(r.By, Queue{Signer: strings.Clone(o.Spec.SignerName)})
	}
	q := &r.By[i]
	q.Pending++
	age := now.Sub(o.CreationTimestamp.Time)
	if age > Undecided {
		q.Late++
	}
	if q.Example == "" || age > q.Oldest {
		q.Oldest, q.Example, q.Who = age, strings.Clone(o.Name), strings.Clone(o.Spec.Username)
	}
}

// signed looks for a request that is approved and waits for its certificate.
func (r *Requested) signed(o *certificatesv1.CertificateSigningRequest, now time.Time) {
	var since time.Time
	for _, c := range o.Status.Conditions {
		if c.Type != certificatesv1.CertificateApproved {
			return // denied, or failed
		}
		since = c.LastUpdateTime.Time
	}
	age := now.Sub(since)
	if len(o.Status.Certificate) > 0 || since.IsZero() || age <= Unfinished || !slices.Contains(signers, o.Spec.SignerName) {
		return
	}
	r.Unsigned.Count++
	if age > r.Unsigned.Oldest {
		r.Unsigned.Oldest, r.Unsigned.Example = age, strings.Clone(o.Name)
	}
}
