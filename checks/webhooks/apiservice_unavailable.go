package webhooks

import (
	_ "embed"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed apiservice_unavailable.md
var apiServiceUnavailableDoc string

// APIServiceUnavailable looks for groups of the API whose server is gone.
var APIServiceUnavailable = &checks.Check{
	ID:        "apiservice-unavailable",
	Component: collectors.Webhooks,
	Title:     "every group of the API is served",
	Doc:       apiServiceUnavailableDoc,
	Needs:     []collectors.Any{webhooks.Extensions},
	Remedies: []checks.Remedy{
		{Title: "see what the API server says of it, and which Service it is", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
		{Title: "if it is left over from something that was removed, keep a copy and take it away: its objects are gone with it", Command: "kubectl get {ns} {obj} -o yaml > {obj}.yaml && kubectl delete {ns} {obj}", Risk: checks.Disruptive, Recipe: "apiservice-remove"},
	},
	Run: apiServiceUnavailable,
}

// settles is how long a backend may be away before that is trouble: the API
// server looks every few seconds, and a pod that is replaced takes some. Source
// of the wait as such: kubernetes-mixin KubeAggregatedAPIDown, 15 minutes. A
// Service that does not exist does not come back by waiting.
const settles = 30 * time.Second

// definite are the reasons that no replacement of a pod brings about.
var definite = []string{"ServiceNotFound", "ServicePortError"}

func apiServiceUnavailable(p *checks.Pass) {
	es, ok := extensions(p)
	if !ok {
		return
	}
	for _, e := range es {
		t := extension(e.Name)
		age := p.Now().Sub(e.Since)
		var v *checks.Verdict
		switch {
		case !e.Known:
			p.Unknown(t, collectors.Gapf(collectors.Absent, "the API server has not said yet whether it is available"))
			continue
		case e.Available:
			v = p.OK(t, "Service %s answers for %s", e.Service.ID(), e.GroupVersion())
		case age < settles && !slices.Contains(definite, e.Reason):
			v = p.Info(t, "%s has not been served for %s (%s)", e.GroupVersion(), checks.Span(age), e.Reason)
		default:
			v = p.Warn(t, "%s has not been served for %s (%s): namespaces that are deleted cannot finish, and discovery is incomplete%s", e.GroupVersion(), checks.Span(age), e.Reason, besides(e.Group))
		}
		v.Saw(webhooks.Extensions, "Available", e.Message, "", "").Mark("group="+e.Group, "groupversion="+e.GroupVersion(), "service="+e.Service.ID())
	}
}

// besides says what else hangs on a group that everybody has.
func besides(group string) string {
	switch group {
	case "metrics.k8s.io":
		return "; autoscaling by CPU or memory and kubectl top stand still"
	case "custom.metrics.k8s.io", "external.metrics.k8s.io":
		return "; autoscaling by its metrics stands still"
	}
	return ""
}
