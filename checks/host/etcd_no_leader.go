package host

import (
	_ "embed"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed etcd_no_leader.md
var etcdNoLeaderDoc string

// EtcdNoLeader looks whether the etcd of this node has a leader.
var EtcdNoLeader = &checks.Check{
	ID:        "host-etcd-no-leader",
	Component: collectors.Host,
	Title:     "the etcd of this node has a leader",
	Doc:       etcdNoLeaderDoc,
	Needs:     []collectors.Any{host.Nodes, host.Health},
	Remedies: []checks.Remedy{
		{Title: "see the members", Command: `ETCDCTL_API=3 etcdctl --endpoints https://127.0.0.1:2379 --cacert /etc/kubernetes/pki/etcd/ca.crt --cert /etc/kubernetes/pki/etcd/healthcheck-client.crt --key /etc/kubernetes/pki/etcd/healthcheck-client.key endpoint status --cluster -w table`, Risk: checks.ReadOnly},
		{Title: "if a majority is lost for good, begin anew from one member", Command: `ktriage explain etcd-quorum-lost`, Risk: checks.ReadOnly},
	},
	Run: etcdNoLeader,
}

func etcdNoLeader(p *checks.Pass) {
	n, ok := controlPlane(p)
	if !ok {
		return
	}
	t := roleTarget(p, host.Etcd)
	if len(n.Args(host.Etcd)) == 0 {
		p.Nothing(t, "no etcd is to run here")
		return
	}
	es, gap := checks.One(p, host.Health)
	if gap != nil {
		p.Unknown(t, gap)
		return
	}
	for _, e := range es {
		if e.Role != host.Etcd || !strings.HasSuffix(e.URL, "/health") {
			continue
		}
		others := strings.Count(n.Flag(host.Etcd, "initial-cluster", ""), "=") - 1
		switch {
		case e.Status == 0:
			p.Unknown(t, collectors.Gapf(collectors.Unreachable, "%s: %s", e.URL, e.Failed))
		case e.Status != 200 && strings.Contains(strings.ToUpper(e.Body), "NO LEADER"):
			p.Critical(t, "this member runs and has no leader: too few of the others (%d are configured) can be reached for a majority", max(others, 0)).
				Saw(host.Health, "answer", oneLine(e.Body), "", "etcd's /health").Mark("role=etcd")
		case e.Status != 200:
			p.Unknown(t, collectors.Gapf(collectors.ServerError, "%s answers %d: %s", e.URL, e.Status, oneLine(e.Body)))
		default:
			p.OK(t, "it has a leader").Saw(host.Health, "answer", oneLine(e.Body), "", "")
		}
		return
	}
	p.Nothing(t, "etcd is not asked without --listen-metrics-urls of plain HTTP")
}
