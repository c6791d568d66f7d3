package namespaces

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/namespaces"
)

//go:embed stuck.md
var stuckDoc string

// Stuck looks for namespaces that were deleted and stay.
var Stuck = &checks.Check{
	ID:        "kcm-namespace-stuck",
	Component: collectors.Controllers,
	Title:     "namespaces that are deleted are gone soon",
	Doc:       stuckDoc,
	Needs:     []collectors.Any{namespaces.Stuck, cluster.Clock},
	Remedies: []checks.Remedy{
		{Title: "read what the controller says of it", Command: "kubectl get namespace {name} -o jsonpath='{range .status.conditions[*]}{.type}={.status}: {.message}{\"\\n\"}{end}'", Risk: checks.ReadOnly},
		{Title: "list what is left in it", Command: "kubectl api-resources --verbs=list --namespaced -o name | xargs -n1 kubectl get -n {name} --ignore-not-found --show-kind -o name", Risk: checks.ReadOnly},
		{Title: "see which groups of the API are not served", Command: "kubectl get apiservices | grep False", Risk: checks.ReadOnly},
	},
	Run: stuck,
}

// How long each holder may take. RULES gives five minutes for all, without a
// source. A failure that the controller itself reports needs no such time: it
// is only given what a backend takes to come back. A finalizer is taken away by
// its owner in seconds, or in the minute or two that clouds take to give up a
// load balancer. Content may be pods with a long grace period.
var patience = map[namespaces.Holder]time.Duration{
	namespaces.Discovery: 30 * time.Second,
	namespaces.Deletion:  30 * time.Second,
	namespaces.Finalizer: 2 * time.Minute,
	namespaces.Own:       2 * time.Minute,
	namespaces.Content:   5 * time.Minute,
	namespaces.Unseen:    time.Minute,
}

const patienceSource = "experience; no public source"

// maxReported bounds the findings: many namespaces that are stuck have one
// reason.
const maxReported = 10

func stuck(p *checks.Pass) {
	skew, _ := checks.One(p, cluster.Clock) // without it, this machine's clock has to do
	now := p.Now().Add(skew)
	all := collectors.Target{Component: collectors.Controllers}
	d, gap := checks.One(p, namespaces.Stuck)
	if gap != nil {
		p.Unknown(all, gap)
		return
	}
	var late []namespaces.Terminating
	for _, n := range d.Oldest {
		if now.Sub(n.Deleted) >= patience[n.By] {
			late = append(late, n)
		}
	}
	for _, n := range late[:min(len(late), maxReported)] {
		report(p, n, now.Sub(n.Deleted))
	}
	switch {
	case len(late) > maxReported:
		p.Warn(all, "%s that are being deleted stay; %d are listed", checks.Count(len(late), "namespace"), maxReported)
	case len(late) > 0:
	case d.Count > 0:
		p.OK(all, "being deleted: %d of %s, the first since %s", d.Count, checks.Count(d.All, "namespace"), checks.Span(now.Sub(d.Oldest[0].Deleted))).
			Saw(namespaces.Stuck, "being deleted", fmt.Sprint(d.Count), "", "")
	default:
		p.OK(all, "of %s none is being deleted", checks.Count(d.All, "namespace")).
			Saw(namespaces.Stuck, "being deleted", "0", "", "")
	}
}

// report warns of one namespace, with what ties it to the cause.
func report(p *checks.Pass, n namespaces.Terminating, age time.Duration) {
	t := collectors.Target{Component: collectors.Controllers, Name: n.Name}
	v := p.Warn(t, "namespace was deleted %s ago and stays: %s", checks.Span(age), holds(n)).
		Saw(namespaces.Stuck, "deleted", checks.Span(age)+" ago", checks.Span(patience[n.By]), patienceSource).
		Number("age", age.Seconds()).Mark("by=" + string(n.By))
	if n.Message != "" {
		v.Saw(namespaces.Stuck, "condition", n.Message, "", "")
	}
	if n.By == namespaces.Unseen {
		v.Mark("lag", "queue=namespace")
	}
	if n.By == namespaces.Discovery || n.By == namespaces.Deletion {
		for _, gv := range n.Names {
			group, _, _ := strings.Cut(gv, "/")
			v.Mark("groupversion="+gv, "group="+group)
		}
	}
}

// holds says in words what keeps a namespace.
func holds(n namespaces.Terminating) string {
	names := checks.List(n.Names, 3)
	switch n.By {
	case namespaces.Discovery:
		if names == "" {
			return "not every group of the API can be listed"
		}
		return "what is in " + names + " cannot be listed"
	case namespaces.Deletion:
		if names == "" {
			return "deleting what is in it fails"
		}
		return "deleting what is in " + names + " fails"
	case namespaces.Finalizer:
		return "objects in it wait for whoever takes away the finalizer " + names
	case namespaces.Own:
		return "it is empty, and waits for whoever takes away its own finalizer " + names
	case namespaces.Content:
		return "objects in it are still there"
	}
	return "no controller has said anything about it"
}
