package webhooks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
)

// An impact is what it means that a webhook cannot be called.
type impact struct {
	status checks.Status
	words  string
	takes  []string // the vital resources that are concerned
}

// clusterScoped are the vital resources to which no namespace selector applies.
var clusterScoped = []string{"nodes", "nodes/status", "clusterroles"}

// impact tells it from the configuration alone. It is critical where writes
// are refused without which a cluster does not go on; what only concerns
// objects that ask for it, or what a condition in CEL may let pass, is not.
func (h hook) impact() impact {
	if !h.Closed {
		return impact{checks.Warning, "requests pass without it (failurePolicy Ignore)", nil}
	}
	takes := h.Vital()
	where := ""
	if h.reach != nil {
		if h.reach.Namespaces == 0 {
			takes = slices.DeleteFunc(takes, func(r string) bool { return !slices.Contains(clusterScoped, r) })
			if len(takes) == 0 {
				return impact{checks.Info, "its selector matches no namespace", nil}
			}
		} else if h.reach.Namespaces < h.all {
			where = fmt.Sprintf(" in %d of %s", h.reach.Namespaces, checks.Count(h.all, "namespace"))
		}
	}
	if len(takes) == 0 {
		return impact{checks.Warning, "writes of " + checks.List(h.resources(), 3) + where + " are refused", nil}
	}
	what := checks.List(takes, 3)
	if h.Everything() {
		what = "everything (" + checks.List(takes, 2) + ")"
	}
	switch {
	case h.OptIn():
		return impact{checks.Warning, "writes of " + what + where + " are refused for objects with the labels that it selects", takes}
	case h.Conditions > 0:
		return impact{checks.Warning, "writes of " + what + where + " are refused as far as its match conditions go", takes}
	}
	return impact{checks.Critical, "writes of " + what + where + " are refused", takes}
}

// resources lists what the rules name.
func (h hook) resources() []string {
	var out []string
	for _, r := range h.Rules {
		for _, x := range r.Resources {
			if !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
	}
	if len(out) == 0 {
		out = []string{"nothing"}
	}
	return out
}

// marks keeps for links which webhook it is and what it takes in.
func (h hook) marks(v *checks.Verdict, takes []string) {
	v.Mark("webhook=" + h.Name)
	if h.Service.Name != "" {
		v.Mark("service=" + h.Service.ID())
	}
	for _, t := range takes {
		v.Mark("takes=" + t)
	}
}

// failurePolicy is the field as an operator knows it.
func (h hook) failurePolicy() string {
	if h.Closed {
		return "Fail"
	}
	return "Ignore"
}

// hostile text is passed on with %s; a webhook is named by its own name only
// where its configuration has several.
func (c configuration) name(h hook) string {
	if len(c) == 1 {
		return ""
	}
	return h.Name + ": "
}

// why tells from an error's text why a webhook could not be called.
func why(message string) (class, words string) {
	for _, x := range []struct{ text, class, words string }{
		{"x509:", "x509", "its certificate is not accepted"},
		{"tls:", "x509", "TLS was not agreed on"},
		{"no endpoints available", "no-endpoints", "its Service has no endpoints"},
		{"not found", "not-found", "its Service does not exist"},
		{"connection refused", "refused", "connection refused"},
		{"no such host", "dns", "its name is not resolved"},
		{"no route to host", "no-route", "there is no route to it"},
		{"i/o timeout", "no-route", "no connection comes about"},
		{"context deadline exceeded", "timeout", "it does not answer in time"},
		{"Client.Timeout", "timeout", "it does not answer in time"},
		{"EOF", "refused", "it closes the connection"},
	} {
		if strings.Contains(message, x.text) {
			return x.class, x.words
		}
	}
	return "", ""
}

// x509Error is the part of an error's text that says what is wrong with a
// certificate.
func x509Error(message string) string {
	for _, start := range []string{"x509: ", "tls: "} {
		if _, rest, ok := strings.Cut(message, start); ok {
			return rest
		}
	}
	return message
}
