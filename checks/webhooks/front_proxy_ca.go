package webhooks

import (
	_ "embed"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/inventory"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed front_proxy_ca.md
var frontProxyCADoc string

// FrontProxyCA looks for extension API servers that do not accept the API server.
var FrontProxyCA = &checks.Check{
	ID:        "front-proxy-ca-broken",
	Component: collectors.Webhooks,
	Title:     "extension API servers know the API server by the front proxy's CA",
	Doc:       frontProxyCADoc,
	Needs:     []collectors.Any{webhooks.Extensions, inventory.Trusted},
	Remedies: []checks.Remedy{
		{Title: "see the CA that extensions are told to trust", Command: "kubectl -n kube-system get configmap extension-apiserver-authentication -o jsonpath='{.data.requestheader-client-ca-file}' | openssl x509 -noout -subject -dates", Risk: checks.ReadOnly},
		{Title: "on a control-plane node, see whether the client certificate is of that CA", Command: "openssl verify -CAfile /etc/kubernetes/pki/front-proxy-ca.crt /etc/kubernetes/pki/front-proxy-client.crt", Risk: checks.ReadOnly},
	},
	Run: frontProxyCA,
}

func frontProxyCA(p *checks.Pass) {
	t := collectors.Target{Component: collectors.Webhooks, Name: "front-proxy"}
	es, gap := checks.One(p, webhooks.Extensions)
	if gap != nil {
		p.Unknown(t, gap)
		return
	}
	if len(es) == 0 {
		p.Nothing(t, "the API server serves every group itself")
		return
	}
	tr, gap := checks.One(p, inventory.Trusted)
	var refused []string
	for _, e := range es {
		if e.Known && !e.Available && (strings.Contains(e.Message, ": 401") || strings.Contains(e.Message, "Unauthorized")) {
			refused = append(refused, e.GroupVersion())
		}
	}
	groups := checks.Count(len(es), "extension API group")
	switch {
	case gap != nil:
		p.Unknown(t, gap)
	case tr.Front.Broken != "":
		p.Critical(t, "the front proxy's CA is of no use, %s: %s cannot be served", tr.Front.Broken, groups).Mark("refused=front-proxy")
	case tr.Front.Expired(p.Now()):
		p.Critical(t, "the front proxy's CA expired %s ago: %s cannot be served", checks.Span(tr.Front.Until.Sub(p.Now())), groups).
			Saw(inventory.Trusted, "requestheader-client-ca-file until", tr.Front.Until.UTC().String(), "", "").Mark("refused=front-proxy")
	case tr.Front.Empty():
		p.Warn(t, "the API server names no front proxy's CA: extensions cannot know whom it passes on (%s)", groups)
	case len(refused) == len(es):
		p.Warn(t, "every extension API server refuses the API server as unauthorized: %s", checks.List(refused, 3)).
			Saw(webhooks.Extensions, "refused", strings.Join(refused, ", "), "", "").Mark("refused=front-proxy")
	default:
		p.OK(t, "the front proxy's CA is valid for %s, for %s", checks.Span(tr.Front.Until.Sub(p.Now())), groups).
			Saw(inventory.Trusted, "requestheader-client-ca-file until", tr.Front.Until.UTC().String(), "", "")
	}
}
