package apiserver

import (
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A FlowConfig is how API Priority and Fairness is configured.
type FlowConfig struct {
	Levels   []string          // names of the priority levels
	Schemas  map[string]string // name of each flow schema → its priority level
	Dangling []string          // flow schemas that the API server itself says lead to no level
	Kept     []string          // suggested objects that are not to be brought up to date
}

// autoUpdate is the annotation by which an administrator keeps a suggested
// object as it is.
const autoUpdate = "apf.kubernetes.io/autoupdate-spec"

// FlowConfiguration is how API Priority and Fairness is configured. Its objects
// are served in the version that is read here from 1.29 on.
var FlowConfiguration = &collectors.Fact[FlowConfig]{
	ID:    "apiserver.flow-config",
	Doc:   "the priority levels and flow schemas of API Priority and Fairness",
	Needs: []collectors.Any{cluster.Version},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		if v := versionKnown(s); v > 0 && v < 29 {
			return nil, collectors.Gapf(collectors.OutOfScope, "before 1.29 it is configured by objects of older versions, which this ktriage does not read")
		}
		return []collectors.Target{Front}, nil
	},
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{
			{Verb: collectors.List, URL: "kube:/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"},
			{Verb: collectors.List, URL: "kube:/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"},
		}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[FlowConfig] {
		c := FlowConfig{Schemas: map[string]string{}}
		return collectors.Folder[FlowConfig]{
			Add: func(_ int, o objects.Object) {
				if o.GetAnnotations()[autoUpdate] == "false" {
					c.Kept = append(c.Kept, o.GetName())
				}
				switch o := o.(type) {
				case *flowcontrolv1.PriorityLevelConfiguration:
					c.Levels = append(c.Levels, o.Name)
				case *flowcontrolv1.FlowSchema:
					c.Schemas[o.Name] = o.Spec.PriorityLevelConfiguration.Name
					for _, x := range o.Status.Conditions {
						if x.Type == flowcontrolv1.FlowSchemaConditionDangling && x.Status == flowcontrolv1.ConditionTrue {
							c.Dangling = append(c.Dangling, o.Name)
						}
					}
				}
			},
			Done: func([]collectors.Answered) (FlowConfig, error) {
				for _, list := range []*[]string{&c.Levels, &c.Dangling, &c.Kept} {
					slices.Sort(*list)
					*list = slices.Compact(*list)
				}
				return c, nil
			},
		}
	},
}
