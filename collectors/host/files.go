package host

// Files are those that the control plane's command lines name.
type Files struct {
	Named []File `json:"named"`
}

// A File is one that a flag names.
type File struct {
	Role    Role    `json:"role"`
	Flag    string  `json:"flag"`
	Path    string  `json:"path"` // as the node has it
	Missing bool    `json:"missing,omitempty"`
	Unread  *Missed `json:"unread,omitempty"`
	Certs   string  `json:"certs,omitempty"` // the certificates in it, as PEM; keys are never kept
}

// Of returns the file that a flag of a role names.
func (f Files) Of(r Role, flag string) (File, bool) {
	for _, x := range f.Named {
		if x.Role == r && x.Flag == flag {
			return x, true
		}
	}
	return File{}, false
}

// Flags are those that name files, by role.
var Flags = map[Role][]string{
	Etcd:        {"cert-file", "key-file", "trusted-ca-file", "peer-cert-file", "peer-key-file", "peer-trusted-ca-file"},
	APIServer:   {"client-ca-file", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "kubelet-client-certificate", "kubelet-client-key", "proxy-client-cert-file", "proxy-client-key-file", "requestheader-client-ca-file", "service-account-key-file", "service-account-signing-key-file", "tls-cert-file", "tls-private-key-file", "encryption-provider-config", "audit-policy-file"},
	Controllers: {"kubeconfig", "cluster-signing-cert-file", "cluster-signing-key-file", "root-ca-file", "service-account-private-key-file"},
	Scheduler:   {"kubeconfig", "config"},
}

// Named is what of these is there.
var Named = fact[Files]("host.files", "the files that the control plane's command lines name: whether they are there, and the certificates in them", FilesURL)
