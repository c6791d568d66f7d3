package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/logs"
	"github.com/ktriage/ktriage/collectors/objects"
)

func oneLook() *collectors.Gap { return collectors.Gapf(collectors.NotAsked, "evidence is one look") }

// Fetch answers from the index. A request for the first of two looks is answered
// where there are two samples of one process.
func (e *Evidence) Fetch(ctx context.Context, q collectors.Request) (*collectors.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var why *collectors.Gap
	for _, u := range append([]string{q.URL}, q.Or...) {
		r, gap := e.answer(q, u)
		if gap == nil {
			r.From = u
			return r, nil
		}
		if why == nil {
			why = gap
		}
	}
	return nil, why
}

func (e *Evidence) answer(q collectors.Request, u string) (*collectors.Reply, *collectors.Gap) {
	v := q.Verb
	scheme, rest, _ := strings.Cut(u, ":")
	switch {
	case v == collectors.Greet || v == collectors.Review:
		return nil, collectors.Gapf(collectors.NotAsked, "%s: no evidence shows what a server answers to this", u)
	case scheme == "config":
		return e.config(rest)
	case scheme == "log":
		return e.answerLogs()
	case q.Sample == collectors.First && v != collectors.Scrape:
		return nil, oneLook()
	case v == collectors.List:
		return e.listing(rest)
	case scheme == "kube":
		return e.kube(q, rest)
	}
	p, err := url.Parse(u)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%q is no URL: %v", u, err)
	}
	if strings.HasPrefix(scheme, "pod+") {
		pod, path, _ := strings.Cut(strings.TrimPrefix(p.Path, "/"), "/")
		name, _, _ := strings.Cut(pod, ":")
		for _, i := range e.instances {
			if i.pod.Namespace == p.Host && i.pod.Name == name {
				return e.ask(q, i, "/"+path)
			}
		}
		return nil, notHeld("nothing of the pod %s/%s", p.Host, name)
	}
	for _, i := range e.instances {
		if i.addr == p.Host && (scheme == "etcd") == (i.role == cluster.RoleEtcd) {
			return e.ask(q, i, p.Path)
		}
	}
	if v == collectors.Call && p.Path == "/member/list" && len(e.members) > 0 {
		return e.memberList(), nil
	}
	return nil, notHeld("nothing of %s", p.Host)
}

// ask answers for one instance.
func (e *Evidence) ask(q collectors.Request, i *instance, path string) (*collectors.Reply, *collectors.Gap) {
	v := q.Verb
	switch {
	case path == "/metrics" && i.body != nil:
		b, at := i.body, e.served(i.body)
		if q.Sample == collectors.First {
			if b.before == nil {
				return nil, oneLook()
			}
			at = at.Add(b.before.at.Sub(b.at))
			b = b.before
		}
		r, err := b.open()
		if err != nil {
			return nil, collectors.Gapf(collectors.Malformed, "%s: %v", b.name, err)
		}
		return &collectors.Reply{At: at, Date: at, Status: 200, Media: "text/plain", Body: closer{whole(r), func() { r.Close() }}}, nil
	case path == "/metrics":
		return nil, notHeld("metrics of %s", i.says()).With("ktriage capture, or: " + metricsCommand(i.role))
	case path == "/maintenance/status" && i.status != nil:
		return e.reply(i.status.body), nil
	case path == "/member/list" && len(e.members) > 0:
		return e.memberList(), nil
	case path == "/maintenance/hashkv" && e.hashes[i.id] != nil:
		r := e.reply(e.hashes[i.id])
		return r, nil
	}
	for _, x := range i.reports {
		if x.path == path {
			r := e.reply(x.body)
			r.Status = x.code
			return r, nil
		}
	}
	switch {
	case v == collectors.Call && path == "/maintenance/status":
		return nil, notHeld("status of the member %s", i.name).With("etcdctl endpoint status --cluster -w json > status.json")
	case v == collectors.Call && path == "/member/list":
		return nil, notHeld("list of etcd's members").With("etcdctl member list -w json > members.json")
	case v == collectors.Call:
		return nil, notHeld("answer of the etcd member %s to %s", i.name, path)
	case i.body != nil:
		// It did answer, since there are its metrics; what it says of its
		// health is not there.
		return nil, collectors.Gapf(collectors.Absent, "the evidence holds metrics of %s, and no answer to %s", i.says(), path)
	}
	return nil, notHeld("answer of %s to %s", i.says(), path)
}

func (i *instance) says() string { return string(i.role) + " " + i.name }

func metricsCommand(r cluster.Role) string {
	switch r {
	case cluster.RoleAPIServer:
		return "kubectl get --raw /metrics > kube-apiserver.metrics"
	case cluster.RoleEtcd:
		return "curl -s http://127.0.0.1:2381/metrics > etcd.metrics, on its node"
	}
	return "curl -sk -H \"Authorization: Bearer $TOKEN\" https://127.0.0.1:PORT/metrics > " + string(r) + ".metrics, on its node"
}

// kube answers what is asked of the API server at the kubeconfig's address.
func (e *Evidence) kube(q collectors.Request, path string) (*collectors.Reply, *collectors.Gap) {
	path, _, _ = strings.Cut(path, "?")
	switch path {
	case "/version":
		if e.release == "" {
			// The clock is known all the same.
			r := e.reply([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"the evidence holds no version of an API server"}`))
			r.Status = 404
			return r, nil
		}
		b, _ := json.Marshal(map[string]string{"gitVersion": e.release})
		return e.reply(b), nil
	case "/apis/config.openshift.io":
		for _, o := range e.held("v1", "Namespace") {
			if strings.HasPrefix(o.GetName(), "openshift-kube-apiserver") {
				return e.reply([]byte(`{}`)), nil
			}
		}
		if len(e.held("v1", "Namespace")) > 0 {
			return nil, collectors.Gapf(collectors.Absent, "no namespace of the evidence is OpenShift's")
		}
		return nil, notHeld("answer to %s", path)
	}
	var all []*instance
	for _, i := range e.instances {
		if i.role == cluster.RoleAPIServer {
			all = append(all, i)
		}
	}
	if len(all) == 1 {
		return e.ask(q, all[0], path)
	}
	if len(all) > 1 {
		return nil, notHeld("answer to %s that is not of one of %d API servers", path, len(all))
	}
	if path == "/metrics" {
		return nil, notHeld("metrics of an API server").With("ktriage capture, or: " + metricsCommand(cluster.RoleAPIServer))
	}
	return nil, notHeld("answer of an API server to %s", path).With("kubectl get --raw '" + path + "?verbose' > " + strings.Trim(path, "/") + ".txt")
}

// config answers what a live run knows of itself.
func (e *Evidence) config(path string) (*collectors.Reply, *collectors.Gap) {
	path, _, _ = strings.Cut(path, "?")
	switch path {
	case "/cluster":
		return e.reply([]byte(`{}`)), nil
	case "/etcd":
		v := struct {
			Endpoints []string `json:"endpoints"`
		}{[]string{}}
		if len(e.members) > 0 {
			for _, i := range e.instances {
				if i.role == cluster.RoleEtcd {
					v.Endpoints = append(v.Endpoints, i.addr)
				}
			}
		}
		b, _ := json.Marshal(v)
		return e.reply(b), nil
	}
	return nil, notHeld("answer to config:%s", path)
}

// memberList is etcd's own list, with the addresses under which the evidence
// has the members.
func (e *Evidence) memberList() *collectors.Reply {
	var v struct {
		Header struct {
			ClusterID uint64 `json:"cluster_id,omitempty"`
		} `json:"header"`
		Members []member `json:"members"`
	}
	for _, m := range e.members {
		x := *m
		if i := e.find(cluster.RoleEtcd, func(i *instance) bool { return i.id == m.ID }); i != nil {
			x.ClientURLs = []string{"https://" + i.addr}
		}
		v.Header.ClusterID = m.cluster
		v.Members = append(v.Members, x)
	}
	b, _ := json.Marshal(v)
	return e.reply(b)
}

// needs are the namespaces without which a list of a kind tells nothing: who
// has the leases of one application has not looked at the control plane's.
var needs = map[string]string{"leases": "kube-system"}

// listing answers with the objects that the evidence holds of a kind.
func (e *Evidence) listing(path string) (*collectors.Reply, *collectors.Gap) {
	kind, ok := objects.ForPath(path)
	if !ok {
		return nil, collectors.Gapf(collectors.Bug, "no kind of objects is known for %s", path)
	}
	remedy := "kubectl get " + kind.Resource + " -A -o yaml > " + kind.Resource + ".yaml"
	plain, query, _ := strings.Cut(path, "?")
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", path, err)
	}
	selector, err := labels.Parse(q.Get("labelSelector"))
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", path, err)
	}
	ns := ""
	if _, rest, ok := strings.Cut(plain, "/namespaces/"); ok {
		ns, _, _ = strings.Cut(rest, "/")
	}
	all := e.candidates(kind, ns, q)
	if len(all) == 0 {
		where := ""
		if ns != "" {
			where = " of the namespace " + ns
		}
		return nil, notHeld("%s%s", kind.Resource, where).With(remedy)
	}
	must := needs[kind.Resource]
	if plain == "/api/v1/pods" && query == "" {
		must = "kube-system" // who wants all pods adds up what they take of the nodes
	}
	if must != "" && !slices.ContainsFunc(all, func(o objects.Object) bool { return o.GetNamespace() == must }) {
		return nil, notHeld("%s of the namespace %s", kind.Resource, must).With(remedy)
	}
	enc := objects.NewEncoder(kind)
	for _, o := range all {
		if !selector.Matches(labels.Set(o.GetLabels())) {
			continue
		}
		if err := enc.Add(o); err != nil {
			return nil, collectors.Gapf(collectors.Malformed, "%v", err)
		}
	}
	r := e.reply(enc.Bytes(""))
	if kind.Name == "Lease" {
		at, ok := e.leasesAt()
		if !ok {
			return nil, notHeld("time at which its leases were read").With("give it: --at TIME")
		}
		r.At, r.Date = at, at
	}
	return r, nil
}

// candidates are the objects that a list without label selector would hold.
func (e *Evidence) candidates(k objects.Kind, ns string, q url.Values) []objects.Object {
	var out []objects.Object
	discovery := k.Name == "Pod" && q.Get("labelSelector") != ""
	pendingOnly := strings.Contains(q.Get("fieldSelector"), "status.phase=Pending")
	for _, o := range e.held(k.APIVersion, k.Name) {
		if o.bare && k.Name == "Pod" && !pendingOnly { // of a table, those that are pending are kept
			continue
		}
		if ns == "" || o.GetNamespace() == ns {
			out = append(out, o.Object)
		}
	}
	if !discovery {
		return out
	}
	// Who asks for pods by label looks for the control plane.
	out = slices.DeleteFunc(out, func(o objects.Object) bool {
		p, ok := o.(*corev1.Pod)
		if !ok {
			return false
		}
		r, _ := roleOf(p)
		return r != ""
	})
	for _, i := range e.instances {
		if ns == "" || i.pod.Namespace == ns {
			out = append(out, i.pod)
		}
	}
	return out
}

// fewLeases is how many leases it takes to tell from them when they were read:
// of many, some holder is alive and renews every few seconds.
const fewLeases = 3

// leasesAt is when the leases were read: the latest renewal of any. Of a few
// it cannot be told, unless the caller did.
func (e *Evidence) leasesAt() (time.Time, bool) {
	if e.given {
		return e.At, true
	}
	var at time.Time
	ls := e.held("coordination.k8s.io/v1", "Lease")
	for _, o := range ls {
		if l, ok := o.Object.(*coordinationv1.Lease); ok && l.Spec.RenewTime != nil && l.Spec.RenewTime.After(at) {
			at = l.Spec.RenewTime.Time
		}
	}
	return at, len(ls) >= fewLeases && !at.IsZero()
}

func (e *Evidence) answerLogs() (*collectors.Reply, *collectors.Gap) {
	if len(e.logs) == 0 {
		return nil, notHeld("logs")
	}
	b, err := json.Marshal(logs.Tally{Logs: e.logs})
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%v", err)
	}
	return e.reply(b), nil
}

func (e *Evidence) reply(body []byte) *collectors.Reply {
	return &collectors.Reply{At: e.At, Date: e.At, Status: 200, Media: objects.JSON, Body: io.NopCloser(bytes.NewReader(body))}
}

func notHeld(format string, a ...any) *collectors.Gap {
	return collectors.Gapf(collectors.NotAsked, "the evidence holds no "+format, a...)
}

// closer ends a file that was opened to be read once.
type closer struct {
	io.Reader
	done func()
}

func (c closer) Close() error {
	c.done()
	return nil
}

// whole ends the last line if it has no end: what was copied by hand often has
// none. A body that was cut off in the middle of a line is still malformed.
func whole(r io.Reader) io.Reader { return &ended{r: r} }

type ended struct {
	r    io.Reader
	last byte
	eof  bool
}

func (w *ended) Read(p []byte) (int, error) {
	if w.eof || len(p) == 0 {
		return 0, io.EOF
	}
	n, err := w.r.Read(p)
	if n > 0 {
		w.last = p[n-1]
	}
	if err == io.EOF && n == 0 && w.last != '\n' && w.last != 0 {
		p[0], w.eof = '\n', true
		return 1, nil
	}
	if err == io.EOF && n > 0 {
		return n, nil
	}
	return n, err
}
