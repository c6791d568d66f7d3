package webhooks

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/certificates"
	"github.com/ktriage/ktriage/collectors/objects"
)

// An Extension is a group and version of the API that another API server
// serves.
type Extension struct {
	Name      string // "v1beta1.metrics.k8s.io"
	Group     string
	Version   string
	Service   Service
	Bundle    certificates.Bundle
	Insecure  bool // whoever answers is believed
	Available bool
	Known     bool // the API server has looked
	Reason    string
	Message   string
	Since     time.Time
}

// GroupVersion is as messages name it: "metrics.k8s.io/v1beta1".
func (e Extension) GroupVersion() string { return e.Group + "/" + e.Version }

// maxMessage bounds what is kept of a condition's message.
const maxMessage = 400

// Extensions are the APIServices with a backend of their own.
var Extensions = &collectors.Fact[[]Extension]{
	ID:      "webhooks.apiservices",
	Doc:     "the groups of the API that other API servers serve, and whether the API server reaches those",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{list("/apis/apiregistration.k8s.io/v1/apiservices")}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]Extension] {
		var out []Extension
		return collectors.Folder[[]Extension]{
			Add: func(_ int, o objects.Object) {
				if a := o.(*objects.APIService); a.Spec.Service != nil {
					out = append(out, newExtension(a))
				}
			},
			Done: func([]collectors.Answered) ([]Extension, error) { return out, nil },
		}
	},
}

func newExtension(a *objects.APIService) Extension {
	e := Extension{
		Name: a.Name, Group: a.Spec.Group, Version: a.Spec.Version,
		Service: Service{a.Spec.Service.Namespace, a.Spec.Service.Name, 443},
	}
	e.Bundle, e.Insecure = certificates.ReadBundle(a.Spec.CABundle), a.Spec.InsecureSkipTLSVerify
	if p := a.Spec.Service.Port; p != nil {
		e.Service.Port = *p
	}
	for _, c := range a.Status.Conditions {
		if c.Type == "Available" {
			e.Known, e.Available = true, c.Status == "True"
			e.Reason, e.Message, e.Since = c.Reason, collectors.OneLine(c.Message, maxMessage), c.LastTransitionTime.Time
		}
	}
	return e
}
