package live

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// askGiven answers config:/etcd, config:/cluster and config:/pki: what this run
// was given, and what it found on this machine. It dials nobody.
func (s *Source) askGiven(way string, u *url.URL) (*collectors.Reply, *collectors.Gap) {
	if rest, ok := strings.CutPrefix(u.Path, "/disk/"); ok {
		return s.askDisk(way, rest)
	}
	switch u.Path {
	case "/cluster":
		k, gap := s.kube()
		if gap != nil {
			return nil, gap
		}
		return asJSON(way, k.given)
	case "/etcd":
		a := s.config.findEtcd(u.Query())
		s.etcd.adopt(a)
		return asJSON(way, struct {
			Endpoints       []string `json:"endpoints"`
			EndpointsFrom   string   `json:"endpointsFrom,omitempty"`
			Credentials     bool     `json:"credentials"`
			CredentialsFrom string   `json:"credentialsFrom,omitempty"`
			Tried           []string `json:"tried"`

			Client *collectors.Cert  `json:"client,omitempty"`
			CA     []collectors.Cert `json:"ca,omitempty"`
		}{a.endpoints, a.endpointsFrom, a.credentials, a.credentialsFrom, a.tried, a.client, a.ca})
	case "/pki":
		return s.askFiles(way)
	case "/logs":
		if s.config.Logs.Lines <= 0 {
			return nil, collectors.Gapf(collectors.NotAsked, "no logs were asked for")
		}
		return asJSON(way, s.config.Logs)
	}
	return nil, collectors.Gapf(collectors.NotAsked, "%s: a run is given no such thing", way)
}

func asJSON(way string, v any) (*collectors.Reply, *collectors.Gap) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%s: %v", way, err)
	}
	return &collectors.Reply{At: time.Now(), From: way, Media: "application/json", Body: io.NopCloser(bytes.NewReader(b))}, nil
}
