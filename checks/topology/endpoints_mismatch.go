package topology

import (
	_ "embed"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed endpoints_mismatch.md
var endpointsMismatchDoc string

// EndpointsMismatch compares the Service kubernetes with the API servers' pods.
var EndpointsMismatch = &checks.Check{
	ID:        "ha-endpoints-mismatch",
	Component: collectors.Topology,
	Title:     "the Service kubernetes leads to the API servers that there are",
	Doc:       endpointsMismatchDoc,
	Needs:     []collectors.Any{apiserver.Instances, cluster.Instances},
	Remedies: []checks.Remedy{
		{Title: "see where it leads", Command: "kubectl get endpointslices -n default -l kubernetes.io/service-name=kubernetes -o wide", Risk: checks.ReadOnly},
		{Title: "see how the API servers put themselves there: lease, unless told otherwise", Command: "kubectl -n kube-system get pods -l component=kube-apiserver -o yaml | grep -E 'endpoint-reconciler-type|apiserver-count|advertise-address'", Risk: checks.ReadOnly},
	},
	Run: endpointsMismatch,
}

func endpointsMismatch(p *checks.Pass) {
	t := target("service-kubernetes")
	f, gap := checks.One(p, apiserver.Instances)
	if gap == nil && f.Hidden != nil {
		gap = f.Hidden
	}
	if gap == nil {
		gap = f.Why
	}
	_, podGap := checks.One(p, cluster.Instances)
	withPods := 0
	var stale, left []string
	for _, i := range f.Known {
		switch {
		case i.Pod.Pod != "":
			withPods++
			if !i.Listed && i.Pod.Ready {
				left = append(left, i.Name)
			}
		case i.Listed:
			stale = append(stale, i.Address())
		}
	}
	switch {
	case gap != nil:
		p.Unknown(t, gap)
	case podGap != nil:
		p.Unknown(t, podGap)
	case withPods == 0:
		p.Nothing(t, "no API server runs as a pod with which to compare")
	case f.Listed == 0:
		p.Critical(t, "it leads to no API server, of %s: pods cannot reach the API", checks.Count(withPods, "pod")).
			Saw(apiserver.Instances, "endpoints", "0", itoa(withPods), "").Mark("empty")
	case len(stale) > 0:
		p.Warn(t, "it leads to %s, where no API server's pod is: connections there fail", strings.Join(stale, ", ")).
			Saw(apiserver.Instances, "endpoints without a pod", strings.Join(stale, ", "), "", "")
	case len(left) > 0:
		// An API server that cannot write to etcd, or hangs, is gone from here before
		// its kubelet notices: other checks have the cause.
		p.Info(t, "it does not lead to %s, whose pod is ready", strings.Join(left, ", ")).
			Saw(apiserver.Instances, "pods without an endpoint", strings.Join(left, ", "), "", "")
	default:
		p.OK(t, "it leads to %s", checks.Count(f.Listed, "API server")).Saw(apiserver.Instances, "endpoints", itoa(f.Listed), itoa(withPods), "")
	}
}
