package webhooks

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed timeout_sum.md
var timeoutSumDoc string

// TimeoutSum adds up how long webhooks of the same request may hang.
var TimeoutSum = &checks.Check{
	ID:        "webhook-timeout-sum",
	Component: collectors.Webhooks,
	Title:     "webhooks that hang leave a request time to be served",
	Doc:       timeoutSumDoc,
	Needs:     configNeeds,
	Remedies: []checks.Remedy{
		{Title: "see which webhooks there are, in the order in which they are called, with their timeouts", Command: "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o custom-columns=NAME:.metadata.name,TIMEOUTS:.webhooks[*].timeoutSeconds", Risk: checks.ReadOnly},
		{Title: "lower the timeouts of those that take in the same resources", Command: "kubectl edit {ns} {obj}", Risk: checks.Disruptive},
	},
	Run: timeoutSum,
}

// requestLimit is how long the API server works on a write at most. Source:
// k8s.io/apiserver, endpoints/handlers/rest.go, requestTimeoutUpperBound.
const requestLimit = 34 * time.Second

// writesOf are requests that everything hangs on, and that are worth a word.
var writesOf = []struct{ group, resource string }{
	{"", "pods"}, {"coordination.k8s.io", "leases"}, {"", "nodes"}, {"", "nodes/status"}, {"", "namespaces"}, {"apps", "deployments"}, {"apps", "replicasets"}, {"", "services"}, {"", "configmaps"}, {"", "secrets"},
}

// timeoutSum adds up timeouts as the API server spends them: mutating webhooks are
// called one after the other, validating ones then all at once.
func timeoutSum(p *checks.Pass) {
	type sum struct {
		resource string
		takes    time.Duration
		by       []hook
	}
	var sums []sum
	seen := false
	for _, w := range writesOf {
		x := sum{resource: w.resource}
		var validating time.Duration
		for c := range each(p) {
			seen = true
			for _, h := range c {
				if !h.Takes(w.group, w.resource, admissionv1.Create, admissionv1.Update) || h.OptIn() || h.reach != nil && h.reach.Namespaces == 0 {
					continue
				}
				if h.Kind == webhooks.Mutating {
					x.takes += h.Wait
				} else {
					validating = max(validating, h.Wait)
				}
				x.by = append(x.by, h)
			}
		}
		if !seen {
			return // each has said why
		}
		x.takes += validating
		sums = append(sums, x)
	}
	worst := slices.MaxFunc(sums, func(a, b sum) int { return cmp.Compare(a.takes, b.takes) })
	if len(worst.by) == 0 {
		p.Nothing(webhooks.All, "no webhook takes in what everything hangs on")
		return
	}
	var names []string
	for _, h := range worst.by {
		names = append(names, fmt.Sprintf("%s %s", h.Name, checks.Span(h.Wait)))
	}
	words := "webhooks of %s may hang for %s in all, of the %s that a request has"
	s := checks.OK
	if worst.takes >= requestLimit {
		s = checks.Info
		words += ": even where they are to be passed over (failurePolicy Ignore) it fails"
	}
	p.Judge(webhooks.All, s, words, worst.resource, checks.Span(worst.takes), checks.Span(requestLimit)).
		Saw(webhooks.Configured, "timeouts", strings.Join(names, ", "), checks.Span(requestLimit), "k8s.io/apiserver endpoints/handlers/rest.go requestTimeoutUpperBound")
}
