package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/internal/fit"
)

// of1_37 is what a scheduler of 1.37 serves, cut to what bears on filters, and
// of1_22 the same as releases before 1.30 write it.
const (
	of1_37 = `{"componentconfig":{"kind":"KubeSchedulerConfiguration","profiles":[
		{"schedulerName":"default-scheduler","plugins":{"multiPoint":{"enabled":[{"name":"SchedulingGates"},{"name":"NodeName"},{"name":"NodeUnschedulable"},{"name":"TaintToleration","weight":3},{"name":"NodeAffinity"},{"name":"NodePorts"},{"name":"NodeResourcesFit"},{"name":"VolumeRestrictions"},{"name":"NodeVolumeLimits"},{"name":"VolumeBinding"},{"name":"VolumeZone"},{"name":"PodTopologySpread"},{"name":"InterPodAffinity"},{"name":"DynamicResources"},{"name":"NodeDeclaredFeatures"}]}},
		 "pluginConfig":[{"name":"PodTopologySpread","args":{"kind":"PodTopologySpreadArgs","defaultingType":"System"}}]},
		{"schedulerName":"tuned","plugins":{"multiPoint":{"enabled":[{"name":"NodeName"},{"name":"NodeUnschedulable"},{"name":"NodeAffinity"},{"name":"NodePorts"},{"name":"NodeResourcesFit"},{"name":"VolumeRestrictions"},{"name":"NodeVolumeLimits"},{"name":"VolumeBinding"},{"name":"VolumeZone"},{"name":"PodTopologySpread"},{"name":"InterPodAffinity"},{"name":"DynamicResources"},{"name":"NodeDeclaredFeatures"},{"name":"Mine"}],"disabled":[{"name":"TaintToleration"}]},"filter":{"disabled":[{"name":"NodePorts"}]}},
		 "pluginConfig":[{"name":"PodTopologySpread","args":{"defaultingType":"List","defaultConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]}},
		  {"name":"NodeAffinity","args":{"addedAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"pool","operator":"Exists"}]}]}}}},
		  {"name":"NodeResourcesFit","args":{"ignoredResources":["example.com/a"],"ignoredResourceGroups":["example.org"]}}]}],
		"extenders":[{"urlPrefix":"http://gpu.example","filterVerb":"filter"},{"urlPrefix":"http://score.example","prioritizeVerb":"score"}]}}`
	of1_22 = `{"componentconfig":{"Profiles":[{"SchedulerName":"default-scheduler","Plugins":{"Filter":{"Enabled":null,"Disabled":null}},
		"PluginConfig":[{"Name":"NodeAffinity","Args":{"AddedAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"pool","operator":"Exists"}]}]}}}}]}],"Extenders":null}}`
)

func TestReadConfigz(t *testing.T) {
	pool := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "pool", Operator: corev1.NodeSelectorOpExists}}}}}
	extender := "the scheduler's extender http://gpu.example"
	for _, c := range []struct {
		name, body string
		want       map[string]fit.Profile
	}{
		{"not JSON", "404 page not found", nil},
		{"of another component", `{"kubeletconfig":{}}`, nil},
		{"no profiles", `{"componentconfig":{}}`, nil},
		{"arguments that are none", `{"componentconfig":{"profiles":[{"schedulerName":"a","pluginConfig":[{"name":"NodeAffinity","args":7}]}]}}`, nil},
		{"1.37", of1_37, map[string]fit.Profile{
			"default-scheduler": {Unmodelled: []string{extender}},
			"tuned": {AddedAffinity: pool, DefaultSpread: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}},
				Disabled: map[string]bool{fit.TaintToleration: true, fit.NodePorts: true}, IgnoredResources: map[string]bool{"example.com/a": true},
				IgnoredResourceGroups: map[string]bool{"example.org": true}, Unmodelled: []string{extender, "the scheduler's plugin Mine"}}}},
		{"1.22", of1_22, map[string]fit.Profile{"default-scheduler": {AddedAffinity: pool}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReadConfigz([]byte(c.body))
			if (err != nil) != (c.want == nil) {
				t.Fatalf("err = %v", err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzReadConfigz looks for bytes that break the reader.
func FuzzReadConfigz(f *testing.F) {
	f.Add([]byte(of1_37))
	f.Add([]byte(of1_22))
	f.Fuzz(func(t *testing.T, body []byte) {
		if p, err := ReadConfigz(body); err == nil && len(p) == 0 {
			t.Error("neither profiles nor an error")
		}
	})
}
