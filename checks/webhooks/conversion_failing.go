package webhooks

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed conversion_failing.md
var conversionFailingDoc string

// ConversionFailing looks for custom resources that cannot be read because
// nobody converts them.
var ConversionFailing = &checks.Check{
	ID:        "conversion-webhook-failing",
	Component: collectors.Webhooks,
	Title:     "custom resources can be read in all their versions",
	Doc:       conversionFailingDoc,
	Needs:     []collectors.Any{webhooks.Conversions, webhooks.Backends, apiserver.Conversions},
	Remedies: []checks.Remedy{
		{Title: "see who is to convert them", Command: "kubectl get {ns} {obj} -o jsonpath='{.spec.conversion}'", Risk: checks.ReadOnly},
		{Title: "see whether the operator that serves the webhook runs", Command: "kubectl get deployments -A | grep -v kube-system", Risk: checks.ReadOnly},
		{Title: "see why the calls fail", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -i 'conversion webhook'", Risk: checks.ReadOnly},
	},
	Run: conversionFailing,
}

// converted is what all instances say of the conversions of one backend.
type converted struct{ failed, failedBefore, done float64 }

func conversionFailing(p *checks.Pass) {
	cs, gap := checks.One(p, webhooks.Conversions)
	if gap != nil {
		p.Unknown(webhooks.All, gap)
		return
	}
	if len(cs.By) == 0 {
		p.Nothing(webhooks.All, "of %s none needs a conversion webhook", checks.Count(cs.All, "CustomResourceDefinition"))
		return
	}
	backends, backendGap := checks.One(p, webhooks.Backends)
	answers, metricsGap := checks.All(p, apiserver.Conversions)
	asked := slices.ContainsFunc(answers, func(a collectors.Answer[apiserver.ConversionTraffic]) bool { return a.Gap == nil })
	for _, c := range cs.By {
		t := definition(c.CRDs[0])
		var trouble string
		switch {
		case c.Bundle.Broken != "":
			trouble = "the caBundle is of no use, " + c.Bundle.Broken
		case c.Bundle.Expired(p.Now()):
			trouble = "the caBundle has expired"
		case c.Service.Name != "" && backendGap == nil:
			trouble = backends[c.Service.ID()].Trouble(c.Service)
		}
		n, failing := conversionsOf(c, answers)
		objects := "objects of " + c.CRDs[0]
		if c.Count > 1 {
			objects = fmt.Sprintf("objects of %s (%s)", checks.Count(c.Count, "CustomResourceDefinition"), checks.List(c.CRDs, 2))
		}
		var v *checks.Verdict
		switch {
		case n.failed > 0:
			v = p.Critical(t, "%s of %s failed%s", checks.Count(n.failed, "conversion"), objects, because(trouble))
		case trouble != "" && n.failedBefore+n.done > 0:
			v = p.Critical(t, "%s can be read only in the version in which they are stored: %s", objects, trouble)
		case trouble != "":
			v = p.Warn(t, "%s can be read only in the version in which they are stored: %s; none was asked for in another since the API servers started", objects, trouble)
		case backendGap != nil && c.Service.Name != "":
			p.Unknown(t, backendGap)
			continue
		case !asked:
			p.Unknown(t, noAnswer(answers, metricsGap))
			continue
		default:
			v = p.OK(t, "no conversion of %s failed, of %.0f since the API servers started", objects, n.done+n.failedBefore)
			if n.failedBefore > 0 {
				v.Summary = fmt.Sprintf("no conversion of %s failed in the window; %.0f did before", objects, n.failedBefore)
			}
		}
		v.Saw(apiserver.Conversions, "failed in the window", fmt.Sprintf("%.0f", n.failed), "0", "").
			Saw(apiserver.Conversions, "failed before", fmt.Sprintf("%.0f", n.failedBefore), "", "").
			Saw(webhooks.Backends, c.Service.ID(), trouble, "", "")
		groups := map[string]bool{}
		for _, crd := range append(slices.Clone(c.CRDs), failing...) {
			resource, group, _ := strings.Cut(crd, ".")
			groups["group="+group] = true
			if n.failed > 0 {
				groups["takes="+resource], groups["takes="+crd] = true, true
			}
		}
		v.Mark(slices.Sorted(maps.Keys(groups))...)
	}
}

func because(trouble string) string {
	if trouble == "" {
		return " in the window"
	}
	return " in the window: " + trouble
}

// conversionsOf adds up what instances say of the definitions of one backend.
func conversionsOf(c webhooks.Converter, answers []collectors.Answer[apiserver.ConversionTraffic]) (n converted, failing []string) {
	for _, a := range answers {
		if a.Gap != nil {
			continue
		}
		for _, crd := range c.CRDs {
			f := a.Value.Failed[crd]
			n.failed += f.Window
			n.failedBefore += f.Lifetime - f.Window
			n.done += a.Value.Done[crd].Lifetime
			if f.Window > 0 {
				failing = append(failing, crd)
			}
		}
	}
	return n, failing
}

// noAnswer is the gap of a fact of which no target answered.
func noAnswer[T any](answers []collectors.Answer[T], gap *collectors.Gap) *collectors.Gap {
	for _, a := range answers {
		if a.Gap != nil {
			return a.Gap
		}
	}
	if gap != nil {
		return gap
	}
	return collectors.Gapf(collectors.Absent, "no API server was asked")
}
