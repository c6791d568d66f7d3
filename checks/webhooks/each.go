package webhooks

import (
	"iter"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

// A configuration is the webhooks of one configuration, with what is known of
// each.
type configuration []hook

type hook struct {
	webhooks.Hook
	reach *webhooks.Range // nil if the namespaces are not known
	all   int             // namespaces
}

// target is the configuration as a thing that is judged.
func (c configuration) target() collectors.Target { return c[0].Target() }

// each yields the configurations. It reports that there are none, or that it
// is not known whether there are.
func each(p *checks.Pass) iter.Seq[configuration] {
	return func(yield func(configuration) bool) {
		hs, gap := checks.One(p, webhooks.Configured)
		if gap != nil {
			p.Unknown(webhooks.All, gap)
			return
		}
		if len(hs) == 0 {
			p.Nothing(webhooks.All, "no admission webhook is configured")
			return
		}
		reaches, gap := checks.One(p, webhooks.Reach)
		var c configuration
		for i, h := range hs {
			x := hook{Hook: h, all: reaches.All}
			if gap == nil && i < len(reaches.Of) {
				x.reach = &reaches.Of[i]
			}
			c = append(c, x)
			if i+1 == len(hs) || !hs[i+1].Target().Is(h.Target()) {
				if !yield(c) {
					return
				}
				c = nil
			}
		}
	}
}

// configNeeds are the facts that each reads.
var configNeeds = []collectors.Any{webhooks.Configured, webhooks.Reach}

// definitions are the CustomResourceDefinitions. Where there is no verdict on
// any, it says so, and returns false.
func definitions(p *checks.Pass) (webhooks.Definitions, bool) {
	d, gap := checks.One(p, webhooks.Defined)
	switch {
	case gap != nil:
		p.Unknown(webhooks.All, gap)
	case d.All == 0:
		p.Nothing(webhooks.All, "there is no CustomResourceDefinition")
	default:
		return d, true
	}
	return d, false
}

// extensions are the groups that other API servers serve, likewise.
func extensions(p *checks.Pass) ([]webhooks.Extension, bool) {
	es, gap := checks.One(p, webhooks.Extensions)
	switch {
	case gap != nil:
		p.Unknown(webhooks.All, gap)
	case len(es) == 0:
		p.Nothing(webhooks.All, "the API server serves every group itself")
	default:
		return es, true
	}
	return nil, false
}

// definition and extension are the targets of what is called so.
func definition(name string) collectors.Target {
	return collectors.Target{Component: collectors.Webhooks, Name: "customresourcedefinition/" + name}
}

func extension(name string) collectors.Target {
	return collectors.Target{Component: collectors.Webhooks, Name: "apiservice/" + name}
}
