package apiserver

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed etcd_errors.md
var etcdErrorsDoc string

// EtcdErrors looks for instances whose calls to etcd fail.
var EtcdErrors = &checks.Check{
	ID:        "apiserver-etcd-errors",
	Component: collectors.APIServer,
	Title:     "API servers' calls to etcd succeed",
	Doc:       etcdErrorsDoc,
	Needs:     []collectors.Any{apiserver.StoreErrors},
	Remedies: []checks.Remedy{
		{Title: "read what etcd answers: no leader, no space, too many requests, timeouts", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -E 'etcdserver:|rpc error|createTransport'", Risk: checks.ReadOnly},
		{Title: "see whether etcd has a leader, and whether it can write", Command: "kubectl -n kube-system exec etcd-{node} -- etcdctl --endpoints=https://127.0.0.1:2379 --cacert=/etc/kubernetes/pki/etcd/ca.crt --cert=/etc/kubernetes/pki/etcd/server.crt --key=/etc/kubernetes/pki/etcd/server.key endpoint health --cluster", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{storeErrorsWarnAt},
	Run:        etcdErrors,
}

const (
	// No public source: the check ends at warning. RULES.md has 1% and 5%.
	storeErrorsWarn   = 0.01
	storeErrorsSource = "expert heuristic"
)

var storeErrorsWarnAt = checks.NewThreshold("warn", checks.InRatio, storeErrorsWarn, "of the calls to etcd that fail", storeErrorsSource)

func etcdErrors(p *checks.Pass) {
	for t, c := range checks.Each(p, apiserver.StoreErrors) {
		k, n := c.Failed().Window, c.Calls.Window
		note := "in " + checks.Span(c.Window)
		if c.Window == 0 {
			k, n, note = c.Failed().Lifetime, c.Calls.Lifetime, "since the process started"
		}
		if n == 0 {
			p.Nothing(t, "no call to etcd in the window")
			continue
		}
		status := checks.OK
		if metrics.Exceeds(n, k, p.At(storeErrorsWarnAt)) {
			status = checks.Warning
		}
		op, most := mostErrors(c)
		v := p.Judge(t, status, "%s failed %s%s", shareOf(k, n, "etcd call"), note, most).
			Saw(apiserver.StoreErrors, "failed", checks.Percent(k/n), checks.Percent(p.At(storeErrorsWarnAt)), storeErrorsSource).
			Number("ratio", k/n).Number("errors", k)
		if op != "" {
			v.Mark("operation=" + op)
		}
		if status == checks.OK && k > 0 && !metrics.Excludes(n, k, p.At(storeErrorsWarnAt)) {
			v.TooFew()
		}
	}
}

// mostErrors names the operation with the most errors, if there are any.
func mostErrors(c apiserver.StoreCount) (operation, words string) {
	worst, most := "", 0.0
	for _, op := range slices.Sorted(maps.Keys(c.Errors)) {
		n := c.Errors[op].Window
		if c.Window == 0 {
			n = c.Errors[op].Lifetime
		}
		if n > most {
			worst, most = op, n
		}
	}
	if worst == "" {
		return "", ""
	}
	return worst, fmt.Sprintf("; most: %s (%.0f)", worst, most)
}
