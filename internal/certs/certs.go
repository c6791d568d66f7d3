// Package certs lists all certificates of a control plane that a run has seen:
// until when each is valid, what breaks when it ends, and which could not be
// seen. It judges nothing; checks do.
package certs

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/certificates"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/inventory"
	"github.com/ktriage/ktriage/collectors/nodes"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

// The kinds of rows.
const (
	Serving = "serving"  // a server shows it
	Client  = "client"   // a client shows it
	CA      = "ca"       // others are trusted because it signed them
	Bundle  = "caBundle" // the same, by which the API server trusts one webhook or APIService
	Token   = "token"    // a bearer token: no certificate, and ends like one
)

// A Row is one certificate.
type Row struct {
	Kind      string     `json:"kind"`
	Of        string     `json:"of"`                // "apiserver/cp-1"
	From      string     `json:"from"`              // where it was seen
	Subject   string     `json:"subject,omitempty"` // empty of this run's own
	Issuer    string     `json:"issuer,omitempty"`
	Serial    string     `json:"serial,omitempty"`
	Names     []string   `json:"names,omitempty"`
	NotBefore *time.Time `json:"notBefore,omitempty"`
	NotAfter  time.Time  `json:"notAfter"`
	DaysLeft  int        `json:"daysLeft"` // whole days; negative after its end
	Breaks    string     `json:"breaks"`   // what does when it ends
}

// An Unseen is what could not be seen.
type Unseen struct {
	Kind   string            `json:"kind"`
	Of     string            `json:"of"`
	Reason collectors.Reason `json:"reason"`
	Detail string            `json:"detail"`
	Remedy string            `json:"remedy,omitempty"`
}

// A Queue is requests for certificates that nobody has decided on.
type Queue struct {
	Signer        string  `json:"signer"`
	Pending       int     `json:"pending"`
	OldestSeconds float64 `json:"oldestSeconds"`
}

// A KeySet is the keys by which one API server knows service accounts' tokens.
// They do not end; tokens are refused where they differ.
type KeySet struct {
	Of   string   `json:"of"`
	Keys []string `json:"keys"`
}

// A Table is all of it, what ends first at the top.
type Table struct {
	At       time.Time `json:"at"`
	Rows     []Row     `json:"certificates"`
	Unseen   []Unseen  `json:"unseen"`
	Requests []Queue   `json:"requests"`
	Keys     []KeySet  `json:"serviceAccountKeys"`
}

// Facts returns the facts that the table needs.
func Facts() []collectors.Any {
	return []collectors.Any{
		inventory.Servers, inventory.Served, inventory.Trusted, inventory.SigningKeys, inventory.Files,
		cluster.HowReached, etcd.HowReached, nodes.Requests, apiserver.Instances,
		webhooks.Configured, webhooks.Conversions, webhooks.Extensions, webhooks.Backends, webhooks.Shown,
	}
}

// Read makes the table of a snapshot.
func Read(s *collectors.Snapshot) Table {
	t := Table{At: s.At.UTC(), Rows: []Row{}, Unseen: []Unseen{}, Requests: []Queue{}, Keys: []KeySet{}}
	t.served(s)
	t.given(s)
	t.trusted(s)
	t.called(s)
	t.files(s)
	t.rest(s)
	slices.SortStableFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(a.NotAfter.Compare(b.NotAfter), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Of, b.Of))
	})
	return t
}

func (t *Table) add(kind, of, from, breaks string, c collectors.Cert) {
	r := Row{
		Kind: kind, Of: of, From: from, Breaks: breaks, Subject: c.Subject, Issuer: c.Issuer, Serial: c.Serial,
		Names: slices.Concat(c.DNSNames, c.IPs), NotAfter: c.NotAfter.UTC(),
		DaysLeft: int(math.Floor(c.NotAfter.Sub(t.At).Hours() / 24)),
	}
	if !c.NotBefore.IsZero() {
		at := c.NotBefore.UTC()
		r.NotBefore = &at
	}
	slices.Sort(r.Names)
	r.Names = slices.Compact(r.Names)
	t.Rows = append(t.Rows, r)
}

func (t *Table) unseen(kind, of string, g *collectors.Gap) {
	if g.Reason == collectors.OutOfScope {
		return // there is none
	}
	t.Unseen = append(t.Unseen, Unseen{kind, of, g.Reason, g.Detail, g.Remedy})
}

// breaks says what happens when a server's certificate ends.
func breaks(x inventory.Server) string {
	switch {
	case !x.Named:
		return "nothing: self-signed at its start, nobody verifies it"
	case x.Kind == inventory.APIServer && x.Name == "":
		return "nobody connects through this address: kubectl, kubelets, controllers"
	case x.Kind == inventory.APIServer:
		return "nobody connects to this API server: kubectl, kubelets, controllers"
	case x.Kind == inventory.EtcdClient:
		return "API servers cannot read or write through this member"
	case x.Kind == inventory.EtcdPeer:
		return "the other members cannot connect to this one: it leaves the quorum"
	case x.Kind == inventory.Kubelet:
		return "logs, exec, port-forward and metrics of its node, where the API server verifies kubelets"
	}
	return "scrapes and probes that verify it"
}

func (t *Table) served(s *collectors.Snapshot) {
	known, gap := inventory.Servers.One(s)
	if gap != nil {
		t.unseen(Serving, "all servers", gap)
		return
	}
	for _, u := range known.Unseen {
		t.unseen(Serving, u.Kind, u.Gap)
	}
	for _, x := range known.Servers {
		of := x.Target().Name
		chain, gap := inventory.Served.Of(s, x.Target())
		if gap != nil {
			t.unseen(Serving, of, gap)
			continue
		}
		t.add(Serving, of, "shown by the server", breaks(x), chain.Leaf())
	}
	if known.Workers > 0 {
		t.unseen(Serving, "kubelets of other nodes", collectors.Gapf(collectors.NotAsked, "only those of control-plane nodes are asked, not of %d more", known.Workers).
			With("ask one: openssl s_client -connect NODE:10250 </dev/null | openssl x509 -noout -dates"))
	}
}

// given is what this run was given to identify itself and to trust others.
func (t *Table) given(s *collectors.Snapshot) {
	const self = "the kubeconfig"
	a, gap := cluster.HowReached.One(s)
	switch {
	case gap != nil:
		t.unseen(Client, self, gap)
	default:
		if a.Client != nil {
			t.add(Client, self, self, "this kubeconfig is refused", *a.Client)
		} else if !a.ClientUntil.IsZero() {
			t.add(Client, self, self, "this kubeconfig is refused", collectors.Cert{NotAfter: a.ClientUntil})
		}
		if !a.TokenUntil.IsZero() {
			t.add(Token, self, self, "this kubeconfig is refused", collectors.Cert{NotAfter: a.TokenUntil})
		}
		for _, c := range a.CA {
			t.add(CA, "the cluster, as the kubeconfig trusts it", self, "whoever trusts it alone connects to no API server", c)
		}
		if len(a.CA) == 0 && !a.CAUntil.IsZero() {
			t.add(CA, "the cluster, as the kubeconfig trusts it", self, "whoever trusts it alone connects to no API server", collectors.Cert{NotAfter: a.CAUntil})
		}
	}
	e, gap := etcd.HowReached.One(s)
	if gap != nil {
		t.unseen(Client, "etcd's client", gap)
		return
	}
	if e.Client != nil {
		t.add(Client, "this run for etcd", e.CredentialsFrom, "whoever uses it is refused by etcd", *e.Client)
	}
	for _, c := range e.CA {
		t.add(CA, "etcd, as this run trusts it", e.CredentialsFrom, "API servers and members trust no member of etcd, nor it them", c)
	}
}

func (t *Table) trusted(s *collectors.Snapshot) {
	const from = "ConfigMap kube-system/extension-apiserver-authentication"
	tr, gap := inventory.Trusted.One(s)
	if gap != nil {
		t.unseen(CA, "clients and front proxy", gap)
		return
	}
	t.bundle(CA, "clients", from, "all client certificates are refused: administrators, kubelets, scheduler, controllers", tr.Clients)
	t.bundle(CA, "front proxy", from, "extension API servers refuse what the API server passes on", tr.Front)
}

// bundle adds each certificate of a bundle.
func (t *Table) bundle(kind, of, from, breaks string, b certificates.Bundle) {
	if b.Broken != "" {
		t.unseen(kind, of, collectors.Gapf(collectors.Malformed, "%s: %s", from, b.Broken))
		return
	}
	cs, err := certificates.Read([]byte(b.PEM))
	if err != nil {
		t.unseen(kind, of, collectors.Gapf(collectors.Malformed, "%s: %v", from, err))
	}
	for _, c := range cs {
		t.add(kind, of, from, breaks, certificates.Of(c))
	}
}

// called is what the API server calls by TLS: webhooks and extensions.
func (t *Table) called(s *collectors.Snapshot) {
	users := map[string][]string{}
	use := func(x webhooks.Service, by string) {
		if x.Name != "" && !slices.Contains(users[x.Door().Name], by) {
			users[x.Door().Name] = append(users[x.Door().Name], by)
		}
	}
	hs, gap := webhooks.Configured.One(s)
	if gap != nil {
		t.unseen(Bundle, "admission webhooks", gap)
	}
	seen := map[string]bool{}
	for _, h := range hs {
		of := h.Kind + "/" + h.Config
		use(h.Service, of)
		if key := of + h.Bundle.PEM; !seen[key] {
			seen[key] = true
			t.bundle(Bundle, of, of, "calls of the webhook fail: "+refused(h.Closed), h.Bundle)
		}
	}
	cs, gap := webhooks.Conversions.One(s)
	if gap != nil {
		t.unseen(Bundle, "conversion webhooks", gap)
	}
	for _, c := range cs.By {
		of := "customresourcedefinition/" + c.CRDs[0]
		use(c.Service, of)
		t.bundle(Bundle, of, of, "its objects cannot be read in another version than they are stored in", c.Bundle)
	}
	es, gap := webhooks.Extensions.One(s)
	if gap != nil {
		t.unseen(Bundle, "APIServices", gap)
	}
	for _, e := range es {
		of := "apiservice/" + e.Name
		use(e.Service, of)
		t.bundle(Bundle, of, of, e.GroupVersion()+" is not served", e.Bundle)
	}
	doors, gap := webhooks.Shown.Answers(s)
	if gap != nil {
		t.unseen(Serving, "webhooks and APIServices", gap)
	}
	for _, d := range doors {
		if d.Gap != nil {
			t.unseen(Serving, d.Target.Name, d.Gap)
			continue
		}
		t.add(Serving, d.Target.Name, "shown by a pod behind it", "calls by the API server fail: "+strings.Join(users[d.Target.Name], ", "), d.Value.Leaf())
	}
}

func refused(closed bool) string {
	if closed {
		return "what it takes in is refused"
	}
	return "what it takes in passes without it"
}

// usedBy tells who uses a file of kubeadm's, by the end of its path.
var usedBy = []struct{ suffix, kind, breaks string }{
	{"apiserver-kubelet-client.crt", Client, "logs, exec and port-forward: kubelets refuse the API server"},
	{"apiserver-etcd-client.crt", Client, "the API server of this node reads and writes nothing"},
	{"front-proxy-client.crt", Client, "extension API servers refuse what the API server passes on"},
	{"etcd/healthcheck-client.crt", Client, "etcd's health is not seen by who uses it"},
	{"etcd/server.crt", Serving, "API servers cannot use this member of etcd, once it has read the file"},
	{"etcd/peer.crt", Serving, "this member leaves the quorum, once it has read the file"},
	{"apiserver.crt", Serving, "nobody connects to this API server, once it has read the file"},
	{"ca.crt", CA, "all that it signed is refused"},
	{"scheduler.conf", Client, "the scheduler of this node is refused: it cannot lead"},
	{"controller-manager.conf", Client, "the controller manager of this node is refused: it cannot lead"},
	{"kubelet.conf", Client, "the kubelet of this node is refused: the node becomes NotReady"},
	{"kubelet-client-current.pem", Client, "the kubelet of this node is refused: the node becomes NotReady"},
	{"admin.conf", Client, "administrators who use it are refused"},
}

func (t *Table) files(s *collectors.Snapshot) {
	const of = "files of a control-plane node"
	d, gap := inventory.Files.One(s)
	if gap != nil {
		t.unseen(Client, of, gap)
		return
	}
	for _, u := range d.Unread {
		t.unseen(Client, of, collectors.Gapf(collectors.Forbidden, "%s", u).With("run ktriage on the node as root"))
	}
	if len(d.Files) == 0 && len(d.Unread) == 0 {
		t.unseen(Client, of, collectors.Gapf(collectors.NotAsked, "there are none where ktriage runs: those of scheduler, controller manager and kubelet, and that of the API server for etcd and for kubelets").
			With("on each control-plane node, as root: ktriage certs, or kubeadm certs check-expiration"))
	}
	for _, f := range d.Files {
		kind, what := Client, "who uses it"
		for _, u := range usedBy {
			if strings.HasSuffix(f.Path, u.suffix) {
				kind, what = u.kind, u.breaks
				break
			}
		}
		t.add(kind, f.Path, "the file", what, f.Cert)
	}
}

// rest is what is no certificate: requests for some, and keys.
func (t *Table) rest(s *collectors.Snapshot) {
	r, gap := nodes.Requests.One(s)
	if gap != nil {
		t.unseen("request", "CertificateSigningRequests", gap)
	}
	for _, q := range r.By {
		t.Requests = append(t.Requests, Queue{q.Signer, q.Pending, q.Oldest.Seconds()})
	}
	keys, gap := inventory.SigningKeys.Answers(s)
	if gap != nil {
		t.unseen("key", "service accounts", gap)
	}
	for _, k := range keys {
		if k.Gap != nil {
			t.unseen("key", "service accounts at "+k.Target.String(), k.Gap)
			continue
		}
		t.Keys = append(t.Keys, KeySet{k.Target.String(), k.Value})
	}
}
