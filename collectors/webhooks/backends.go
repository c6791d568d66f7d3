package webhooks

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Backend is what is behind the Service of a webhook.
type Backend struct {
	Exists   bool   // the Service does
	External string // the name that it stands for, of a Service without endpoints of its own
	Ports    []int32
	Selects  labels.Set // of the pods that are behind it
	Ready    int        // endpoints that take requests
	NotReady int        // endpoints that do not
	Pods     []Pod      // behind the ready endpoints; the first maxPods

	names map[int32]string // of the Service's ports
	slice []port           // the ports of its endpoints
}

// A Pod is one behind a Service.
type Pod struct{ Name, Node string }

type port struct {
	name   string
	number int32
}

// maxPods bounds how many pods are kept of one Service. One is asked.
const maxPods = 3

// Port is where the pods behind the Service's port listen; 0 if it is not known.
func (b Backend) Port(n int32) int32 {
	for _, p := range b.slice {
		if p.name == b.names[n] {
			return p.number
		}
	}
	return 0
}

// HasPort reports whether the Service has a port of that number.
func (b Backend) HasPort(n int32) bool { return slices.Contains(b.Ports, n) }

// Trouble says why nobody answers behind the Service, as far as the cluster's
// own records tell; it is empty if somebody may.
func (b Backend) Trouble(s Service) string {
	switch {
	case !b.Exists:
		return "Service " + s.ID() + " does not exist"
	case b.External != "":
		return ""
	case !b.HasPort(s.Port):
		return "Service " + s.ID() + " has no port " + itoa(s.Port)
	case b.Ready > 0:
		return ""
	case b.NotReady > 0:
		return "Service " + s.ID() + " has no ready endpoint, and " + itoa(int32(b.NotReady)) + " that are not"
	}
	return "Service " + s.ID() + " has no endpoints"
}

// Backends are the Services that webhooks are called by, by namespace/name.
var Backends = &collectors.Fact[map[string]Backend]{
	ID:      "webhooks.backends",
	Doc:     "the Services behind admission and conversion webhooks and behind APIServices, and how many endpoints each has",
	Needs:   []collectors.Any{Configured, Conversions, Extensions},
	Targets: collectors.Single(All),
	Ask: func(s *collectors.Snapshot, _ collectors.Target) []collectors.Request {
		return askBackends(services(s))
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[map[string]Backend] {
		out := map[string]Backend{}
		for _, x := range services(s) {
			out[x.ID()] = Backend{}
		}
		return collectors.Folder[map[string]Backend]{
			Add:  func(_ int, o objects.Object) { addBackend(out, o) },
			Done: func([]collectors.Answered) (map[string]Backend, error) { return out, nil },
		}
	},
}

// services lists those of webhooks and APIServices, each once.
func services(s *collectors.Snapshot) []Service {
	by := map[string]Service{}
	hs, _ := Configured.One(s)
	for _, h := range hs {
		by[h.Service.ID()] = h.Service
	}
	cs, _ := Conversions.One(s)
	for _, c := range cs.By {
		by[c.Service.ID()] = c.Service
	}
	es, _ := Extensions.One(s)
	for _, e := range es {
		by[e.Service.ID()] = e.Service
	}
	var out []Service
	for _, id := range slices.Sorted(maps.Keys(by)) {
		if by[id].Name != "" {
			out = append(out, by[id])
		}
	}
	return out
}

// maxNames bounds the names in one selector: a URL has to fit what proxies let
// through, 8 KiB.
const maxNames = 60

// askBackends asks for no more than what is wanted, in few requests: one a
// namespace for the Services, and all endpoints together.
func askBackends(ss []Service) []collectors.Request {
	var out []collectors.Request
	in := map[string][]string{}
	names := map[string]bool{}
	for _, s := range ss {
		in[s.Namespace] = append(in[s.Namespace], s.Name)
		names[s.Name] = true
	}
	for _, ns := range slices.Sorted(maps.Keys(in)) {
		path := "/api/v1/namespaces/" + url.PathEscape(ns) + "/services"
		if len(in[ns]) == 1 {
			path += "?fieldSelector=" + url.QueryEscape("metadata.name="+in[ns][0])
		}
		out = append(out, list(path))
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(names)), maxNames) {
		out = append(out, list("/apis/discovery.k8s.io/v1/endpointslices?labelSelector="+
			url.QueryEscape(discoveryv1.LabelServiceName+" in ("+strings.Join(some, ",")+")")))
	}
	return out
}

func addBackend(by map[string]Backend, o objects.Object) {
	name := o.GetName()
	if e, ok := o.(*discoveryv1.EndpointSlice); ok {
		name = e.Labels[discoveryv1.LabelServiceName]
	}
	id := o.GetNamespace() + "/" + name
	b, wanted := by[id]
	if !wanted {
		return
	}
	switch o := o.(type) {
	case *corev1.Service:
		b.Exists = true
		if o.Spec.Type == corev1.ServiceTypeExternalName {
			b.External = o.Spec.ExternalName
		}
		for _, p := range o.Spec.Ports {
			b.Ports = append(b.Ports, p.Port)
			if b.names == nil {
				b.names = map[int32]string{}
			}
			b.names[p.Port] = strings.Clone(p.Name)
		}
		b.Selects = maps.Clone(o.Spec.Selector)
	case *discoveryv1.EndpointSlice:
		for _, p := range o.Ports {
			if p.Port != nil && len(b.slice) < maxPods*maxPods {
				x := port{number: *p.Port}
				if p.Name != nil {
					x.name = strings.Clone(*p.Name)
				}
				b.slice = append(b.slice, x)
			}
		}
		for _, e := range o.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				b.Ready += len(e.Addresses)
				if r := e.TargetRef; r != nil && r.Kind == "Pod" && len(b.Pods) < maxPods {
					p := Pod{Name: strings.Clone(r.Name)}
					if e.NodeName != nil {
						p.Node = strings.Clone(*e.NodeName)
					}
					b.Pods = append(b.Pods, p)
				}
			} else {
				b.NotReady += len(e.Addresses)
			}
		}
	}
	by[id] = b
}
