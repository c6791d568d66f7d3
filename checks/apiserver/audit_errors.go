package apiserver

import (
	_ "embed"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed audit_errors.md
var auditErrorsDoc string

// AuditErrors looks for audit events that are lost, and for requests that are
// refused because of that.
var AuditErrors = &checks.Check{
	ID:        "apiserver-audit-errors",
	Component: collectors.APIServer,
	Title:     "audit events are written",
	Doc:       auditErrorsDoc,
	Needs:     []collectors.Any{apiserver.Audits},
	Remedies: []checks.Remedy{
		{Title: "read the error", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -i audit", Risk: checks.ReadOnly},
		{Title: "on its node, see whether the disk of the audit log is full", Command: "df -h $(dirname $(grep -oP 'audit-log-path=\\K\\S+' /etc/kubernetes/manifests/kube-apiserver.yaml))", Risk: checks.ReadOnly},
	},
	Run: auditErrors,
}

const (
	// Source: openshift/cluster-kube-apiserver-operator, AuditLogError (> 0).
	auditSource = "cluster-kube-apiserver-operator AuditLogError"
	// With the mode blocking-strict a request whose event cannot be written is
	// refused. Source: kube-apiserver, --audit-log-mode.
	auditRefusedSource = "kube-apiserver --audit-log-mode"
)

func auditErrors(p *checks.Pass) {
	for t, a := range checks.Each(p, apiserver.Audits) {
		lost, plugins := a.Lost(), checks.List(slices.Sorted(maps.Keys(a.Errors)), 3)
		span := over(a.Elapsed, 0)
		switch {
		case a.Rejected.Window > 0:
			p.Critical(t, "%s refused %s because their audit event could not be written", checks.Count(a.Rejected.Window, "request"), span).
				Saw(apiserver.Audits, "refused", checks.Count(a.Rejected.Window, "request"), "0", auditRefusedSource).Number("refused", a.Rejected.Window)
		case lost.Window > 0:
			p.Warn(t, "%s lost %s by plugin %s", checks.Count(lost.Window, "audit event"), span, plugins).
				Saw(apiserver.Audits, "lost", checks.Count(lost.Window, "event"), "0", auditSource).Number("lost", lost.Window)
		case a.Elapsed == 0 && lost.Lifetime+a.Rejected.Lifetime > 0:
			p.Warn(t, "%s lost and %s refused since the process started; whether it goes on is not known: %s",
				checks.Count(lost.Lifetime, "audit event"), checks.Count(a.Rejected.Lifetime, "request"), a.Broken).
				Saw(apiserver.Audits, "lost", checks.Count(lost.Lifetime, "event"), "0", auditSource)
		case lost.Lifetime+a.Rejected.Lifetime > 0:
			p.Info(t, "no audit event lost %s; since the process started %.0f were lost and %s refused", span, lost.Lifetime, checks.Count(a.Rejected.Lifetime, "request"))
		case a.Events.Lifetime == 0:
			p.OK(t, "no audit event was made since the process started: audit is off, or its policy wants none")
		default:
			p.OK(t, "none of %.0f audit events lost since the process started", a.Events.Lifetime)
		}
	}
}
