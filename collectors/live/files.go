package live

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/collectors"
)

// A certFile is a certificate that lies on this machine. Keys that lie beside it
// in the same file are passed over.
type certFile struct {
	Path string          `json:"path"`
	Cert collectors.Cert `json:"cert"`
}

// pkiFiles are where kubeadm and the kubelet keep certificates on a
// control-plane node; kubeconfigs hold theirs inside.
var (
	pkiFiles    = []string{"/etc/kubernetes/pki/*.crt", "/etc/kubernetes/pki/etcd/*.crt", "/var/lib/kubelet/pki/*.crt", "/var/lib/kubelet/pki/kubelet-client-current.pem", "/var/lib/kubelet/pki/kubelet-server-current.pem"}
	kubeconfigs = []string{"/etc/kubernetes/*.conf"}
)

// askFiles answers config:/pki: what certificates lie on this machine, and what
// may not be read.
func (s *Source) askFiles(way string) (*collectors.Reply, *collectors.Gap) {
	var out struct {
		Files  []certFile `json:"files"`
		Unread []string   `json:"unread,omitempty"`
	}
	for _, p := range slices.Concat(pkiFiles, kubeconfigs) {
		names, err := filepath.Glob(filepath.Join(s.config.HostRoot, p))
		if err != nil {
			return nil, collectors.Gapf(collectors.Bug, "%s: %v", way, err)
		}
		for _, name := range names {
			b, err := readSmall("", name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				out.Unread = append(out.Unread, whyUnread(name, err))
				continue
			}
			if slices.Contains(kubeconfigs, p) {
				b = clientCertOf(b)
			}
			for _, c := range certificates(b) {
				out.Files = append(out.Files, certFile{name, *certOf(c)})
			}
		}
	}
	return asJSON(way, out)
}

// clientCertOf takes the client certificate out of a kubeconfig.
func clientCertOf(b []byte) []byte {
	var c struct {
		Users []struct {
			User struct {
				Data string `json:"client-certificate-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if yaml.Unmarshal(b, &c) != nil {
		return nil
	}
	var out []byte
	for _, u := range c.Users {
		if pem, err := base64.StdEncoding.DecodeString(u.User.Data); err == nil {
			out = append(out, pem...)
		}
	}
	return out
}
