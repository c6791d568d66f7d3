package remediate

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

// The kinds that change objects of Kubernetes.
const (
	OpenHook         Kind = "webhook.open"
	RemoveAPIService Kind = "apiservice.remove"
)

// The arguments of these actions.
const (
	ArgHook    = "hook"    // the webhook's name in its configuration
	ArgService = "service" // namespace/name of the Service behind it
	ArgSaved   = "saved"   // the file that the object is saved to before
)

// deadFor is how long nobody must have been behind a Service: a Deployment of
// one replica that is rolled over is back in less.
const deadFor = time.Minute

// kubeFacts are what plans for objects are made from, and guards judge by.
func kubeFacts() []collectors.Any {
	return []collectors.Any{cluster.UID, cluster.Halted, webhooks.Configured, webhooks.Extensions, webhooks.Backends}
}

// ReadKubeState tells the state that a plan for objects depends on.
func ReadKubeState(s *collectors.Snapshot) (State, error) {
	uid, gap := cluster.UID.One(s)
	if gap != nil {
		return State{}, gap
	}
	return State{ClusterID: uid, Kubernetes: true}, nil
}

// WebhookOpen lets requests pass that a dead webhook refuses.
var WebhookOpen = Recipe{
	ID:    "webhook-open",
	Title: "let requests pass that a webhook refuses because nobody is behind it",
	Doc: `Sets failurePolicy of a webhook to Ignore, if it is Fail and its Service has had no
endpoint for a minute. Until it is put back, objects are admitted without what
the webhook checks or changes. The configuration is saved to a file first.`,
	Kube: true,
	plan: planWebhookOpen,
}

func planWebhookOpen(p *planner) error {
	hs, gap := webhooks.Configured.One(p.snap)
	bs, bgap := webhooks.Backends.One(p.snap)
	for _, g := range []*collectors.Gap{gap, bgap} {
		if g != nil {
			return &Refusal{fmt.Errorf("the webhooks and who is behind them are not known: %w", g), g.Remedy}
		}
	}
	for _, h := range hs {
		if !h.Closed || !p.wanted(h.Target().Name) {
			continue
		}
		if dead, why := isDead(bs, h.Service); !dead {
			if len(p.Options.Objects) > 0 {
				p.note("%s: webhook %s is left alone: %s", h.Target().Name, h.Name, why)
			}
			continue
		}
		_, why := isDead(bs, h.Service)
		saved := p.saved(h.Kind, h.Config)
		p.add(Step{
			Action: Action{Kind: OpenHook, Target: h.Target(), Args: map[string]string{
				ArgHook: h.Name, ArgService: h.Service.ID(), ArgSaved: saved, ArgNotBefore: p.Created.Add(deadFor).Format(time.RFC3339Nano),
			}},
			Why:    fmt.Sprintf("webhook %s refuses every request that it takes in: %s", h.Name, why),
			Effect: "what it refused is admitted without it, as long as nobody is behind it and after: put the policy back when it works",
			Manual: "kubectl edit " + strings.Replace(h.Target().Name, "/", " ", 1) + "   # failurePolicy: Ignore",
			Undo:   "kubectl replace -f " + saved,
		})
	}
	if len(p.Steps) == 0 {
		p.note("no webhook with failurePolicy Fail is without anybody behind it")
	}
	return nil
}

// APIServiceRemove takes a dead extension of the API away.
var APIServiceRemove = Recipe{
	ID:    "apiservice-remove",
	Title: "remove an APIService behind which nobody is, so that namespaces can be deleted again",
	Doc: `Deletes an APIService that the API server calls unavailable and whose Service has
had no endpoint for a minute. Discovery, garbage collection and the deletion of
namespaces wait for such a one. The object is saved to a file first.`,
	Kube: true,
	plan: planAPIServiceRemove,
}

func planAPIServiceRemove(p *planner) error {
	es, gap := webhooks.Extensions.One(p.snap)
	bs, bgap := webhooks.Backends.One(p.snap)
	for _, g := range []*collectors.Gap{gap, bgap} {
		if g != nil {
			return &Refusal{fmt.Errorf("the APIServices and who is behind them are not known: %w", g), g.Remedy}
		}
	}
	for _, e := range es {
		if !p.wanted("apiservice/" + e.Name) {
			continue
		}
		dead, why := isDead(bs, e.Service)
		if !dead || !e.Known || e.Available {
			if len(p.Options.Objects) > 0 {
				p.note("apiservice/%s is left alone: it is available, or %s", e.Name, why)
			}
			continue
		}
		saved := p.saved("apiservice", e.Name)
		p.add(Step{
			Action: Action{Kind: RemoveAPIService, Target: collectors.Target{Component: collectors.Webhooks, Name: "apiservice/" + e.Name}, Args: map[string]string{
				ArgService: e.Service.ID(), ArgSaved: saved, ArgNotBefore: p.Created.Add(deadFor).Format(time.RFC3339Nano),
			}},
			Why:    fmt.Sprintf("it is unavailable (%s): %s", e.Reason, why),
			Effect: e.GroupVersion() + " is not served, as it is not now, and no longer missed by discovery; its objects stay where its server keeps them",
			Manual: "kubectl delete apiservice " + e.Name,
			Undo:   "kubectl create -f " + saved,
		})
	}
	if len(p.Steps) == 0 {
		p.note("no APIService that is unavailable is without anybody behind it")
	}
	return nil
}

// wanted reports whether the operator wants an object to be looked at.
func (p *planner) wanted(object string) bool {
	return len(p.Options.Objects) == 0 || slices.Contains(p.Options.Objects, object)
}

// saved is the file that an object goes to before it is changed.
func (p *planner) saved(kind, name string) string {
	return path.Join(p.Options.SaveTo, fmt.Sprintf("%s-%s-%s.json", kind, strings.ReplaceAll(name, "/", "_"), p.Created.Format("20060102T150405Z")))
}

// isDead reports whether the cluster's own records show that nobody is behind a
// Service. Of what is found by URL, or stands for a name outside, they show nothing.
func isDead(bs map[string]webhooks.Backend, s webhooks.Service) (dead bool, why string) {
	b, ok := bs[s.ID()]
	switch {
	case s.Name == "":
		return false, "it is found by a URL, and whether anybody is there the cluster does not know"
	case !ok:
		return false, "its Service is not known"
	case b.External != "":
		return false, "its Service stands for " + b.External + ", and whether anybody is there the cluster does not know"
	}
	if t := b.Trouble(s); t != "" {
		return true, t
	}
	return false, fmt.Sprintf("Service %s has %s", s.ID(), checks.Count(b.Ready, "ready endpoint"))
}

// kubeGuards are the guards and clears of a step that changes an object.
func (g *gate) kubeGuards(a Action) (guards, clears []*checks.Check) {
	guards = []*checks.Check{g.sameCluster(), g.kubeHalt(), g.window(0), g.dead(a)}
	return guards, []*checks.Check{g.sameCluster(), g.changed(a)}
}

func (g *gate) sameCluster() *checks.Check {
	return guard("cure-cluster", "the cluster is that of the plan", func(p *checks.Pass) {
		switch uid, gap := checks.One(p, cluster.UID); {
		case gap != nil:
			p.Unknown(cluster.Self, gap)
		case uid != g.plan.State.ClusterID:
			p.Warn(cluster.Self, "this is cluster %s, the plan is for %s", uid, g.plan.State.ClusterID)
		default:
			p.OK(cluster.Self, "is %s", uid)
		}
	}, cluster.UID)
}

func (g *gate) kubeHalt() *checks.Check {
	return guard("cure-halt", "no operator forbids cures", func(p *checks.Pass) {
		switch h, gap := checks.One(p, cluster.Halted); {
		case gap != nil:
			p.Unknown(cluster.Self, gap)
		case h.On:
			p.Warn(cluster.Self, "the ConfigMap kube-system/%s forbids cures", cluster.HaltName)
		default:
			p.OK(cluster.Self, "the ConfigMap kube-system/%s is not there", cluster.HaltName)
		}
	}, cluster.Halted)
}

// dead demands the proof that nobody is behind the object, which must be the one
// that was planned for.
func (g *gate) dead(a Action) *checks.Check {
	return guard("cure-backend-dead", "nobody is behind it", func(p *checks.Pass) {
		hs, gap := checks.One(p, webhooks.Configured)
		es, egap := checks.One(p, webhooks.Extensions)
		bs, bgap := checks.One(p, webhooks.Backends)
		for _, g := range []*collectors.Gap{gap, egap, bgap} {
			if g != nil {
				p.Unknown(a.Target, g)
				return
			}
		}
		var service webhooks.Service
		found := false
		for _, h := range hs {
			if a.Kind == OpenHook && h.Target().Is(a.Target) && h.Name == a.Args[ArgHook] {
				service, found = h.Service, true
			}
		}
		for _, e := range es {
			if a.Kind == RemoveAPIService && "apiservice/"+e.Name == a.Target.Name {
				service, found = e.Service, true
				if !e.Known || e.Available {
					p.Warn(a.Target, "is available")
					return
				}
			}
		}
		dead, why := isDead(bs, service)
		switch {
		case !found:
			p.Warn(a.Target, "is not there any more")
		case service.ID() != a.Args[ArgService]:
			p.Warn(a.Target, "calls Service %s, not %s as when the plan was made", service.ID(), a.Args[ArgService])
		case !dead:
			p.Warn(a.Target, "somebody may answer: %s", why)
		default:
			p.OK(a.Target, "%s", why)
		}
	}, webhooks.Configured, webhooks.Extensions, webhooks.Backends)
}

// changed demands that the object is as it was to become.
func (g *gate) changed(a Action) *checks.Check {
	return guard("cure-changed", "the object is as it was to become", func(p *checks.Pass) {
		hs, gap := checks.One(p, webhooks.Configured)
		es, egap := checks.One(p, webhooks.Extensions)
		for _, g := range []*collectors.Gap{gap, egap} {
			if g != nil {
				p.Unknown(a.Target, g)
				return
			}
		}
		for _, h := range hs {
			if a.Kind == OpenHook && h.Target().Is(a.Target) && h.Name == a.Args[ArgHook] && h.Closed {
				p.Warn(a.Target, "webhook %s still has failurePolicy Fail", h.Name)
				return
			}
		}
		for _, e := range es {
			if a.Kind == RemoveAPIService && "apiservice/"+e.Name == a.Target.Name {
				p.Warn(a.Target, "is still there, or was made again by its owner")
				return
			}
		}
		p.OK(a.Target, "is as it was to become")
	}, webhooks.Configured, webhooks.Extensions)
}
