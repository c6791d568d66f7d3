package webhooks

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/certificates"
)

// A Door is where the API server calls something: a port of a Service. It is
// the target of what is asked there.
func (s Service) Door() collectors.Target {
	return collectors.Target{Component: collectors.Webhooks, Name: "service/" + s.ID() + ":" + itoa(s.Port)}
}

// ServerName is the name by which the API server verifies who answers.
func (s Service) ServerName() string { return s.Name + "." + s.Namespace + ".svc" }

// Shown is the certificates that a pod behind each Service shows that the API
// server calls. They are asked for by port-forward to a pod that is ready, since
// nothing else leads there from outside.
var Shown = &collectors.Fact[certificates.Chain]{
	ID:    "webhooks.certificates",
	Doc:   "the certificates that a ready pod behind each webhook and APIService shows",
	Needs: []collectors.Any{Configured, Conversions, Extensions, Backends},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		backends, gap := Backends.One(s)
		if gap != nil {
			return nil, gap
		}
		var out []collectors.Target
		for _, x := range Called(s) {
			t := x.Door()
			if b := backends[x.ID()]; len(b.Pods) > 0 && b.Port(x.Port) > 0 {
				p := b.Pods[0]
				u := url.URL{Scheme: "pod+https", Host: x.Namespace, Path: "/" + p.Name + ":" + itoa(b.Port(x.Port)), RawQuery: "name=" + url.QueryEscape(x.ServerName())}
				if p.Node != "" {
					u.User = url.User(p.Node)
				}
				t.Node, t.Addr = p.Node, u.String()
			}
			out = append(out, t)
		}
		return out, nil
	},
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		if t.Addr == "" {
			return nil
		}
		return []collectors.Request{{Verb: collectors.Greet, URL: t.Addr}}
	},
	Read: func(rs []collectors.Answered) (certificates.Chain, error) {
		if len(rs) == 0 {
			return nil, collectors.Gapf(collectors.Absent, "no ready pod is known behind it, by which its certificate could be seen")
		}
		return certificates.ReadChain(rs[0])
	},
}

// Called lists the ports of Services that the API server calls, each once.
func Called(s *collectors.Snapshot) []Service {
	var out []Service
	hs, _ := Configured.One(s)
	for _, h := range hs {
		out = append(out, h.Service)
	}
	cs, _ := Conversions.One(s)
	for _, c := range cs.By {
		out = append(out, c.Service)
	}
	es, _ := Extensions.One(s)
	for _, e := range es {
		out = append(out, e.Service)
	}
	out = slices.DeleteFunc(out, func(x Service) bool { return x.Name == "" })
	slices.SortFunc(out, func(a, b Service) int { return cmp.Or(cmp.Compare(a.ID(), b.ID()), cmp.Compare(a.Port, b.Port)) })
	return slices.Compact(out)
}
