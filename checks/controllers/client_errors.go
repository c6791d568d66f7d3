package controllers

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	judge "github.com/ktriage/ktriage/checks/leases"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/metrics"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed client_errors.md
var clientErrorsDoc string

// ClientErrors looks for requests of controller managers and schedulers that
// the API server refuses or does not answer.
var ClientErrors = &checks.Check{
	ID:        "kcm-client-errors",
	Component: collectors.Controllers,
	Title:     "the API server answers the controllers and the schedulers",
	Doc:       clientErrorsDoc,
	Needs:     []collectors.Any{controllers.Elected.Client, scheduler.Elected.Client, controllers.Elected.Instances, scheduler.Elected.Instances, controllers.Elected.Rights, scheduler.Elected.Rights},
	Remedies: []checks.Remedy{
		{Title: "read what is refused", Command: "kubectl -n kube-system logs --prefix --tail=200 -l tier=control-plane | grep -iE 'unauthorized|forbidden|refused|timeout|x509'", Risk: checks.ReadOnly},
		{Title: "see whether its rights are still bound to it (403); an API server that starts binds them anew", Command: "kubectl get clusterrolebinding system:kube-scheduler system:kube-controller-manager -o wide", Risk: checks.ReadOnly},
		{Title: "on the node, see whether its client certificate is valid (401)", Command: "kubeadm certs check-expiration", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		clientErrors(p, controllers.Elected)
		clientErrors(p, scheduler.Elected)
	},
}

const (
	// failWarn is the share of requests that may fail. Source:
	// kubernetes-mixin, KubeClientErrors, which waits for 15 minutes.
	failWarn   = 0.01
	failSource = "kubernetes-mixin KubeClientErrors"
	// allBarred creations of a scheduler, and none that succeeds, are no chance:
	// in a namespace that is being deleted, a single one is refused too.
	allBarred = 3
)

func clientErrors(p *checks.Pass, e *leases.Elected) {
	refused := false
	itself := func(t collectors.Target, gap *collectors.Gap) bool {
		is := refusedItself(p, e, t, gap)
		refused = refused || is
		return is
	}
	rights, _ := checks.One(p, e.Rights) // only adds to what is said
	for t, c := range judge.EachRunningOr(p, e, e.Client, itself) {
		if c.Total == 0 {
			p.Nothing(t, "sent no request in the window")
			continue
		}
		failed := c.Server + c.NoAnswer
		var why, marks []string
		if c.Unauth > 0 {
			why, marks = append(why, fmt.Sprintf("%.0f were not authenticated (401)", c.Unauth)), append(marks, "401")
		}
		if c.Forbidden > 0 {
			why, marks = append(why, fmt.Sprintf("%.0f reads were forbidden (403)", c.Forbidden)), append(marks, "403")
		}
		if e == scheduler.Elected && c.Barred >= allBarred && c.Barred == c.Creations {
			// Quotas and policies refuse no bindings and no events.
			why, marks = append(why, fmt.Sprintf("all %.0f creations, of bindings and events, were forbidden (403)", c.Barred)), append(marks, "403", "may-not-bind")
		}
		if c.Refused > 0 && len(rights.Denied) > 0 && !slices.Contains(marks, "403") {
			// With its rights denied, it is not, or not only, for reasons of policy.
			why, marks = append(why, fmt.Sprintf("%.0f writes were forbidden (403)", c.Refused)), append(marks, "403")
		}
		if metrics.Exceeds(c.Total, failed, failWarn) {
			why, marks = append(why, failures(c)), append(marks, "5xx")
		}
		if metrics.Exceeds(c.Total, c.TooMany, failWarn) {
			why, marks = append(why, fmt.Sprintf("%.0f were turned away (429)", c.TooMany)), append(marks, "429")
		}
		var v *checks.Verdict
		switch {
		case slices.Contains(marks, "403"):
			refused = true
			v = withRights(p, e, p.Warn(t, "of %s %s%s", checks.Count(c.Total, "request"), strings.Join(why, ", "), mayNot(p, e)))
		case len(why) > 0:
			v = p.Warn(t, "of %s %s", checks.Count(c.Total, "request"), strings.Join(why, ", "))
		default:
			v = p.OK(t, "%.0f of %s failed%s", failed, checks.Count(c.Total, "request"), writesRefused(c))
			if k := max(failed, c.TooMany); k > 0 && !metrics.Excludes(c.Total, k, failWarn) {
				v.TooFew()
			}
		}
		v.Saw(e.Client, "failed", checks.Percent(failed/c.Total), checks.Percent(failWarn), failSource).
			Number("failed", failed/c.Total).Number("unwelcome", (c.Unauth+c.Forbidden)/c.Total).Mark(marks...)
		for _, code := range slices.Sorted(maps.Keys(c.Codes)) {
			v.Saw(e.Client, "code "+code, fmt.Sprint(c.Codes[code]), "", "")
		}
	}
	r, gap := checks.One(p, e.Rights)
	switch {
	case gap != nil || len(r.Denied) == 0 || refused:
	case len(r.Barred) > 0:
		// Its flags say that the controllers come as these, and the API server what they may.
		v := withRights(p, e, p.Warn(e.Self(), "the API server does not let it %s; nothing was seen refused: what is refused is tried ever more rarely", checks.List(r.Denied, 3))).
			Mark("403")
		for _, account := range r.Barred {
			v.Mark("queue=" + strings.ReplaceAll(strings.TrimSuffix(account, "-controller"), "endpointslice", "endpoint_slice"))
		}
	default:
		// As whom a process comes is not known, only as whom it does by default.
		withRights(p, e, p.Info(e.Self(), "the API server would not let %s %s; nothing was seen refused, so it comes as somebody else, or has not tried", r.User, checks.List(r.Denied, 3)))
	}
}

// mayNot says which of the rights that a component cannot do without it lacks.
// That they could not be asked about costs only this.
func mayNot(p *checks.Pass, e *leases.Elected) string {
	r, gap := checks.One(p, e.Rights)
	switch {
	case gap != nil:
		return ""
	case len(r.Denied) == 0:
		return fmt.Sprintf("; by default it is %s, which may do all of the %d things that it needs most", r.User, r.Asked)
	case len(r.Denied) == r.Asked:
		return fmt.Sprintf("; %s may do none of the %d things that it needs most", r.User, r.Asked)
	}
	return fmt.Sprintf("; %s may not %s", r.User, checks.List(r.Denied, 3))
}

func withRights(p *checks.Pass, e *leases.Elected, v *checks.Verdict) *checks.Verdict {
	r, gap := checks.One(p, e.Rights)
	if gap != nil {
		return v
	}
	v.Saw(e.Rights, "rights that are denied", fmt.Sprint(len(r.Denied)), fmt.Sprintf("0 of %d", r.Asked), "SubjectAccessReview")
	for _, d := range r.Denied {
		v.Saw(e.Rights, "may not", d, "", "")
		if d == "create pods/binding" {
			v.Mark("may-not-bind")
		}
	}
	if r.Why != "" {
		v.Saw(e.Rights, "why", r.Why, "", "")
	}
	return v
}

// refusedItself reports an instance that cannot even tell its numbers, because
// the API server refuses to answer its question whether it may.
func refusedItself(p *checks.Pass, e *leases.Elected, t collectors.Target, gap *collectors.Gap) bool {
	what, code := "", ""
	switch leases.RefusalOf(gap) {
	case leases.Unknown:
		what, code = "does not accept its credentials (401)", "401"
	case leases.Forbidden:
		what, code = "forbids what it asks (403), even whether somebody may read its metrics", "403"
	default:
		return false
	}
	also := ""
	if code == "403" {
		also = mayNot(p, e)
	}
	v := p.Warn(t, "the API server %s%s", what, also)
	if code == "403" {
		withRights(p, e, v)
	}
	v.Saw(e.Client, "answer", gap.Detail, "", "").Number("unwelcome", 1).Mark(code)
	return true
}

func failures(c leases.Client) string {
	var parts []string
	if c.Server > 0 {
		parts = append(parts, fmt.Sprintf("%.0f were answered 5xx", c.Server))
	}
	if c.NoAnswer > 0 {
		parts = append(parts, fmt.Sprintf("%.0f not at all", c.NoAnswer))
	}
	return strings.Join(parts, " and ")
}

// writesRefused mentions writes that were refused. Quotas and policies do that to
// controllers every day, and they say so on the objects concerned.
func writesRefused(c leases.Client) string {
	if c.Refused == 0 {
		return ""
	}
	return fmt.Sprintf("; %.0f writes were answered 403, as quotas and policies do", c.Refused)
}
