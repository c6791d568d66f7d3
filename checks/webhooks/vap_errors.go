package webhooks

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed vap_errors.md
var vapErrorsDoc string

// VAPErrors looks for admission policies whose expressions cannot be evaluated.
var VAPErrors = &checks.Check{
	ID:        "vap-errors",
	Component: collectors.Webhooks,
	Title:     "every expression of an admission policy can be evaluated",
	Doc:       vapErrorsDoc,
	Needs:     []collectors.Any{webhooks.Policies, apiserver.PolicyErrors},
	Remedies: []checks.Remedy{
		{Title: "see the policy, and what the type checker says in its status", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
		{Title: "if it refuses what it should not, let it pass over what it cannot evaluate until it is mended", Command: "kubectl patch {ns} {obj} --type=merge -p '{\"spec\":{\"failurePolicy\":\"Ignore\"}}'", Risk: checks.Disruptive},
	},
	Run: vapErrors,
}

const policyKind = "validatingadmissionpolicy"

func vapErrors(p *checks.Pass) {
	all := collectors.Target{Component: collectors.Webhooks, Name: policyKind}
	ps, gap := checks.One(p, webhooks.Policies)
	errs, errGap, elapsed := policyErrors(p)
	judged := map[string]bool{}
	for _, x := range ps {
		t := collectors.Target{Component: collectors.Webhooks, Name: policyKind + "/" + x.Name}
		g := errs["policy "+x.Name]
		judged["policy "+x.Name] = true
		effect := "it is passed over then (failurePolicy Ignore)"
		if x.Closed {
			effect = "what it takes in is refused then (failurePolicy Fail)"
		}
		switch {
		case g.Window > 0:
			p.Warn(t, "could not be evaluated %.0f times in %s: %s", g.Window, checks.Span(elapsed), effect).
				Saw(apiserver.PolicyErrors, "errors", fmt.Sprintf("%.0f", g.Window), "0", "").
				Saw(webhooks.Policies, "type checker", strings.Join(x.Warnings, "; "), "", "").
				Mark("policy=" + x.Name)
		case len(x.Warnings) > 0:
			p.Info(t, "the type checker finds %s that cannot be right: %s", checks.Count(len(x.Warnings), "expression"), effect).
				Saw(webhooks.Policies, "type checker", strings.Join(x.Warnings, "; "), "", "")
		case errGap != nil:
			p.Unknown(t, errGap)
		default:
			p.OK(t, "evaluated without an error %s; %.0f before", since(elapsed), g.Lifetime-g.Window).
				Saw(apiserver.PolicyErrors, "errors", "0", "0", "")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(errs)) {
		if g := errs[name]; !judged[name] && g.Window > 0 {
			p.Warn(collectors.Target{Component: collectors.Webhooks, Name: name}, "could not be evaluated %.0f times in %s", g.Window, checks.Span(elapsed)).
				Saw(apiserver.PolicyErrors, "errors", fmt.Sprintf("%.0f", g.Window), "0", "")
		}
	}
	switch {
	case gap != nil:
		p.Unknown(all, gap)
	case len(ps) == 0:
		p.Nothing(all, "there is no validating admission policy")
	}
}

func since(d time.Duration) string {
	if d > 0 {
		return "in " + checks.Span(d)
	}
	return "since the API server started"
}

// policyErrors adds up those of all API servers that say.
func policyErrors(p *checks.Pass) (map[string]metrics.Growth, *collectors.Gap, time.Duration) {
	return addTallies(p, apiserver.PolicyErrors)
}

// addTallies adds up what all API servers counted that were asked.
func addTallies(p *checks.Pass, f *collectors.Fact[apiserver.Tally]) (map[string]metrics.Growth, *collectors.Gap, time.Duration) {
	out := map[string]metrics.Growth{}
	as, gap := checks.All(p, f)
	var elapsed time.Duration
	n := 0
	for _, a := range as {
		if a.Gap != nil {
			gap = a.Gap
			continue
		}
		if n++; n == 1 || a.Value.Elapsed < elapsed {
			elapsed = a.Value.Elapsed
		}
		for k, g := range a.Value.By {
			s := out[k]
			s.Window, s.Lifetime = s.Window+g.Window, s.Lifetime+g.Lifetime
			out[k] = s
		}
	}
	switch {
	case n > 0:
		gap = nil
	case gap == nil:
		gap = collectors.Gapf(collectors.Absent, "no API server was asked")
	}
	return out, gap, elapsed
}
