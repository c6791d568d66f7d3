package webhooks

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed apiservice_cert.md
var aPIServiceCertDoc string

// APIServiceCert looks at the certificates that extension API servers really show.
var APIServiceCert = &checks.Check{
	ID:        "apiservice-cert",
	Component: collectors.Webhooks,
	Title:     "every extension API server shows a certificate that its APIService vouches for",
	Doc:       aPIServiceCertDoc,
	Needs:     []collectors.Any{webhooks.Extensions, webhooks.Shown, webhooks.Backends},
	Remedies: []checks.Remedy{
		{Title: "see which CA the API server expects of it", Command: "kubectl get {ns} {obj} -o jsonpath='{.spec.caBundle}' | base64 -d | openssl x509 -noout -subject -dates", Risk: checks.ReadOnly},
		{Title: "see which Service it is, and what the API server says", Command: "kubectl get {ns} {obj} -o yaml", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{servingSoonAt, servingLateAt},
	Run:        aPIServiceCert,
}

func aPIServiceCert(p *checks.Pass) {
	es, ok := extensions(p)
	if !ok {
		return
	}
	backends, backendGap := checks.One(p, webhooks.Backends)
	for _, e := range es {
		t := extension(e.Name)
		left := e.Bundle.Until.Sub(p.Now())
		chain, gap := checks.Of(p, webhooks.Shown, e.Service.Door())
		fails := impact{checks.Warning, e.GroupVersion() + " is not served", nil}
		switch trouble := backends[e.Service.ID()].Trouble(e.Service); {
		case e.Insecure:
			p.Info(t, "whoever answers for %s is believed (insecureSkipTLSVerify)", e.GroupVersion()).
				Saw(webhooks.Extensions, "insecureSkipTLSVerify", "true", "false", "good practice: a caBundle")
		case e.Bundle.Broken != "":
			p.Warn(t, "its caBundle is of no use, %s: %s", e.Bundle.Broken, fails.words).Mark("refused=" + e.Name)
		case e.Bundle.Expired(p.Now()):
			p.Warn(t, "its caBundle expired %s ago: %s", checks.Span(left), fails.words).Mark("refused=" + e.Name)
		case backendGap == nil && trouble != "":
			p.Nothing(t, "nobody is there to show a certificate: %s", trouble)
		case gap != nil:
			p.Unknown(t, gap)
		default:
			s, words, refused := shown(p, p.Now(), chain, webhooks.Caller{Service: e.Service, Bundle: e.Bundle}, fails)
			v := sawChain(p, p.Judge(t, s, "%s", words), e.Name, chain)
			if refused {
				v.Mark("refused=" + e.Name)
			}
		}
	}
}
