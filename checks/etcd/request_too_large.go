package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed request_too_large.md
var requestTooLargeDoc string

// RequestTooLarge looks for objects that have grown beyond what etcd takes.
var RequestTooLarge = &checks.Check{
	ID:        "etcd-request-too-large",
	Component: collectors.Etcd,
	Title:     "no write is larger than etcd takes",
	Doc:       requestTooLargeDoc,
	Needs:     []collectors.Any{etcd.InvalidWrites, apiserver.Requests},
	Remedies: []checks.Remedy{
		{Title: "see which object it is, in the API server's log", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep 'request is too large'", Risk: checks.ReadOnly},
		{Title: "see how large the objects of that resource are", Command: "kubectl get RESOURCE -A --show-managed-fields -o json | jq -r '.items[] | \"\\(tojson|length) \\(.metadata.namespace)/\\(.metadata.name)\"' | sort -rn | head", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{refusedWarnAt},
	Run:        requestTooLarge,
}

const (
	// Who tries once has read the error; who tries again and again is a
	// controller, and does not do its work. The API server's client asks two or
	// three members in turn before it gives up, so that this is two or three
	// writes. Lasting trouble for what that controller manages, none for the
	// control plane: the check ends at warning.
	refusedWarn   = 6
	refusedSource = "etcd documentation, system limits: 1.5 MiB a request (--max-request-bytes)"
)

var refusedWarnAt = checks.NewThreshold("warn", checks.InNumber, refusedWarn, "writes refused in the window as too large", refusedSource)

func requestTooLarge(p *checks.Pass) {
	answers, gap := checks.All(p, etcd.InvalidWrites)
	var sum etcd.Growth
	watched := 0
	for _, a := range answers {
		switch {
		case a.Gap != nil:
			gap = a.Gap
		case !a.Value.Watched:
			gap = collectors.Gapf(collectors.NotAsked, "whether it goes on is not known: %s", a.Value.Why)
		default:
			watched++
			sum.Delta, sum.Total = sum.Delta+a.Value.Delta, sum.Total+a.Value.Total
			sum.Elapsed = max(sum.Elapsed, a.Value.Elapsed)
		}
	}
	if watched == 0 {
		if gap == nil { // a list of members that names none
			gap = collectors.Gapf(collectors.Absent, "no member is known")
		}
		p.Unknown(etcd.Cluster, gap)
		return
	}
	note := ""
	if watched < len(answers) {
		note = fmt.Sprintf(", at %d of %d members", watched, len(answers))
	}
	in := "in " + checks.Seconds(sum.Elapsed)
	if sum.Delta == 0 {
		p.OK(etcd.Cluster, "refused no write as too large %s; %.0f since the start%s", in, sum.Total, note).
			Saw(etcd.InvalidWrites, in, "0", fmt.Sprint(p.At(refusedWarnAt)), refusedSource)
		return
	}
	status := checks.Info
	if sum.Delta >= p.At(refusedWarnAt) {
		status = checks.Warning
	}
	worst, then := refusedOperation(p)
	v := p.Judge(etcd.Cluster, status, "refused %s to write too large an object %s%s%s", checks.Count(sum.Delta, "try"), in, then, note).
		Saw(etcd.InvalidWrites, in, fmt.Sprintf("%.0f", sum.Delta), fmt.Sprint(p.At(refusedWarnAt)), refusedSource).
		Number("count", sum.Delta).Number("window", sum.Elapsed)
	if status == checks.Info {
		v.TooFew()
	}
	if worst.Window > 0 {
		v.Mark("resource="+worst.Resource, "operation="+storeOperation(worst.Verb))
	}
}

// refusedOperation is what the API servers answered 500 most often, among
// writes: that, not 413, is their answer to a write that etcd refuses.
func refusedOperation(p *checks.Pass) (worst apiserver.Row, words string) {
	traffic, _ := checks.All(p, apiserver.Requests)
	for _, a := range traffic {
		if a.Gap != nil || a.Value.Elapsed == 0 {
			continue
		}
		for _, r := range a.Value.Rows {
			more := r.Window > worst.Window || r.Window == worst.Window && r.Operation.String() < worst.Operation.String()
			if r.Write() && r.Ordinary() && r.Code == "500" && more {
				worst = r
			}
		}
	}
	if worst.Window > 0 {
		words = fmt.Sprintf("; most answered 500: %s (%.0f)", worst.Operation, worst.Window)
	}
	return worst, words
}

// storeOperation is what the API server calls a write to etcd.
func storeOperation(verb string) string {
	switch verb {
	case "POST":
		return "create"
	case "DELETE":
		return "delete"
	}
	return "update"
}
