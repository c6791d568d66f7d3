package webhooks

import (
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Policy is a ValidatingAdmissionPolicy.
type Policy struct {
	Name     string
	Closed   bool     // a request is refused if an expression cannot be evaluated
	Warnings []string // of the type checker: expressions that cannot be right
}

// maxPolicies bounds what is kept, and maxWarnings of each.
const (
	maxPolicies = 1000
	maxWarnings = 5
)

// Policies are the ValidatingAdmissionPolicies. A cluster of before 1.30 has none.
var Policies = &collectors.Fact[[]Policy]{
	ID:      "webhooks.policies",
	Doc:     "the validating admission policies, and what the type checker says of them",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{list("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies")}
	},
	Partial: true,
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]Policy] {
		var out []Policy
		return collectors.Folder[[]Policy]{
			Add: func(_ int, o objects.Object) {
				if len(out) == maxPolicies {
					return
				}
				p := o.(*objects.ValidatingAdmissionPolicy)
				x := Policy{Name: strings.Clone(p.Name), Closed: p.Spec.FailurePolicy != "Ignore"}
				if t := p.Status.TypeChecking; t != nil {
					for _, w := range t.ExpressionWarnings {
						if len(x.Warnings) < maxWarnings {
							x.Warnings = append(x.Warnings, collectors.OneLine(w.FieldRef+": "+w.Warning, maxMessage))
						}
					}
				}
				out = append(out, x)
			},
			Done: func(rs []collectors.Answered) ([]Policy, error) {
				switch g := rs[0].Gap; {
				case g == nil:
					return out, nil
				case g.Reason == collectors.Absent:
					return nil, collectors.Gapf(collectors.OutOfScope, "this API server has no validating admission policies; versions from 1.30 on do")
				default:
					return nil, g
				}
			},
		}
	},
}
