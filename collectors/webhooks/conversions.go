package webhooks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// maxCRDs bounds the names that are kept of one backend's definitions.
const maxCRDs = 200

// A Converter is a webhook that converts objects between the versions of their
// CustomResourceDefinition, and the definitions that it serves.
type Converter struct {
	Caller
	CRDs  []string // names, "certificates.cert-manager.io"; the first maxCRDs
	Count int
}

// A Converted is every conversion webhook.
type Converted struct {
	By  []Converter // by where they are called
	All int         // CustomResourceDefinitions there are
}

// Conversions are the conversion webhooks that objects need: those of
// definitions with more than one version that is served or stored.
var Conversions = &collectors.Fact[Converted]{
	ID:      "webhooks.conversions",
	Doc:     "which CustomResourceDefinitions need a webhook to be read in all their versions, and where it is",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{list("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[Converted] {
		var out Converted
		return collectors.Folder[Converted]{
			Add: func(_ int, o objects.Object) { out.add(o.(*objects.CustomResourceDefinition)) },
			Done: func([]collectors.Answered) (Converted, error) {
				return out, nil
			},
		}
	},
}

func (c *Converted) add(o *objects.CustomResourceDefinition) {
	c.All++
	conv := o.Spec.Conversion
	if conv == nil || conv.Strategy != "Webhook" || conv.Webhook == nil || conv.Webhook.ClientConfig == nil || !converts(o) {
		return
	}
	caller := newCaller(conv.Webhook.ClientConfig)
	i := slices.IndexFunc(c.By, func(x Converter) bool {
		return x.Service == caller.Service && x.Host == caller.Host && x.Bundle == caller.Bundle
	})
	if i < 0 {
		i = len(c.By)
		c.By = append(c.By, Converter{Caller: caller})
	}
	x := &c.By[i]
	if x.Count++; len(x.CRDs) < maxCRDs {
		x.CRDs = append(x.CRDs, strings.Clone(o.Name))
	}
}

// converts reports whether objects can be in one version and asked for in
// another.
func converts(o *objects.CustomResourceDefinition) bool {
	versions := map[string]bool{}
	for _, v := range o.Spec.Versions {
		if v.Served || v.Storage {
			versions[v.Name] = true
		}
	}
	for _, v := range o.Status.StoredVersions {
		versions[v] = true
	}
	return len(versions) > 1
}

// Find returns the converter of a definition.
func (c Converted) Find(crd string) (Converter, bool) {
	for _, x := range c.By {
		if slices.Contains(x.CRDs, crd) {
			return x, true
		}
	}
	return Converter{}, false
}

func itoa(n int32) string { return strconv.Itoa(int(n)) }
