package controllers

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed not_running.md
var notRunningDoc string

// NotRunning looks for controllers that are switched off.
var NotRunning = &checks.Check{
	ID:        "kcm-controller-not-running",
	Component: collectors.Controllers,
	Title:     "no controller that everybody needs is switched off",
	Doc:       notRunningDoc,
	Needs:     []collectors.Any{controllers.Elected.Instances},
	Remedies: []checks.Remedy{
		{Title: "see its flags", Command: "kubectl -n kube-system get pod kube-controller-manager-{node} -o jsonpath='{.spec.containers[0].command}'", Risk: checks.ReadOnly},
		{Title: "on the node, mend --controllers; the kubelet restarts it", Command: "vi /etc/kubernetes/manifests/kube-controller-manager.yaml", Risk: checks.Disruptive},
	},
	Run: notRunning,
}

// needed are the controllers without which the loops that every cluster relies
// on stand still, by their names up to 1.27; later ones end in "-controller".
var needed = []string{
	"deployment", "replicaset", "statefulset", "daemonset", "job", "cronjob", "endpointslice", "namespace", "garbagecollector", "nodelifecycle",
	"serviceaccount", "persistentvolume-binder", "root-ca-cert-publisher", "horizontalpodautoscaling", "disruption", "resourcequota", "podgc",
}

// renamed are those whose newer names are others. Source: k8s.io/kubernetes,
// cmd/kube-controller-manager/names.
var renamed = map[string]string{
	"garbage-collector": "garbagecollector", "node-lifecycle": "nodelifecycle", "horizontal-pod-autoscaler": "horizontalpodautoscaling",
	"root-ca-certificate-publisher": "root-ca-cert-publisher", "pod-garbage-collector": "podgc",
}

func notRunning(p *checks.Pass) {
	for t, i := range checks.Each(p, controllers.Elected.Instances) {
		if i.MadeUp {
			p.Unknown(t, collectors.Gapf(collectors.NotAsked, "the evidence does not hold its pod"))
			continue
		}
		flag := i.Flag("controllers", "*")
		off := switchedOff(flag)
		if len(off) == 0 {
			p.OK(t, "none of %d controllers that everybody needs is switched off", len(needed)).
				Saw(controllers.Elected.Instances, "--controllers", flag, "", "")
			continue
		}
		v := p.Warn(t, "switched off by --controllers: %s", checks.List(off, 5)).
			Saw(controllers.Elected.Instances, "--controllers", flag, "*", "kube-controller-manager's default")
		for _, o := range off {
			v.Mark("queue=" + strings.ReplaceAll(o, "endpointslice", "endpoint_slice"))
		}
	}
}

// switchedOff lists the needed controllers that the flag does not let run.
func switchedOff(flag string) []string {
	all := false
	named := map[string]bool{}
	for word := range strings.SplitSeq(flag, ",") {
		word = strings.TrimSpace(word)
		name, off := strings.CutPrefix(word, "-")
		name = strings.TrimSuffix(name, "-controller")
		if old, ok := renamed[name]; ok {
			name = old
		}
		if word == "*" {
			all = true
		} else {
			named[name] = !off
		}
	}
	return slices.DeleteFunc(slices.Clone(needed), func(n string) bool {
		on, ok := named[n]
		return ok && on || !ok && all
	})
}
