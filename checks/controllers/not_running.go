package controllers

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
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
	Needs:     []collectors.Any{controllers.Elected.Instances, controllers.WorkQueues, controllers.Elected.Leads, cluster.Version},
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

// queued are those whose work queue is known by a name that has stayed: which
// controllers a leader runs shows in the queues that it has, whatever its flags
// say. The metric running_managed_controllers is set for the controllers of the
// cloud alone. Source: the queues of 1.14 to 1.37.
var queued = []struct {
	controller, queue string
	since             int // minor version
}{
	{"deployment", "deployment", 0}, {"replicaset", "replicaset", 0}, {"statefulset", "statefulset", 0}, {"daemonset", "daemonset", 0}, {"job", "job", 0},
	{"cronjob", "cronjob", 22}, {"endpointslice", "endpoint_slice", 22}, {"namespace", "namespace", 0}, {"garbagecollector", "garbage_collector_attempt_to_delete", 0},
	{"serviceaccount", "serviceaccount", 0}, {"horizontalpodautoscaling", "horizontalpodautoscaler", 0}, {"disruption", "disruption", 0},
	{"resourcequota", "resourcequota_primary", 0}, {"root-ca-cert-publisher", "root_ca_cert_publisher", 22},
}

// settled is how long a leader leads until all of its controllers have been
// started [exp].
const settled = time.Minute

func notRunning(p *checks.Pass) {
	for t, i := range checks.Each(p, controllers.Elected.Instances) {
		if i.MadeUp {
			p.Unknown(t, collectors.Gapf(collectors.NotAsked, "the evidence does not hold its pod"))
			continue
		}
		flag := i.Flag("controllers", "*")
		off := switchedOff(flag)
		without, looked := queueless(p, t)
		without = slices.DeleteFunc(without, func(c string) bool { return slices.Contains(off, c) })
		if len(off)+len(without) == 0 {
			what := "none of %d controllers that everybody needs is switched off"
			if looked {
				what += ", and it has their queues"
			}
			p.OK(t, what, len(needed)).Saw(controllers.Elected.Instances, "--controllers", flag, "", "")
			continue
		}
		var why []string
		if len(off) > 0 {
			why = append(why, "switched off by --controllers: "+checks.List(off, 5))
		}
		if len(without) > 0 {
			why = append(why, "it leads, and these controllers do not run, for they have no work queue: "+checks.List(without, 5))
		}
		v := p.Warn(t, "%s", strings.Join(why, "; ")).
			Saw(controllers.Elected.Instances, "--controllers", flag, "*", "kube-controller-manager's default")
		for _, c := range without {
			v.Saw(controllers.WorkQueues, c, "no queue", "", "")
		}
		for _, o := range append(off, without...) {
			v.Mark("queue=" + strings.ReplaceAll(o, "endpointslice", "endpoint_slice"))
		}
	}
}

// queueless lists the controllers of which a leader has no queue, and reports
// whether that could be told: it leads for long enough, and has most of them.
func queueless(p *checks.Pass, t collectors.Target) (without []string, looked bool) {
	l, gap := checks.Of(p, controllers.Elected.Leads, t)
	if gap != nil || !l.Leads || l.Since < settled {
		return nil, false
	}
	qs, gap := checks.Of(p, controllers.WorkQueues, t)
	v, vGap := checks.One(p, cluster.Version)
	if gap != nil || vGap != nil {
		return nil, false
	}
	for _, q := range queued {
		if v.Major == 1 && v.Minor < q.since {
			continue
		}
		if !slices.ContainsFunc(qs.By, func(x controllers.Queue) bool { return x.Name == q.queue }) {
			without = append(without, q.controller)
		}
	}
	if len(without) > len(queued)/2 {
		return nil, false // it names them otherwise, or does not serve them all
	}
	return without, true
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
