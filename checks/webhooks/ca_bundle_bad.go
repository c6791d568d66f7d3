package webhooks

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed ca_bundle_bad.md
var caBundleBadDoc string

// CABundleBad looks for webhooks whose certificate the API server cannot accept.
var CABundleBad = &checks.Check{
	ID:        "webhook-cabundle-bad",
	Component: collectors.Webhooks,
	Title:     "every webhook's caBundle is valid, and vouches for its certificate",
	Doc:       caBundleBadDoc,
	Needs:     append([]collectors.Any{controllers.Refused}, configNeeds...),
	Remedies: []checks.Remedy{
		{Title: "see what it trusts", Command: "kubectl get {ns} {obj} -o jsonpath='{.webhooks[0].clientConfig.caBundle}' | base64 -d | openssl x509 -noout -subject -dates", Risk: checks.ReadOnly},
		{Title: "see whether what fills it in is at work: cert-manager's injector, or the operator", Command: "kubectl get pods -A | grep -iE 'cainjector|cert-manager'", Risk: checks.ReadOnly},
		{Title: "if it cannot be mended now, keep a copy and take it away; its policy is then not applied", Command: "kubectl get {ns} {obj} -o yaml > {obj}.yaml && kubectl delete {ns} {obj}", Risk: checks.Disruptive},
	},
	Thresholds: []*checks.Threshold{bundleSoonAt, bundleWarnAt},
	Run:        caBundleBad,
}

const (
	// bundleSoon and bundleWarn are experience; no number is published. Many
	// operators renew what is valid for days only, a day before it ends, so
	// that weeks are advice and hours are trouble.
	bundleSoon = 30 * 24 * time.Hour
	bundleWarn = 12 * time.Hour
)

var (
	bundleSoonAt = checks.NewThreshold("info", checks.InSeconds, checks.Secs(bundleSoon), "that the CA is valid still", "experience; no public source")
	bundleWarnAt = checks.NewThreshold("warn", checks.InSeconds, checks.Secs(bundleWarn), "that the CA is valid still", "experience; no public source")
)

func caBundleBad(p *checks.Pass) {
	for c := range each(p) {
		var worst checks.Status
		var said string
		var bad []hook
		for _, h := range c {
			s, words := bundle(p, h)
			if s.Bad() {
				bad = append(bad, h)
			}
			if s > worst {
				worst, said = s, c.name(h)+words
			}
		}
		v := p.Judge(c.target(), worst, "%s", said)
		for _, h := range c {
			v.Saw(webhooks.Configured, h.Name+" caBundle until", until(h), checks.Span(p.Span(bundleWarnAt)), "experience; no public source")
		}
		for _, h := range bad {
			h.marks(v, h.Vital())
			if r, ok := refusedBy(p, h); ok {
				v.Saw(controllers.Refused, r.Example, r.Message, "", "")
			}
		}
	}
}

func until(h hook) string {
	if h.Bundle.Certs == 0 {
		return "no certificate"
	}
	return h.Bundle.Until.UTC().Format(time.RFC3339)
}

// bundle judges what one webhook's caBundle, and what became of calls, say.
func bundle(p *checks.Pass, h hook) (checks.Status, string) {
	b, i := h.Bundle, h.impact()
	if r, ok := refusedBy(p, h); ok {
		if class, _ := why(r.Message); class == "x509" {
			s := checks.Warning
			if len(h.Vital()) > 0 {
				s = checks.Critical
			}
			return s, fmt.Sprintf("the API server does not accept its certificate (%s): %s not created", x509Error(r.Message), checks.Count(r.Missing, "pod"))
		}
	}
	left := b.Until.Sub(p.Now())
	switch {
	case b.Broken != "":
		return i.status, fmt.Sprintf("its caBundle is of no use, %s: %s", b.Broken, i.words)
	case b.Expired(p.Now()):
		return i.status, fmt.Sprintf("its caBundle expired %s ago: %s", checks.Span(left), i.words)
	case b.Empty() && h.Service.Name != "":
		// Calls fail for certain, unless the API server's host trusts the CA. Where
		// one was seen to fail, that was the first question.
		return checks.Info, fmt.Sprintf("its caBundle is empty, and no public CA vouches for Service %s", h.Service.ID())
	case b.Empty():
		return checks.OK, "it trusts the CAs that the API server's host trusts"
	case b.From.After(p.Now()):
		return min(i.status, checks.Warning), fmt.Sprintf("a certificate of its caBundle is valid only in %s", checks.Span(b.From.Sub(p.Now())))
	case left < p.Span(bundleWarnAt):
		return min(i.status, checks.Warning), fmt.Sprintf("its caBundle expires in %s", checks.Span(left))
	case left < p.Span(bundleSoonAt):
		return checks.Info, fmt.Sprintf("its caBundle expires in %s", checks.Span(left))
	}
	return checks.OK, fmt.Sprintf("its caBundle is valid for %s", checks.Span(left))
}
