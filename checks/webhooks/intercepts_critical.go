package webhooks

import (
	_ "embed"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed intercepts_critical.md
var interceptsCriticalDoc string

// InterceptsCritical looks for webhooks that the control plane itself has to
// pass.
var InterceptsCritical = &checks.Check{
	ID:        "webhook-intercepts-critical",
	Component: collectors.Webhooks,
	Title:     "the control plane does not depend on webhooks",
	Doc:       interceptsCriticalDoc,
	Needs:     configNeeds,
	Remedies: []checks.Remedy{
		{Title: "see what it takes in and from which namespaces", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
		{Title: "name the resources that it is about, and leave kube-system and kube-node-lease out of it", Command: "kubectl edit {ns} {obj}", Risk: checks.Disruptive},
	},
	Run: interceptsCritical,
}

// heartbeats are writes by which the control plane and the kubelets say that
// they are alive: what refuses them takes the cluster down.
var heartbeats = []struct {
	group, resource string
	in              func(webhooks.Range) bool // of namespaced resources
	words           string
}{
	{"coordination.k8s.io", "leases", func(r webhooks.Range) bool { return r.System }, "the leases of leader elections"},
	{"coordination.k8s.io", "leases", func(r webhooks.Range) bool { return r.Leases }, "the leases of nodes"},
	{"", "nodes/status", nil, "the status of nodes"},
	{"", "nodes", nil, "nodes"},
	{"", "events", func(r webhooks.Range) bool { return r.System }, "events"},
	{"", "pods", func(r webhooks.Range) bool { return r.System }, "pods in kube-system"},
}

func interceptsCritical(p *checks.Pass) {
	_, reachGap := checks.One(p, webhooks.Reach)
	for c := range each(p) {
		t := c.target()
		var what []string
		closed, unsure := false, false
		for _, h := range c {
			if !h.Closed {
				continue
			}
			closed = true
			if h.OptIn() {
				continue // none of these objects asks for it
			}
			for _, b := range heartbeats {
				if !h.Takes(b.group, b.resource, admissionv1.Create, admissionv1.Update) {
					continue
				}
				switch {
				case b.in == nil || h.reach != nil && b.in(*h.reach):
					what = append(what, b.words)
				case h.reach == nil:
					unsure = true
				}
			}
		}
		switch {
		case len(what) > 0:
			p.Info(t, "%s have to pass it, and are refused if it cannot be called", strings.Join(unique(what), ", ")).
				Saw(webhooks.Configured, "takes in", strings.Join(unique(what), ", "), "", "good practice: name resources, leave system namespaces out")
		case !closed:
			p.Nothing(t, "refuses no request if it cannot be called (failurePolicy Ignore)")
		case unsure:
			p.Unknown(t, reachGap)
		default:
			p.OK(t, "no write of the control plane itself has to pass it")
		}
	}
}

func unique(in []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range in {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
