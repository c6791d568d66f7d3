package live

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/ktriage/ktriage/collectors"
)

// A certFile is a certificate that lies on this machine. Keys that lie beside it
// in the same file are passed over.
type certFile struct {
	Path string          `json:"path"` // as the node has it, wherever its file system is mounted
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
	unread := func(path string, err error) {
		if why := whyUnread(path, err); !errors.Is(err, fs.ErrNotExist) && !slices.Contains(out.Unread, why) {
			out.Unread = append(out.Unread, why)
		}
	}
	for _, p := range slices.Concat(pkiFiles, kubeconfigs) {
		paths, err := glob(s.config.HostRoot, p)
		if err != nil {
			unread(filepath.Dir(p), err)
			continue
		}
		for _, path := range paths {
			b, err := readSmall(s.config.HostRoot, path)
			if err != nil {
				unread(path, err)
				continue
			}
			if slices.Contains(kubeconfigs, p) {
				b = clientCertOf(b)
			}
			for _, c := range certificates(b) {
				out.Files = append(out.Files, certFile{path, *certOf(c)})
			}
		}
	}
	return asJSON(way, out)
}

// glob lists the files that the last part of a pattern matches. Unlike
// filepath.Glob it tells of a folder that may not be read from one that is empty.
func glob(root, pattern string) ([]string, error) {
	dir := filepath.Dir(pattern)
	entries, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if ok, err := filepath.Match(filepath.Base(pattern), e.Name()); err != nil {
			return nil, err
		} else if ok {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
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
