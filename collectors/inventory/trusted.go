package inventory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/certificates"
)

// A Trust is what the API server makes known for extension API servers: by which
// CAs it knows clients, and by which they are to know it.
type Trust struct {
	Clients certificates.Bundle // that users' client certificates are of
	Front   certificates.Bundle // that the API server's own is of, when it calls an extension
	Names   []string            // that may be in the latter; empty for any
}

// Trusted is that. The certificates in it are public, and the API server keeps
// the ConfigMap for everybody who is to verify.
var Trusted = &collectors.Fact[Trust]{
	ID:      "certificates.trusted",
	Doc:     "the CAs of client certificates and of the front proxy, as the API server makes them known to extension API servers",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: "kube:/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"}}
	},
	Read: func(rs []collectors.Answered) (Trust, error) {
		if rs[0].Status >= 500 {
			return Trust{}, collectors.Gapf(collectors.ServerError, "%s answered %d", rs[0].From, rs[0].Status)
		}
		var m struct{ Data map[string]string }
		if err := json.Unmarshal(rs[0].Body, &m); err != nil {
			return Trust{}, fmt.Errorf("%s is no ConfigMap: %w", rs[0].From, err)
		}
		t := Trust{
			Clients: certificates.ReadBundle([]byte(m.Data["client-ca-file"])),
			Front:   certificates.ReadBundle([]byte(m.Data["requestheader-client-ca-file"])),
		}
		if names := m.Data["requestheader-allowed-names"]; names != "" {
			if err := json.Unmarshal([]byte(names), &t.Names); err != nil {
				return Trust{}, fmt.Errorf("its requestheader-allowed-names are no list: %w", err)
			}
		}
		return t, nil
	},
}

// Keys are the IDs of the public keys by which an API server knows the tokens of
// service accounts, sorted.
type Keys []string

// String names them.
func (k Keys) String() string { return strings.Join(k, ", ") }

// maxKeys bounds what is kept; a server has a few.
const maxKeys = 100

// SigningKeys is that of each API server.
var SigningKeys = &collectors.Fact[Keys]{
	ID:    "certificates.signing-keys",
	Doc:   "by which public keys each API server knows the tokens of service accounts",
	Needs: []collectors.Any{apiserver.Ways},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		ways, gap := apiserver.Ways.One(s)
		if gap != nil {
			return nil, gap
		}
		var out []collectors.Target
		for _, w := range ways {
			out = append(out, w.Target)
		}
		return out, nil
	},
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: t.Addr + "/openid/v1/jwks"}}
	},
	Read: func(rs []collectors.Answered) (Keys, error) {
		if rs[0].Status >= 500 {
			return nil, collectors.Gapf(collectors.ServerError, "%s answered %d", rs[0].From, rs[0].Status)
		}
		var set struct {
			Keys []struct{ Kid string }
		}
		if err := json.Unmarshal(rs[0].Body, &set); err != nil {
			return nil, fmt.Errorf("%s is no set of keys: %w", rs[0].From, err)
		}
		var out Keys
		for _, k := range set.Keys {
			if len(out) < maxKeys {
				out = append(out, collectors.OneLine(k.Kid, 64))
			}
		}
		slices.Sort(out)
		if len(out) == 0 {
			return nil, collectors.Gapf(collectors.Absent, "%s names no key", rs[0].From)
		}
		return slices.Compact(out), nil
	},
}

// A File is a certificate that lies on the machine that ktriage runs on.
type File struct {
	Path string          `json:"path"`
	Cert collectors.Cert `json:"cert"`
}

// OnDisk is what lies there.
type OnDisk struct {
	Files  []File   `json:"files"`
	Unread []string `json:"unread"` // what may not be read, and why
}

// Files are the certificates in the usual places of a control-plane node.
var Files = &collectors.Fact[OnDisk]{
	ID:      "certificates.files",
	Doc:     "the certificates in the files of this machine, if it is a control-plane node",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: "config:/pki"}}
	},
	Read: func(rs []collectors.Answered) (d OnDisk, err error) {
		err = json.Unmarshal(rs[0].Body, &d)
		return d, err
	},
}
