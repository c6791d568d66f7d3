package live

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/collectors"
)

// onDisk is what config:/pki says, with the text that a recording would keep.
func onDisk(t *testing.T, root string) (files map[string]int, unread []string, text string) {
	t.Helper()
	_, text, gap := fetch(t, newSource(t, Config{HostRoot: root}), collectors.Request{Verb: collectors.Get, URL: "config:/pki"})
	if gap != nil {
		t.Fatal(gap)
	}
	var d struct {
		Files  []certFile
		Unread []string
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	files = map[string]int{}
	for _, f := range d.Files {
		files[f.Path]++
	}
	return files, d.Unread, text
}

func kubeconfigText(cert, key []byte) []byte {
	b64 := base64.StdEncoding.EncodeToString
	return []byte("users:\n- name: a\n  user:\n    client-certificate-data: " + b64(cert) + "\n    client-key-data: " + b64(key) + "\n    token: " + token + "\n")
}

func TestFilesHoldCertificatesAndNoKeyIsTold(t *testing.T) {
	ca := newAuthority(t, "ca")
	a, b := ca.issue(t, "a"), ca.issue(t, "b")
	root := t.TempDir()
	write(t, root, map[string][]byte{
		"etc/kubernetes/pki/apiserver.crt":                      append(append([]byte{}, a.cert...), ca.pem...),
		"etc/kubernetes/pki/apiserver.key":                      a.key,
		"etc/kubernetes/pki/both.crt":                           append(append([]byte{}, b.key...), b.cert...), // a key where none should be
		"etc/kubernetes/pki/etcd/server.crt":                    b.cert,
		"etc/kubernetes/pki/etcd/server.key":                    b.key,
		"etc/kubernetes/pki/empty.crt":                          nil,
		"etc/kubernetes/pki/broken.crt":                         []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
		"etc/kubernetes/admin.conf":                             kubeconfigText(a.cert, a.key),
		"etc/kubernetes/broken.conf":                            []byte("users: {"),
		"var/lib/kubelet/pki/kubelet.crt":                       a.cert,
		"var/lib/kubelet/pki/kubelet-client-2026-01-01.pem":     append(append([]byte{}, a.cert...), a.key...),
		"var/lib/kubelet/pki/kubelet-server-2026-01-01-old.pem": a.cert,
	})
	if err := os.Symlink("kubelet-client-2026-01-01.pem", filepath.Join(root, "var/lib/kubelet/pki/kubelet-client-current.pem")); err != nil {
		t.Fatal(err)
	}
	files, unread, text := onDisk(t, root)
	want := map[string]int{
		"/etc/kubernetes/pki/apiserver.crt": 2, "/etc/kubernetes/pki/both.crt": 1, "/etc/kubernetes/pki/etcd/server.crt": 1, "/etc/kubernetes/admin.conf": 1,
		"/var/lib/kubelet/pki/kubelet.crt": 1, "/var/lib/kubelet/pki/kubelet-client-current.pem": 1,
	}
	if len(files) != len(want) || len(unread) != 0 {
		t.Errorf("got %v, unread %v, want %v", files, unread, want)
	}
	for path, n := range want {
		if files[path] != n {
			t.Errorf("%s: got %d certificates, want %d", path, files[path], n)
		}
	}
	for _, secret := range [][]byte{a.key, b.key} {
		// Neither as it stands, nor any line of it, nor as a kubeconfig has it.
		lines := strings.Split(strings.TrimSpace(string(secret)), "\n")
		for _, s := range append(lines, base64.StdEncoding.EncodeToString(secret)) {
			if strings.Contains(text, s) {
				t.Errorf("the reply holds %q", s)
			}
		}
	}
	if strings.Contains(text, token) || strings.Contains(text, "PRIVATE") {
		t.Errorf("the reply holds a secret:\n%s", text)
	}
}

func TestNoFilesWhereNoNodeIs(t *testing.T) {
	if files, unread, _ := onDisk(t, t.TempDir()); len(files)+len(unread) != 0 {
		t.Errorf("got %v and %v", files, unread)
	}
}

// TestWhatMayNotBeReadIsSaid: a folder that may not be listed is not an empty one.
func TestWhatMayNotBeReadIsSaid(t *testing.T) {
	ca := newAuthority(t, "ca")
	root := t.TempDir()
	write(t, root, map[string][]byte{
		"etc/kubernetes/pki/ca.crt":          ca.pem,
		"etc/kubernetes/pki/secret.crt":      ca.pem,
		"etc/kubernetes/pki/etcd/server.crt": ca.pem,
		"etc/kubernetes/admin.conf":          kubeconfigText(ca.pem, nil),
	})
	if err := os.Mkdir(filepath.Join(root, "etc/kubernetes/pki/folder.crt"), 0o700); err != nil {
		t.Fatal(err)
	}
	shut := []string{"etc/kubernetes/pki/secret.crt", "etc/kubernetes/pki/etcd", "etc/kubernetes/admin.conf"}
	for _, p := range shut {
		p := filepath.Join(root, p)
		if err := os.Chmod(p, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(p, 0o700) })
	}
	files, unread, _ := onDisk(t, root)
	if files["/etc/kubernetes/pki/ca.crt"] != 1 {
		t.Errorf("got %v", files)
	}
	all := strings.Join(unread, "\n")
	if !strings.Contains(all, "/etc/kubernetes/pki/folder.crt is no file of certificates") {
		t.Errorf("got unread %q", unread)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	for _, p := range shut {
		if !strings.Contains(all, "no permission to read /"+p) {
			t.Errorf("got unread %q, want it to name %s", unread, p)
		}
	}
}

// FuzzClientCertOf holds that nothing but certificates is taken out of a kubeconfig.
func FuzzClientCertOf(f *testing.F) {
	f.Add([]byte("users:\n- user: {client-certificate-data: QUJD, client-key-data: QUJD}\n"))
	f.Add([]byte("users: [null, {user: null}]"))
	f.Add([]byte("users: {"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range certificates(clientCertOf(b)) {
			certOf(c)
		}
	})
}
