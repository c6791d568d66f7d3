package apiserver

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed readyz_check_failing.md
var readyzCheckFailingDoc string

// ReadyzCheckFailing looks for instances that say of themselves that they are
// not ready, which takes them out of a load balancer's rotation.
var ReadyzCheckFailing = &checks.Check{
	ID:        "apiserver-readyz-check-failing",
	Component: collectors.APIServer,
	Title:     "every API server is ready",
	Doc:       readyzCheckFailingDoc,
	Needs:     []collectors.Any{apiserver.Readyz, apiserver.Instances, apiserver.Processes, cluster.Version},
	Remedies: []checks.Remedy{
		{Title: "see which check fails; etcd and etcd-readiness lead to etcd, shutdown passes", Command: "kubectl get --raw '/readyz?verbose'", Risk: checks.ReadOnly},
		{Title: "read the reason, which the endpoint withholds", Command: "kubectl -n kube-system logs -l component=kube-apiserver --tail=-1 | grep 'check failed'", Risk: checks.ReadOnly},
	},
	Run: readyzCheckFailing,
}

// starting is how long an instance may take until its caches and hooks are
// ready. kubeadm's startup probe allows 4 minutes; half of that is far beyond
// what a healthy instance takes. Source: kubeadm, static pod manifests.
const starting = 2 * time.Minute

func readyzCheckFailing(p *checks.Pass) {
	fleet, _ := checks.One(p, apiserver.Instances)
	answers, _ := checks.All(p, apiserver.Readyz)
	failing := 0
	for _, a := range answers {
		if a.Gap == nil && !a.Value.OK {
			failing++
		}
	}
	// Of instances that are hidden or were not asked nothing is known.
	all := failing == len(answers) && len(answers) >= len(fleet.Known) && len(fleet.Known) > 0
	for t, h := range eachHealth(p, apiserver.Readyz) {
		n := len(h.Passed) + len(h.Failed)
		status, note := checks.Warning, ""
		process, _ := checks.Of(p, apiserver.Processes, t)
		switch {
		case h.OK:
			p.OK(t, "ready: %s", passing(h)).Number("failed", 0)
			continue
		case h.Only("shutdown"):
			p.Warn(t, "is shutting down, and takes no new requests after that").Mark("check=shutdown").
				Saw(apiserver.Readyz, "failed", "shutdown", "none", "kube-apiserver: /readyz")
			continue
		case process.Uptime > 0 && process.Uptime < starting:
			note = ", " + checks.Span(process.Uptime) + " after its start"
		case all:
			status = checks.Critical
		case t.Name == "" && len(fleet.Known) != 1:
			note = ", at the instance that answered"
		}
		if all && len(answers) > 1 && status == checks.Critical {
			note = ", as at every instance"
		}
		v := p.Judge(t, status, "not ready: %s%s", failed(h), note).Number("failed", float64(len(h.Failed))).
			Saw(apiserver.Readyz, "failed", checks.List(h.Failed, 10), "none", "kube-apiserver: /readyz").
			Saw(apiserver.Readyz, "passed", checks.Count(len(h.Passed), "check"), "", "")
		for _, f := range h.Failed[:min(n, 10, len(h.Failed))] {
			v.Mark("check=" + f)
		}
	}
}
