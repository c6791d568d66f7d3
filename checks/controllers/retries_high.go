package controllers

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
	collected "github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed retries_high.md
var retriesHighDoc string

// RetriesHigh looks for controllers whose work fails again and again.
var RetriesHigh = &checks.Check{
	ID:        "kcm-retries-high",
	Component: collectors.Controllers,
	Title:     "no controller works at failing objects for the most part",
	Doc:       retriesHighDoc,
	Needs:     []collectors.Any{controllers.WorkQueues, controllers.Elected.Leads, controllers.Elected.Client},
	Remedies: []checks.Remedy{
		{Title: "read what fails", Command: "kubectl -n kube-system logs kube-controller-manager-{node} --tail=500 | grep -iE 'error syncing|failed with'", Risk: checks.ReadOnly},
		{Title: "see what was refused to the controllers", Command: "kubectl get events -A --field-selector reason=FailedCreate", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{retriesWarnAt},
	Run:        retriesHigh,
}

const (
	// retriesWarn is the share of retries from which a controller does little
	// else, and busyRate how many adds a second make it worth a look: a queue
	// of few objects of which one fails is somebody's object, not a control
	// plane's trouble. Both are experience, so it ends at a warning.
	retriesWarn = 0.2
	busyRate    = 1.0
)

// putsOff are queues into which objects are also put back on purpose, with a
// delay, which client-go counts as a retry: for the next scheduled time, for
// the next period, to batch changes, to look whether a rollout is done.
// Source: calls of AddAfter and AddRateLimited in k8s.io/kubernetes v1.37.2,
// pkg/controller.
var putsOff = []string{
	"cronjob", "deployment", "disruption", "disruption_recheck", "endpoint", "endpoint_slice", "endpoint_slice_mirroring",
	"horizontalpodautoscaler", "ipaddresses", "job", "namespace", "orphaned_pods_nodes", "stale_pod_disruption",
	"token_cleaner", "ttl_jobs_to_delete",
}

// putsOffReady are queues into which an object is put back, too, until pods have
// been ready for spec.minReadySeconds: a rollout, not a failure. A sync that
// fails has a request that failed.
// Source: as above; calls of AddAfter with MinReadySeconds.
var putsOffReady = []string{"daemonset", "replicaset", "replicationmanager", "statefulset"}

var retriesWarnAt = checks.NewThreshold("warn", checks.InRatio, retriesWarn, "of what is done that is done again", "experience; no public source")

// failedSyncs tells whether the leader's requests failed about as often as x
// retried.
func failedSyncs(c collected.Client, x controllers.Queue) bool {
	failed := 0.0
	for code, n := range c.Codes {
		if !strings.HasPrefix(code, "2") {
			failed += n
		}
	}
	return failed >= x.Retries/2
}

func retriesHigh(p *checks.Pass) {
	for t, q := range leases.EachLeader(p, controllers.Elected, controllers.WorkQueues) {
		if q.Broken != "" {
			p.Unknown(t, collectors.Gapf(collectors.Absent, "retries over the window cannot be counted: %s", q.Broken))
			continue
		}
		client, unseen := checks.Of(p, controllers.Elected.Client, t)
		var bad []controllers.Queue
		var adds, retries float64
		thin := false
		for _, x := range q.By {
			if slices.Contains(putsOff, x.Name) {
				continue
			}
			adds, retries = adds+x.Adds, retries+x.Retries
			if q.Rate(x.Adds) <= busyRate || x.Retries == 0 {
				continue
			}
			if slices.Contains(putsOffReady, x.Name) && unseen == nil && !failedSyncs(client, x) {
				continue
			}
			if exceeds(x.Adds, x.Retries, p.At(retriesWarnAt)) {
				bad = append(bad, x)
			} else if x.Retries > p.At(retriesWarnAt)*x.Adds {
				thin = true
			}
		}
		if len(bad) == 0 {
			v := p.OK(t, "%.0f of %.0f objects were retried or put off in %s", retries, adds, checks.Span(q.Elapsed)).
				Saw(controllers.WorkQueues, "retries", checks.Percent(retries/max(1, adds)), checks.Percent(p.At(retriesWarnAt)), expertLimit)
			if thin {
				v.TooFew()
			}
			continue
		}
		if unseen != nil && slices.ContainsFunc(bad, func(x controllers.Queue) bool { return slices.Contains(putsOffReady, x.Name) }) {
			// A rollout puts off as well; only the requests tell them apart.
			p.Unknown(t, unseen)
			continue
		}
		slices.SortFunc(bad, func(a, b controllers.Queue) int { return cmp.Compare(b.Adds, a.Adds) })
		x := bad[0]
		v := p.Warn(t, "controller %s retries %s of what it takes up (%.1f of %.1f/s)%s", x.Name, checks.Percent(min(1, x.Retries/x.Adds)), q.Rate(x.Retries), q.Rate(x.Adds), andOthers(bad[1:])).
			Number("ratio", x.Retries/x.Adds)
		for _, x := range bad {
			v.Saw(controllers.WorkQueues, "retries of "+x.Name, checks.Percent(x.Retries/x.Adds), checks.Percent(p.At(retriesWarnAt)), expertLimit).Mark("queue=" + x.Name)
		}
	}
}

// exceeds is metrics.Exceeds for counts of which the part may be larger than
// the whole: a put-off object is added later than it is counted.
func exceeds(n, k, share float64) bool {
	return metrics.Exceeds(n, min(k, n), share)
}
