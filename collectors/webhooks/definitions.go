package webhooks

import (
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Definition is a CustomResourceDefinition with which not all is well.
type Definition struct {
	Name          string
	Refused       string    // why it is not established or its names are not accepted; empty if it is and they are
	Nonstructural string    // what is wrong with its schema
	Deleted       time.Time // when its deletion began; zero if it has not
	Waits         string    // what its deletion waits for
	Lost          []string  // versions in which objects may be stored and that it does not have any more
	Unserved      []string  // the same of versions that it has and does not serve
	Since         time.Time // when it was made, or its condition changed
}

// Definitions is all CustomResourceDefinitions.
type Definitions struct {
	All       int
	Bad       []Definition      // the first maxCRDs
	Served    map[string]string // group and version, as an APIService is called: "v1.example.com" → one definition of it
	Newest    map[string]time.Time
	Truncated bool
}

// maxServed bounds the groups that are kept.
const maxServed = 5000

// Defined looks at each CustomResourceDefinition.
var Defined = &collectors.Fact[Definitions]{
	ID:      "webhooks.definitions",
	Doc:     "the CustomResourceDefinitions: how many, which are not in order, and which groups they serve",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{list("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[Definitions] {
		out := Definitions{Served: map[string]string{}, Newest: map[string]time.Time{}}
		return collectors.Folder[Definitions]{
			Add:  func(_ int, o objects.Object) { out.add(o.(*objects.CustomResourceDefinition)) },
			Done: func([]collectors.Answered) (Definitions, error) { return out, nil },
		}
	},
}

func (d *Definitions) add(o *objects.CustomResourceDefinition) {
	d.All++
	x := Definition{Name: strings.Clone(o.Name), Since: o.CreationTimestamp.Time}
	if o.DeletionTimestamp != nil {
		x.Deleted = o.DeletionTimestamp.Time
	}
	established := false
	for _, c := range o.Status.Conditions {
		said := collectors.OneLine(c.Reason+": "+c.Message, maxMessage)
		switch {
		case c.Type == "Established" && c.Status == "True":
			established = true
		case c.Type == "NamesAccepted" && c.Status == "False":
			x.Refused, x.Since = said, c.LastTransitionTime.Time
		case c.Type == "NonStructuralSchema" && c.Status == "True":
			x.Nonstructural = said
		case c.Type == "Terminating" && c.Status == "True":
			x.Waits = said
		}
	}
	if !established && x.Refused == "" {
		x.Refused = "the API server has not established it"
	}
	for _, v := range o.Status.StoredVersions {
		i := slices.IndexFunc(o.Spec.Versions, func(s objects.CRDVersion) bool { return s.Name == v })
		switch {
		case i < 0:
			x.Lost = append(x.Lost, strings.Clone(v))
		case !o.Spec.Versions[i].Served && !o.Spec.Versions[i].Storage:
			x.Unserved = append(x.Unserved, strings.Clone(v))
		}
	}
	if established && x.Deleted.IsZero() {
		for _, v := range o.Spec.Versions {
			name := v.Name + "." + o.Spec.Group
			if v.Served && len(d.Served) < maxServed {
				d.Served[name] = x.Name
				if o.CreationTimestamp.After(d.Newest[name]) {
					d.Newest[name] = o.CreationTimestamp.Time
				}
			}
		}
	}
	if x.Refused == "" && x.Nonstructural == "" && x.Deleted.IsZero() && len(x.Lost)+len(x.Unserved) == 0 {
		return
	}
	if len(d.Bad) == maxCRDs {
		d.Truncated = true
		return
	}
	d.Bad = append(d.Bad, x)
}

// Registered is the groups and versions that the API server itself serves, by
// the names of their APIServices, and whether each is available.
var Registered = &collectors.Fact[map[string]bool]{
	ID:      "webhooks.registered",
	Doc:     "the APIServices of what the API server serves itself, and whether each is available",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{list("/apis/apiregistration.k8s.io/v1/apiservices")}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[map[string]bool] {
		out := map[string]bool{}
		return collectors.Folder[map[string]bool]{
			Add: func(_ int, o objects.Object) {
				a := o.(*objects.APIService)
				if len(out) == 2*maxServed {
					return
				}
				name := strings.Clone(a.Name)
				out[name] = a.Spec.Service == nil // an extension is another's business
				for _, c := range a.Status.Conditions {
					if c.Type == "Available" {
						out[name] = a.Spec.Service != nil || c.Status == "True"
					}
				}
			},
			Done: func([]collectors.Answered) (map[string]bool, error) { return out, nil },
		}
	},
}
