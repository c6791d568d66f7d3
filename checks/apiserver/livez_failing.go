package apiserver

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed livez_failing.md
var livezFailingDoc string

// LivezFailing looks for instances that fail their liveness checks: the kubelet
// is about to kill them.
var LivezFailing = &checks.Check{
	ID:        "apiserver-livez-failing",
	Component: collectors.APIServer,
	Title:     "every API server passes its liveness checks",
	Doc:       livezFailingDoc,
	Needs:     []collectors.Any{apiserver.Livez, apiserver.Instances, apiserver.Processes, cluster.Version},
	Remedies: []checks.Remedy{
		{Title: "see which check fails", Command: "kubectl get --raw '/livez?verbose'", Risk: checks.ReadOnly},
		{Title: "read the reason, which the endpoint withholds", Command: "kubectl -n kube-system logs -l component=kube-apiserver --tail=-1 | grep 'check failed'", Risk: checks.ReadOnly},
	},
	Run: livezFailing,
}

func livezFailing(p *checks.Pass) {
	fleet, _ := checks.One(p, apiserver.Instances)
	answers, _ := checks.All(p, apiserver.Livez)
	alive := 0
	for _, a := range answers {
		if a.Gap == nil && a.Value.OK {
			alive++
		}
	}
	for t, h := range eachHealth(p, apiserver.Livez) {
		if h.OK {
			p.OK(t, "alive: %s", passing(h)).Number("failed", 0)
			continue
		}
		process, _ := checks.Of(p, apiserver.Processes, t)
		status, note := checks.Critical, "; the kubelet restarts it if that goes on"
		switch {
		case process.Uptime > 0 && process.Uptime < starting:
			status, note = checks.Warning, ", "+checks.Span(process.Uptime)+" after its start"
		case alive > 0 || len(answers) < len(fleet.Known):
			status = checks.Warning // the others go on serving, or nothing is known of them
		}
		v := p.Judge(t, status, "liveness fails: %s%s", failed(h), note).Number("failed", float64(len(h.Failed))).
			Saw(apiserver.Livez, "failed", checks.List(h.Failed, 10), "none", "kube-apiserver: /livez")
		for _, f := range h.Failed[:min(10, len(h.Failed))] {
			v.Mark("check=" + f)
		}
	}
}
