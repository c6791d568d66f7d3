package pending

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/internal/fit"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
)

// SchedulerConfig is the configuration of the schedulers that the model is held
// against: the default profile and three that filter otherwise.
//
//go:embed scheduler.yaml
var SchedulerConfig []byte

// Names of the profiles besides the default one.
const (
	tuned   = "tuned"   // default spread constraints that filter
	picky   = "picky"   // added affinity, ignored resources
	reduced = "reduced" // without some of the filters
)

// Profiles is SchedulerConfig as the model takes it.
func Profiles() map[string]fit.Profile {
	return map[string]fit.Profile{
		v1.DefaultSchedulerName: {},
		tuned: {DefaultSpread: []v1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: v1.DoNotSchedule},
			{MaxSkew: 2, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.DoNotSchedule},
			{MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: v1.ScheduleAnyway}}},
		picky: {
			AddedAffinity: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
				{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "disk", Operator: v1.NodeSelectorOpExists}}},
				{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "rack", Operator: v1.NodeSelectorOpIn, Values: []string{"1", "3"}}}}}},
			IgnoredResources: map[string]bool{"example.com/nowhere": true}},
		reduced: {Disabled: map[string]bool{fit.TaintToleration: true, fit.NodePorts: true, fit.InterPodAffinity: true, fit.VolumeZone: true}},
	}
}

// readConfig reads SchedulerConfig as the scheduler does.
func readConfig() (*config.KubeSchedulerConfiguration, error) {
	o, _, err := scheme.Codecs.UniversalDecoder().Decode(SchedulerConfig, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("read the scheduler's configuration: %w", err)
	}
	c, ok := o.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("the scheduler's configuration is a %T", runtime.Object(o))
	}
	return c, nil
}
