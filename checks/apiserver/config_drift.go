package apiserver

import (
	_ "embed"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed config_drift.md
var configDriftDoc string

// ConfigDrift looks for priority levels and flow schemas that are gone, lead nowhere, or
// are kept from being brought up to date.
var ConfigDrift = &checks.Check{
	ID:        "apf-config-drift",
	Component: collectors.APIServer,
	Title:     "API Priority and Fairness has its suggested levels",
	Doc:       configDriftDoc,
	Needs:     []collectors.Any{apiserver.FlowConfiguration},
	Remedies: []checks.Remedy{
		{Title: "let the API server bring one up to date again", Command: "kubectl annotate --overwrite flowschema NAME apf.kubernetes.io/autoupdate-spec=true", Risk: checks.Safe},
		{Title: "delete a suggested one: the API server makes it anew", Command: "kubectl delete prioritylevelconfiguration NAME", Risk: checks.Safe},
	},
	Run: configDrift,
}

const driftSource = "kube-apiserver: the mandatory and suggested configuration"

// suggested are the levels that each API server keeps there. Source:
// k8s.io/apiserver, pkg/apis/flowcontrol/bootstrap.
var suggested = []string{"catch-all", "exempt", "global-default", "leader-election", "node-high", "system", "workload-high", "workload-low"}

func configDrift(p *checks.Pass) {
	for t, c := range checks.Each(p, apiserver.FlowConfiguration) {
		var missing []string
		for _, s := range suggested {
			if !slices.Contains(c.Levels, s) {
				missing = append(missing, s)
			}
		}
		var nowhere []string
		for _, s := range slices.Sorted(maps.Keys(c.Schemas)) {
			if !slices.Contains(c.Levels, c.Schemas[s]) || slices.Contains(c.Dangling, s) {
				nowhere = append(nowhere, s)
			}
		}
		var v *checks.Verdict
		switch {
		case len(missing) > 0:
			v = p.Warn(t, "%s missing: %s", verb(len(missing), "a suggested priority level is", "suggested priority levels are"), checks.List(missing, 4))
		case len(nowhere) > 0:
			v = p.Warn(t, "%s to a priority level that does not exist: %s", verb(len(nowhere), "a flow schema leads", "flow schemas lead"), checks.List(nowhere, 4))
		case len(c.Kept) > 0:
			v = p.Info(t, "%s kept from being brought up to date: %s", verb(len(c.Kept), "an object is", "objects are"), checks.List(c.Kept, 4))
		default:
			v = p.OK(t, "%s and %s, with all that are suggested", checks.Count(len(c.Levels), "priority level"), checks.Count(len(c.Schemas), "flow schema"))
		}
		v.Saw(apiserver.FlowConfiguration, "levels", checks.List(c.Levels, 12), "", driftSource)
	}
}
