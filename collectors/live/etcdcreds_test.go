package live

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/collectors"
)

type told struct {
	Endpoints       []string `json:"endpoints"`
	EndpointsFrom   string   `json:"endpointsFrom"`
	Credentials     bool     `json:"credentials"`
	CredentialsFrom string   `json:"credentialsFrom"`
	Tried           []string `json:"tried"`
}

func TestWhatARunHasForEtcd(t *testing.T) {
	ca := newAuthority(t, "etcd")
	cl, other := ca.issue(t), ca.issue(t)
	dir := t.TempDir()
	write(t, dir, map[string][]byte{
		"ca.crt": ca.pem, "c.crt": cl.cert, "c.key": cl.key, "other.key": other.key, "text": []byte("not a certificate but " + token),
		"node/etc/kubernetes/pki/etcd/ca.crt":                 ca.pem,
		"node/etc/kubernetes/pki/apiserver-etcd-client.crt":   cl.cert,
		"node/etc/kubernetes/pki/apiserver-etcd-client.key":   cl.key,
		"node/etc/kubernetes/pki/etcd/healthcheck-client.crt": []byte("broken"),
		"node/etc/kubernetes/pki/etcd/healthcheck-client.key": []byte("broken"),
	})
	f := func(n string) string { return filepath.Join(dir, n) }
	const (
		noFlags = "--etcd-cacert, --etcd-cert, --etcd-key: not given"
		noVars  = "ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY: not given"
		noUsual = "the usual places of kubeadm, k3s, rke2, kops: no such files"
		fromPod = "the static pods' command lines"
	)
	good := EtcdFlags{CACert: f("ca.crt"), Cert: f("c.crt"), Key: f("c.key")}
	with := func(e ...string) EtcdFlags { x := good; x.Endpoints = e; return x }
	hint := func(kv ...string) url.Values {
		v := url.Values{}
		for i := 0; i < len(kv); i += 2 {
			v.Add(kv[i], kv[i+1])
		}
		return v
	}
	for _, tt := range []struct {
		name  string
		flags EtcdFlags
		env   map[string]string
		root  string
		hints url.Values
		want  told
	}{
		{name: "nothing", want: told{Tried: []string{noFlags, noVars, noUsual}}},
		{
			name: "flags", flags: with("https://10.0.0.1:2379,10.0.0.2", "http://[::1]"),
			env:  map[string]string{"ETCDCTL_ENDPOINTS": "10.9.9.9:2379", "ETCDCTL_CERT": f("text")},
			want: told{[]string{"https://10.0.0.1:2379", "https://10.0.0.2:2379", "http://[::1]:2379"}, "--etcd-endpoints", true, noFlags[:len(noFlags)-11] + ": " + f("c.crt"), nil},
		},
		{
			name: "environment", env: map[string]string{"ETCDCTL_ENDPOINTS": "10.0.0.1:2379", "ETCDCTL_CACERT": f("ca.crt"), "ETCDCTL_CERT": f("c.crt"), "ETCDCTL_KEY": f("c.key")},
			want: told{[]string{"https://10.0.0.1:2379"}, "ETCDCTL_ENDPOINTS", true, noVars[:len(noVars)-11] + ": " + f("c.crt"), []string{noFlags}},
		},
		{
			name: "an endpoint without scheme and credentials is plain", env: map[string]string{"ETCDCTL_ENDPOINTS": "localhost:2379"},
			want: told{Endpoints: []string{"http://localhost:2379"}, EndpointsFrom: "ETCDCTL_ENDPOINTS", Tried: []string{noFlags, noVars, noUsual}},
		},
		{
			name: "flags that fail are not passed over", flags: EtcdFlags{Cert: f("none"), Key: f("c.key")}, hints: hint("cacert", f("ca.crt"), "cert", f("c.crt"), "key", f("c.key")),
			want: told{Tried: []string{noFlags[:len(noFlags)-11] + ": no file " + f("none")}},
		},
		{
			name: "half a pair", flags: EtcdFlags{Cert: f("c.crt")},
			want: told{Tried: []string{noFlags[:len(noFlags)-11] + ": a certificate and its key are needed, and there is only " + f("c.crt")}},
		},
		{
			name: "a key of another certificate", flags: EtcdFlags{Cert: f("c.crt"), Key: f("other.key")},
			want: told{Tried: []string{noFlags[:len(noFlags)-11] + ": " + f("c.crt") + " and " + f("other.key") + " are no certificate and its key"}},
		},
		{
			name: "a CA that is none", flags: EtcdFlags{CACert: f("text"), Cert: f("c.crt"), Key: f("c.key")},
			want: told{Tried: []string{noFlags[:len(noFlags)-11] + ": " + f("text") + " holds no certificate"}},
		},
		{
			name:  "hints: the second pair can be read",
			hints: hint("cacert", f("ca.crt"), "cert", f("none"), "key", f("none"), "cert", f("c.crt"), "key", f("c.key"), "endpoints", "https://127.0.0.1:2379"),
			want:  told{[]string{"https://127.0.0.1:2379"}, fromPod, true, fromPod + ": " + f("c.crt"), []string{noFlags, noVars, fromPod + ": no file " + f("none")}},
		},
		{
			name: "hints: what is no file is not read", hints: hint("cert", "/dev/zero", "key", "/dev/zero"),
			want: told{Tried: []string{noFlags, noVars, fromPod + ": /dev/zero is no file of certificates", noUsual}},
		},
		{
			name: "hints: another node's loopback is not ours", flags: good, hints: hint("endpoints", "https://127.0.0.1:2379,https://10.0.0.1:2379"),
			want: told{[]string{"https://10.0.0.1:2379"}, fromPod, true, noFlags[:len(noFlags)-11] + ": " + f("c.crt"), nil},
		},
		{
			name: "usual places", root: f("node"),
			want: told{[]string{"https://127.0.0.1:2379"}, "the usual address on a node with such files", true, "usual place of kubeadm: /etc/kubernetes/pki/apiserver-etcd-client.crt", []string{noFlags, noVars, "usual place of kubeadm: /etc/kubernetes/pki/etcd/healthcheck-client.crt and /etc/kubernetes/pki/etcd/healthcheck-client.key are no certificate and its key"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tt.root
			if root == "" && tt.hints == nil {
				root = f("empty")
			}
			s := newSource(t, Config{Etcd: tt.flags, HostRoot: root, Getenv: func(k string) string { return tt.env[k] }})
			_, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "config:/etcd?" + tt.hints.Encode()})
			if gap != nil {
				t.Fatal(gap)
			}
			if strings.Contains(body, token) {
				t.Errorf("it shows what is in a file: %s", body)
			}
			var got told
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
			// What the environment holds is of no interest once flags are given.
			if len(got.Tried) > 0 && tt.want.Tried != nil && len(got.Tried) == len(tt.want.Tried)+1 && got.Tried[1] == noVars {
				got.Tried = got.Tried[:1]
			}
			if tt.want.Tried == nil {
				got.Tried = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestUnreadableCredentialsAreCalledSo(t *testing.T) {
	if os.Getuid() == 0 {
		if got := whyUnread("/x", os.ErrPermission); got != "no permission to read /x" {
			t.Errorf("got %q", got)
		}
		t.Skip("root reads everything")
	}
	dir := t.TempDir()
	p := filepath.Join(dir, "c.crt")
	if err := os.WriteFile(p, nil, 0); err != nil {
		t.Fatal(err)
	}
	a := Config{Getenv: noEnv, Etcd: EtcdFlags{Cert: p, Key: p}}.findEtcd(nil)
	if got := strings.Join(a.tried, "; "); !strings.Contains(got, "no permission to read "+p) {
		t.Errorf("got %s", got)
	}
}

func TestCredentialsThatWereFoundAreUsedFromThenOn(t *testing.T) {
	addr, flags := startEtcd(t, newAuthority(t, "etcd"))
	s := newSource(t, Config{HostRoot: "/"})
	r := collectors.Request{Verb: collectors.Call, URL: "etcd://" + addr + "/maintenance/status"}
	_, _, gap := fetch(t, s, r)
	wantGap(t, gap, collectors.Forbidden, "no client certificate")
	hints := url.Values{"cacert": {flags.CACert}, "cert": {flags.Cert}, "key": {flags.Key}}
	fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "config:/etcd?" + hints.Encode()})
	if _, _, gap := fetch(t, s, r); gap != nil {
		t.Error(gap)
	}
}
