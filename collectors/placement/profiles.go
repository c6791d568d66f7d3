package placement

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/collectors/scheduler"
	"github.com/ktriage/ktriage/internal/fit"
)

// Profiles is what each scheduler says of the configuration that it works by. It is
// asked for only where one was started with a file of it, and while a pod fits
// nowhere: without a file a scheduler has the default profile.
var Profiles = &collectors.Fact[map[string]fit.Profile]{
	ID:    "placement.profiles",
	Doc:   "the profiles of each scheduler that was started with a configuration file, as its /configz tells them; asked for only while a pod fits nowhere",
	Needs: []collectors.Any{pods.Waiting, cluster.Instances, scheduler.Elected.Instances},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		if gap := needless(s); gap != nil {
			return nil, gap
		}
		as, gap := scheduler.Elected.Instances.Answers(s)
		if gap != nil {
			return nil, gap
		}
		var out []collectors.Target
		for _, a := range as {
			if a.Gap == nil && a.Value.Flag("config", "") != "" {
				out = append(out, a.Target)
			}
		}
		if len(out) == 0 {
			return nil, collectors.Gapf(collectors.OutOfScope, "no scheduler is known to have been started with a configuration file")
		}
		return out, nil
	},
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: t.Addr + "/configz"}}
	},
	Read: func(rs []collectors.Answered) (map[string]fit.Profile, error) {
		p, err := ReadConfigz(rs[0].Body)
		if err != nil {
			return nil, collectors.Gapf(collectors.Malformed, "%v", err)
		}
		return p, nil
	},
}

// needless says why nothing need be known of how pods are placed; nil if one waits for
// a node that takes it.
func needless(s *collectors.Snapshot) *collectors.Gap {
	w, gap := pods.Waiting.One(s)
	if gap == nil && !w.Judgeable() {
		return collectors.Gapf(collectors.OutOfScope, "no pod waits for a node that takes it")
	}
	return gap
}

// known puts the schedulers' profiles together. Those that do not tell leave theirs
// unknown, and the second result says why.
func known(s *collectors.Snapshot) (map[string]fit.Profile, *collectors.Gap) {
	as, gap := Profiles.Answers(s)
	if gap != nil {
		return nil, gap
	}
	out := map[string]fit.Profile{}
	for _, a := range as {
		if a.Gap != nil {
			gap = a.Gap
			continue
		}
		for name, p := range a.Value {
			out[name] = p
		}
	}
	// Replicas of one scheduler have one file: what one says holds for the others,
	// which answer only while they lead where they are so configured.
	if len(out) > 0 {
		gap = nil
	}
	return out, gap
}

// A configz is what a scheduler serves of its configuration. Releases before 1.30
// name the fields of the Go structure, which differ by their case alone.
type configz struct {
	Config *struct {
		Profiles []struct {
			SchedulerName string
			Plugins       map[string]struct{ Enabled, Disabled []struct{ Name string } }
			PluginConfig  []struct {
				Name string
				Args json.RawMessage
			}
		}
		Extenders []struct{ URLPrefix, FilterVerb string }
	} `json:"componentconfig"`
}

// filtering are the plugins that filter and that are modelled.
var filtering = []string{fit.NodeName, fit.NodeUnschedulable, fit.TaintToleration, fit.NodeAffinity, fit.NodePorts, fit.NodeResourcesFit, fit.VolumeRestrictions,
	fit.NodeVolumeLimits, fit.VolumeBinding, fit.VolumeZone, fit.PodTopologySpread, fit.InterPodAffinity, fit.DynamicResources, fit.NodeDeclaredFeatures}

// others are plugins of the project that do not filter, or that are one with others
// by now.
var others = []string{"PrioritySort", "DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality", "DefaultBinder", "SchedulingGates", "GangScheduling",
	"NodePreferAvoidPods", "SelectorSpread", "NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio",
	"EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits", "NodeLabel", "ServiceAffinity", "DeferredPodScheduling",
	"PodGroupPodsCount", "TopologyPlacementGenerator", "PlacementBinPacking"}

// ReadConfigz reads what the profiles change of the filters.
func ReadConfigz(body []byte) (map[string]fit.Profile, error) {
	var c configz
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, fmt.Errorf("read /configz: %w", err)
	}
	if c.Config == nil || len(c.Config.Profiles) == 0 {
		return nil, fmt.Errorf("/configz has no profiles of a scheduler")
	}
	out := map[string]fit.Profile{}
	for _, x := range c.Config.Profiles {
		var p fit.Profile
		enabled, disabled := map[string]bool{}, map[string]bool{}
		for point, set := range x.Plugins {
			if !strings.EqualFold(point, "multiPoint") && !strings.EqualFold(point, "filter") {
				continue
			}
			for _, e := range set.Enabled {
				enabled[e.Name] = true
			}
			if strings.EqualFold(point, "filter") {
				for _, e := range set.Disabled {
					disabled[e.Name] = true
				}
			}
		}
		for _, name := range filtering {
			// A release that has not got the plugin yet has not got what it is about.
			if len(enabled) > 0 && !enabled[name] || disabled[name] || disabled["*"] && !enabledIn(x.Plugins, "filter", name) {
				if p.Disabled == nil {
					p.Disabled = map[string]bool{}
				}
				p.Disabled[name] = true
			}
		}
		for name := range enabled {
			if !slices.Contains(filtering, name) && !slices.Contains(others, name) {
				p.Unmodelled = append(p.Unmodelled, "the scheduler's plugin "+collectors.OneLine(name, 80))
			}
		}
		for _, e := range c.Config.Extenders {
			if e.FilterVerb != "" {
				p.Unmodelled = append(p.Unmodelled, "the scheduler's extender "+collectors.OneLine(e.URLPrefix, 80))
			}
		}
		slices.Sort(p.Unmodelled)
		for _, a := range x.PluginConfig {
			if err := args(&p, a.Name, a.Args); err != nil {
				return nil, fmt.Errorf("read the arguments of %s in /configz: %w", collectors.OneLine(a.Name, 80), err)
			}
		}
		out[x.SchedulerName] = p
	}
	return out, nil
}

func enabledIn(plugins map[string]struct{ Enabled, Disabled []struct{ Name string } }, point, name string) bool {
	for k, set := range plugins {
		if strings.EqualFold(k, point) && slices.ContainsFunc(set.Enabled, func(e struct{ Name string }) bool { return e.Name == name }) {
			return true
		}
	}
	return false
}

// args reads the arguments of a plugin that bear on what it filters.
func args(p *fit.Profile, plugin string, raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	switch plugin {
	case fit.NodeAffinity:
		var a struct{ AddedAffinity *corev1.NodeAffinity }
		if err := json.Unmarshal(raw, &a); err != nil {
			return err
		}
		if a.AddedAffinity != nil {
			p.AddedAffinity = a.AddedAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		}
	case fit.PodTopologySpread:
		var a struct {
			DefaultConstraints []corev1.TopologySpreadConstraint
			DefaultingType     string
		}
		if err := json.Unmarshal(raw, &a); err != nil {
			return err
		}
		if a.DefaultingType != "System" {
			p.DefaultSpread = a.DefaultConstraints
		}
	case fit.NodeResourcesFit:
		var a struct{ IgnoredResources, IgnoredResourceGroups []string }
		if err := json.Unmarshal(raw, &a); err != nil {
			return err
		}
		set := func(names []string) map[string]bool {
			var out map[string]bool
			for _, n := range names {
				if out == nil {
					out = map[string]bool{}
				}
				out[n] = true
			}
			return out
		}
		p.IgnoredResources, p.IgnoredResourceGroups = set(a.IgnoredResources), set(a.IgnoredResourceGroups)
	}
	return nil
}
