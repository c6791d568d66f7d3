package live

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// An etcdAccess is which etcd endpoints and credentials a run has.
type etcdAccess struct {
	endpoints       []string
	endpointsFrom   string
	credentials     bool // there is a client certificate
	credentialsFrom string
	tried           []string

	client *collectors.Cert
	ca     []collectors.Cert

	tls   *tls.Config     // nil if nothing was given
	plain map[string]bool // host:port of endpoints that were given as http://
	open  bool            // all that were given are

	generation int // connections are not shared between what was known before and after
}

// isPlain reports whether an endpoint is spoken to without TLS.
func (a etcdAccess) isPlain(addr string) bool { return a.plain[addr] || a.open }

// A keyring is one place where credentials for etcd may be.
type keyring struct {
	from          string // as the user knows it
	ca, cert, key string
	root          string // of the files
}

// usualPlaces is where distributions keep a client certificate for etcd on a
// control-plane node, least privilege first. The server's own certificate
// serves as well, where its maker allowed it the use by clients, as kubeadm does.
var usualPlaces = []keyring{
	{"kubeadm", "/etc/kubernetes/pki/etcd/ca.crt", "/etc/kubernetes/pki/etcd/healthcheck-client.crt", "/etc/kubernetes/pki/etcd/healthcheck-client.key", ""},
	{"kubeadm", "/etc/kubernetes/pki/etcd/ca.crt", "/etc/kubernetes/pki/apiserver-etcd-client.crt", "/etc/kubernetes/pki/apiserver-etcd-client.key", ""},
	{"kubeadm", "/etc/kubernetes/pki/etcd/ca.crt", "/etc/kubernetes/pki/etcd/server.crt", "/etc/kubernetes/pki/etcd/server.key", ""},
	{"k3s", "/var/lib/rancher/k3s/server/tls/etcd/server-ca.crt", "/var/lib/rancher/k3s/server/tls/etcd/client.crt", "/var/lib/rancher/k3s/server/tls/etcd/client.key", ""},
	{"rke2", "/var/lib/rancher/rke2/server/tls/etcd/server-ca.crt", "/var/lib/rancher/rke2/server/tls/etcd/server-client.crt", "/var/lib/rancher/rke2/server/tls/etcd/server-client.key", ""},
	{"kops", "/etc/kubernetes/pki/kube-apiserver/etcd-ca.crt", "/etc/kubernetes/pki/kube-apiserver/etcd-client.crt", "/etc/kubernetes/pki/kube-apiserver/etcd-client.key", ""},
}

// findEtcd looks for what the run has for etcd: flags, the environment, then,
// if hints is not nil, the paths that it hints at and the usual places. What
// the user gave is used or reported, never passed over for something else.
func (c Config) findEtcd(hints url.Values) etcdAccess {
	a := etcdAccess{plain: map[string]bool{}}
	given := []keyring{
		{"--etcd-cacert, --etcd-cert, --etcd-key", c.Etcd.CACert, c.Etcd.Cert, c.Etcd.Key, ""},
		{"ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY", c.Getenv("ETCDCTL_CACERT"), c.Getenv("ETCDCTL_CERT"), c.Getenv("ETCDCTL_KEY"), ""},
	}
	explicit := false
	for _, k := range given {
		if k.ca == "" && k.cert == "" && k.key == "" {
			a.tried = append(a.tried, k.from+": not given")
			continue
		}
		if explicit {
			break
		}
		explicit = true
		a.use(k)
	}
	local := false
	if hints != nil && !explicit {
		local = a.useAny(c.hinted(hints)) || a.useUsual(c.usual())
	}
	skip, _ := strconv.ParseBool(c.Getenv("ETCDCTL_INSECURE_SKIP_TLS_VERIFY")) // anything else is no
	if c.Etcd.InsecureSkipVerify || skip {
		if a.tls == nil {
			a.tls = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		a.tls.InsecureSkipVerify = true
	}
	a.setEndpoints(c, hints, local)
	return a
}

// setEndpoints chooses the endpoints. A loopback address that the cluster
// names is one of the node it was written for: it counts only if the
// credentials were found on this machine, or there is nothing else.
func (a *etcdAccess) setEndpoints(c Config, hints url.Values, local bool) {
	hinted := hints["endpoints"]
	far := slices.DeleteFunc(slices.Clone(split(hinted)), func(e string) bool { return isLoopback(hostOfEndpoint(e)) })
	if !local && len(far) > 0 {
		hinted = far
	}
	choices := []struct {
		from string
		urls []string
	}{
		{"--etcd-endpoints", split(c.Etcd.Endpoints)},
		{"ETCDCTL_ENDPOINTS", split([]string{c.Getenv("ETCDCTL_ENDPOINTS")})},
		{"the static pods' command lines", split(hinted)},
	}
	if local && len(split(hinted)) == 0 && strings.HasPrefix(a.credentialsFrom, usualPrefix) {
		choices = append(choices, struct {
			from string
			urls []string
		}{"the usual address on a node with such files", []string{"https://127.0.0.1:2379"}})
	}
	for _, ch := range choices {
		if len(ch.urls) == 0 {
			continue
		}
		a.endpointsFrom = ch.from
		a.open = true
		for _, e := range ch.urls {
			u := a.normal(e)
			a.endpoints = append(a.endpoints, u)
			if h, ok := strings.CutPrefix(u, "http://"); ok {
				a.plain[h] = true
			} else {
				a.open = false
			}
		}
		return
	}
}

// normal gives an endpoint a scheme and a port, as etcdctl does: without a
// scheme, TLS is used if there is anything to use it with.
func (a *etcdAccess) normal(e string) string {
	scheme, addr, ok := strings.Cut(e, "://")
	if !ok {
		scheme, addr = "http", e
		if a.tls != nil {
			scheme = "https"
		}
	}
	addr, _, _ = strings.Cut(addr, "/")
	if _, _, err := net.SplitHostPort(addr); err != nil {
		addr = net.JoinHostPort(strings.Trim(addr, "[]"), "2379")
	}
	return scheme + "://" + addr
}

func hostOfEndpoint(e string) string {
	if _, rest, ok := strings.Cut(e, "://"); ok {
		e = rest
	}
	h, _, err := net.SplitHostPort(e)
	if err != nil {
		return e
	}
	return h
}

func isLoopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// split takes lists that are separated by commas apart.
func split(lists []string) []string {
	var out []string
	for _, l := range lists {
		for e := range strings.SplitSeq(l, ",") {
			if e = strings.TrimSpace(e); e != "" {
				out = append(out, e)
			}
		}
	}
	return out
}

const usualPrefix = "usual place of "

func (c Config) usual() []keyring {
	out := slices.Clone(usualPlaces)
	for i := range out {
		out[i].from, out[i].root = usualPrefix+out[i].from, c.HostRoot
	}
	return out
}

// hinted pairs up the paths of command lines: the first cert goes with the
// first key and the first cacert. There may be fewer cacerts than pairs.
func (c Config) hinted(hints url.Values) []keyring {
	var out []keyring
	for i, cert := range hints["cert"] {
		k := keyring{from: "the static pods' command lines", cert: cert, root: c.HostRoot}
		if i < len(hints["key"]) {
			k.key = hints["key"][i]
		}
		if ca := hints["cacert"]; len(ca) > 0 {
			k.ca = ca[min(i, len(ca)-1)]
		}
		out = append(out, k)
	}
	return out
}

func (a *etcdAccess) useAny(ks []keyring) bool {
	return slices.ContainsFunc(ks, a.use)
}

// useUsual is useAny, but most of the usual places are on no machine, and that
// is said in one line.
func (a *etcdAccess) useUsual(ks []keyring) bool {
	said := len(a.tried)
	if a.useAny(ks) {
		return true
	}
	missing := func(s string) bool { return strings.Contains(s, noFile) }
	if !slices.ContainsFunc(a.tried[said:], func(s string) bool { return !missing(s) }) {
		var whose []string
		for _, k := range ks {
			whose = append(whose, strings.TrimPrefix(k.from, usualPrefix))
		}
		a.tried = append(a.tried[:said], "the usual places of "+strings.Join(slices.Compact(whose), ", ")+": no such files")
	}
	return false
}

const noFile = "no file "

// use loads credentials, or notes why it cannot.
func (a *etcdAccess) use(k keyring) bool {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	fail := func(format string, args ...any) bool {
		a.tried = append(a.tried, k.from+": "+fmt.Sprintf(format, args...))
		return false
	}
	if (k.cert == "") != (k.key == "") {
		return fail("a certificate and its key are needed, and there is only %s", cmp.Or(k.cert, k.key))
	}
	if k.cert != "" {
		cert, err := readSmall(k.root, k.cert)
		if err != nil {
			return fail("%s", whyUnread(k.cert, err))
		}
		key, err := readSmall(k.root, k.key)
		if err != nil {
			return fail("%s", whyUnread(k.key, err))
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return fail("%s and %s are no certificate and its key", k.cert, k.key)
		}
		conf.Certificates = []tls.Certificate{pair}
		a.client = nil
		if cs := certificates(cert); len(cs) > 0 {
			a.client = certOf(cs[0])
		}
	}
	if k.ca != "" {
		ca, err := readSmall(k.root, k.ca)
		if err != nil {
			return fail("%s", whyUnread(k.ca, err))
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(ca) {
			return fail("%s holds no certificate", k.ca)
		}
		a.ca = nil
		for _, c := range certificates(ca) {
			a.ca = append(a.ca, *certOf(c))
		}
	}
	a.tls, a.credentials = conf, k.cert != ""
	a.credentialsFrom = k.from
	if k.cert != "" {
		a.credentialsFrom += ": " + k.cert
	}
	return true
}

// maxPEM bounds a file of certificates. A path may come from a cluster, and
// name anything.
const maxPEM = 1 << 20

var errNotAFile = errors.New("not a regular file of a sensible size")

func readSmall(root, path string) ([]byte, error) {
	if root != "" {
		path = filepath.Join(root, path)
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxPEM {
		return nil, errNotAFile
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxPEM))
}

// whyUnread tells of a file what the user can change, and nothing of what is in it.
func whyUnread(path string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noFile + path
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read " + path
	case errors.Is(err, errNotAFile):
		return path + " is no file of certificates"
	}
	return "cannot read " + path
}
