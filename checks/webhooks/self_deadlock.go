package webhooks

import (
	_ "embed"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed self_deadlock.md
var selfDeadlockDoc string

// SelfDeadlock looks for webhooks without which their own pods cannot be
// created.
var SelfDeadlock = &checks.Check{
	ID:        "webhook-self-deadlock",
	Component: collectors.Webhooks,
	Title:     "no webhook has to allow the creation of its own pods",
	Doc:       selfDeadlockDoc,
	Needs:     append([]collectors.Any{webhooks.Backends}, configNeeds...),
	Remedies: []checks.Remedy{
		{Title: "see what it takes in and from which namespaces", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
		{Title: "leave its own namespace out of it: namespaceSelector kubernetes.io/metadata.name NotIn", Command: "kubectl edit {ns} {obj}", Risk: checks.Disruptive},
	},
	Run: selfDeadlock,
}

func selfDeadlock(p *checks.Pass) {
	backends, gap := checks.One(p, webhooks.Backends)
	_, reachGap := checks.One(p, webhooks.Reach)
	for c := range each(p) {
		t := c.target()
		var latent, locked *hook
		inside, closed := false, false
		for _, h := range c {
			inside = inside || h.Service.Name != ""
			closed = closed || h.Closed
			if !h.Closed || h.Service.Name == "" || h.reach == nil || !h.reach.Own ||
				!h.Takes("", "pods", admissionv1.Create) || !takesOwn(h, backends[h.Service.ID()]) {
				continue
			}
			latent = &h
			if b := backends[h.Service.ID()]; b.Exists && b.External == "" && b.Ready == 0 {
				locked = &h
			}
		}
		switch {
		case !inside:
			p.Nothing(t, "is called by URL: whether it has pods in this cluster is not told")
		case !closed:
			p.Nothing(t, "refuses no request if it cannot be called (failurePolicy Ignore)")
		case gap != nil:
			p.Unknown(t, gap)
		case reachGap != nil:
			p.Unknown(t, reachGap)
		case locked != nil:
			v := p.Critical(t, "%sit has to allow the creation of pods in its own namespace %s, and none of them is ready", c.name(*locked), locked.Service.Namespace)
			saidAbout(v, *locked)
		case latent != nil:
			v := p.Info(t, "%sit has to allow the creation of pods in its own namespace %s: were all of them gone, none would come back", c.name(*latent), latent.Service.Namespace)
			saidAbout(v, *latent)
		default:
			p.OK(t, "its own pods are created without it")
		}
	}
}

func saidAbout(v *checks.Verdict, h hook) {
	v.Saw(webhooks.Configured, h.Name+" failurePolicy", h.failurePolicy(), "", "").
		Saw(webhooks.Reach, "namespaceSelector selects "+h.Service.Namespace, "true", "", "").Mark("webhook=" + h.Name)
	if h.Conditions > 0 {
		v.Saw(webhooks.Configured, "matchConditions, which may let the pods pass", "set", "", "")
	}
}

// takesOwn reports whether the webhook's own pods have the labels that it
// selects. What the Service selects by is known of them, and nothing else: a
// label that is not among it may be there. One that is wanted and not known to
// be there leaves the matter open, and the webhook is given the benefit of it.
func takesOwn(h hook, b webhooks.Backend) bool {
	return h.Conditions == 0 && h.Objects.Matches(labels.Set(b.Selects))
}
