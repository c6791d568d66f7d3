package live

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/rights"
)

// grant says which right a request to the Kubernetes API needs, as the command
// that makes a role of it.
func grant(verb collectors.Verb, path string) string {
	rs := rights.Of(collectors.Request{Verb: verb, URL: (&url.URL{Scheme: "kube", Path: path}).String()})
	if len(rs) == 0 {
		return ""
	}
	r := rs[0]
	if r.Path != "" {
		return fmt.Sprintf("grant get on nonResourceURL %s: kubectl create clusterrole ktriage-%s --verb=get --non-resource-url=%s",
			r.Path, slug(r.Path), r.Path)
	}
	of := rights.WithGroup(r.Resource, r.Group)
	return fmt.Sprintf("grant %s on %s: kubectl create clusterrole ktriage-%s --verb=%s --resource=%s", r.Verb, of, slug(r.Resource), r.Verb, of)
}

func slug(s string) string {
	return strings.Trim(strings.NewReplacer("/", "-", ".", "-", "*", "all").Replace(s), "-")
}
