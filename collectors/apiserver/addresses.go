package apiserver

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Pool is addresses or ports that Services are given.
type Pool struct {
	Free, Used float64
	Failed     metrics.Growth // times that none could be given
}

// Pools holds the pools of an instance: the ranges of cluster IPs by their CIDR,
// and "node ports".
type Pools map[string]Pool

// NodePorts names the pool of node ports.
const NodePorts = "node ports"

// ServicePools is what is left of the addresses and ports for Services.
var ServicePools = windowFact("apiserver.service-pools", "how many cluster IPs and node ports are left for Services, as each instance counts them",
	func(w metrics.Window) (Pools, error) {
		const ips, ports = "kube_apiserver_clusterip_allocator_", "kube_apiserver_nodeport_allocator_"
		if !w.Has(ips + "available_ips") {
			if minor(w) >= 24 {
				// It is counted by whoever gives an address out or takes one back.
				return nil, collectors.Gapf(collectors.OutOfScope, "it counts what is left when it gives a Service an address, and has given none since it started")
			}
			return nil, absent(w, 24, ips+"available_ips")
		}
		out := Pools{}
		add := func(name, key string, set func(*Pool, float64)) {
			for _, x := range w.Last.Series(name) {
				k := key
				if k == "" {
					k = x.Get("cidr")
				}
				p := out[k]
				set(&p, x.Value)
				out[k] = p
			}
		}
		free, used := func(p *Pool, v float64) { p.Free += v }, func(p *Pool, v float64) { p.Used += v }
		add(ips+"available_ips", "", free)
		add(ips+"allocated_ips", "", used)
		add(ports+"available_ports", NodePorts, free)
		add(ports+"allocated_ports", NodePorts, used)
		for cidr, g := range metrics.Growths(w, ips+"allocation_errors_total", func(x metrics.Series) (string, bool) {
			// A client may ask for an address that is taken; only where the API
			// server chose did it find none.
			return x.Get("cidr"), x.Get("scope") != "static"
		}) {
			p := out[cidr]
			p.Failed = g
			out[cidr] = p
		}
		return out, nil
	},
	metrics.Select{Name: "kube_apiserver_clusterip_allocator_available_ips", By: []string{"cidr"}},
	metrics.Select{Name: "kube_apiserver_clusterip_allocator_allocated_ips", By: []string{"cidr"}},
	metrics.Select{Name: "kube_apiserver_clusterip_allocator_allocation_errors_total", By: []string{"cidr", "scope"}},
	metrics.Select{Name: "kube_apiserver_nodeport_allocator_available_ports"},
	metrics.Select{Name: "kube_apiserver_nodeport_allocator_allocated_ports"})
