package webhooks

import (
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/controllers"
)

// calls is what all instances that can be asked say of their calls.
type calls struct {
	by      map[apiserver.Hook]apiserver.HookTraffic
	elapsed time.Duration   // of the shortest window; zero if one instance has none
	uptime  time.Duration   // of the youngest instance
	gap     *collectors.Gap // why no instance tells
}

func readCalls(p *checks.Pass) calls {
	as, gap := checks.All(p, apiserver.HookCalls)
	out := calls{by: map[apiserver.Hook]apiserver.HookTraffic{}, gap: gap}
	n := 0
	for _, a := range as {
		if a.Gap != nil {
			out.gap = a.Gap
			continue
		}
		if n++; n == 1 || a.Value.Elapsed < out.elapsed {
			out.elapsed = a.Value.Elapsed
		}
		if n == 1 || a.Value.Uptime < out.uptime {
			out.uptime = a.Value.Uptime
		}
		for k, t := range a.Value.By {
			s := out.by[k]
			s.Failed.Window += t.Failed.Window
			s.Failed.Lifetime += t.Failed.Lifetime
			s.Internal.Window += t.Internal.Window
			s.Internal.Lifetime += t.Internal.Lifetime
			s.Denied.Window += t.Denied.Window
			s.Denied.Lifetime += t.Denied.Lifetime
			s.Opened.Window += t.Opened.Window
			s.Opened.Lifetime += t.Opened.Lifetime
			s.Calls = s.Calls.Add(t.Calls)
			out.by[k] = s
		}
	}
	if n > 0 {
		out.gap = nil
	} else if out.gap == nil {
		out.gap = collectors.Gapf(collectors.Absent, "no API server was asked")
	}
	return out
}

// of returns the traffic of one webhook.
func (c calls) of(h hook) apiserver.HookTraffic {
	return c.by[apiserver.Hook{Name: h.Name, Type: h.Type()}]
}

// refusedBy returns the ReplicaSets whose pods are refused because a webhook
// cannot be called.
func refusedBy(p *checks.Pass, h hook) (controllers.Refusal, bool) {
	r, _ := checks.One(p, controllers.Refused)
	i := slices.IndexFunc(r.By, func(x controllers.Refusal) bool { return x.By == controllers.ByWebhookCall && x.Name == h.Name })
	if i < 0 {
		return controllers.Refusal{}, false
	}
	return r.By[i], true
}

// span says over what time calls were counted.
func (c calls) span() string {
	if c.elapsed > 0 {
		return "in " + checks.Span(c.elapsed)
	}
	return "since the API server started"
}
