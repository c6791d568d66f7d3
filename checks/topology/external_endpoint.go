package topology

import (
	_ "embed"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed external_endpoint.md
var externalEndpointDoc string

// ExternalEndpoint looks for API servers that hang on one member of etcd.
var ExternalEndpoint = &checks.Check{
	ID:        "ha-etcd-external-single-endpoint",
	Component: collectors.Topology,
	Title:     "every API server knows more than one member of an external etcd",
	Doc:       externalEndpointDoc,
	Needs:     []collectors.Any{cluster.Instances, etcd.Members},
	Remedies: []checks.Remedy{
		{Title: "see what they were told", Command: "kubectl -n kube-system get pods -l component=kube-apiserver -o yaml | grep -- --etcd-servers=", Risk: checks.ReadOnly},
	},
	Run: externalEndpoint,
}

func externalEndpoint(p *checks.Pass) {
	by, ok := pods(p, target("etcd-servers"))
	if !ok {
		return
	}
	if len(by[cluster.RoleAPIServer]) == 0 {
		p.Nothing(target("etcd-servers"), "no API server runs as a pod")
		return
	}
	m, gap := checks.One(p, etcd.Members)
	for _, i := range by[cluster.RoleAPIServer] {
		t := collectors.Target{Component: collectors.Topology, Name: "etcd-servers/" + i.Name(), Node: i.Node}
		servers := i.Flag("etcd-servers", "")
		n := strings.Count(servers, ",") + 1
		switch {
		case servers == "":
			p.Nothing(t, "its command line names no etcd")
		case strings.Contains(servers, "//127.0.0.1:") || strings.Contains(servers, "//localhost:") || i.HostIP != "" && strings.Contains(servers, "//"+i.HostIP+":"):
			p.OK(t, "it uses the member of its own node, with which it stands and falls")
		case n > 1:
			p.OK(t, "it knows %d endpoints of etcd", n).Saw(cluster.Instances, "etcd-servers", servers, "", "")
		case gap != nil:
			p.Unknown(t, gap)
		case len(m.Members) > 1:
			p.Warn(t, "it knows one of %s of etcd, and stands still without it", checks.Count(len(m.Members), "member")).
				Saw(cluster.Instances, "etcd-servers", servers, "all members", "etcd documentation, client design")
		default:
			p.OK(t, "it knows the only member of etcd")
		}
	}
}
