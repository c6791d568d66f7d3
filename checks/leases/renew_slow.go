package leases

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed renew_slow.md
var renewSlowDoc string

// RenewSlow looks for leaders that have trouble renewing their lease.
var RenewSlow = &checks.Check{
	ID:        "lease-renew-slow",
	Component: collectors.Leases,
	Title:     "the control plane's leaders renew their leases every few seconds",
	Doc:       renewSlowDoc,
	Needs:     []collectors.Any{leases.Leases, scheduler.Elected.Instances, controllers.Elected.Instances},
	Remedies: []checks.Remedy{
		{Title: "watch when it is renewed", Command: "kubectl -n {ns} get lease {obj} -w -o custom-columns=RENEWED:.spec.renewTime,HOLDER:.spec.holderIdentity", Risk: checks.ReadOnly},
		{Title: "read why it is slow", Command: "kubectl -n kube-system logs -l component={obj} --tail=100 --prefix | grep -iE 'lease|leader'", Risk: checks.ReadOnly},
	},
	Run: renewSlow,
}

// slowShare of the lease's duration without a renewal means that renewals fail
// or hang: one is due every 2 s of a lease of 15 s, and takes 10 ms. 5 s is
// also the timeout of a single attempt to renew.
// Source: component-base, config/v1alpha1/defaults.go; client-go,
// tools/leaderelection/resourcelock, which halves the renew deadline of 10 s.
const slowShare = 1.0 / 3

func renewSlow(p *checks.Pass) {
	h, gap := checks.One(p, leases.Leases)
	if gap != nil {
		p.Unknown(leases.All, gap)
		return
	}
	some := false
	for _, l := range h.Leases {
		if !l.Core() || !l.Fresh(h.At) {
			continue // who does not hold a lease does not renew it: lease-expired
		}
		some = true
		// The longest wait that was seen. Between the looks there may have been
		// longer ones that ended.
		wait, now := l.Age(h.At), true
		if h.Before != nil {
			if b, ok := h.Before.Find(l.Namespace, l.Name); ok && b.Holder == l.Holder && b.Age(h.Before.At) > wait {
				wait, now = b.Age(h.Before.At), false
			}
		}
		limit := time.Duration(slowShare * float64(l.Duration))
		status, words := checks.OK, fmt.Sprintf("longest wait for a renewal that was seen: %s (lease %s)", ago(wait), ago(l.Duration))
		if wait > limit {
			status = checks.Warning
			words = fmt.Sprintf("%s had not renewed it for %s at the look before (lease %s)", l.Host(), ago(wait), ago(l.Duration))
			if now {
				words = fmt.Sprintf("%s has not renewed it for %s (lease %s)", l.Host(), ago(wait), ago(l.Duration))
			}
			if i, ok := restarted(p, l); ok && now {
				status = checks.Info // who was started anew is another candidate now
				words = fmt.Sprintf("%s, as it was started anew %s ago", words, ago(max(0, h.At.Sub(i.Started))))
			}
		}
		p.Judge(l.Target(), status, "%s", words).
			Saw(leases.Leases, "without a renewal", ago(wait), ago(limit), leaseSource).
			Saw(leases.Leases, "holder", l.Holder, "", "").
			Number("wait", wait.Seconds()).Number("duration", l.Duration.Seconds()).Mark("component="+l.Name, "holder="+l.Host())
	}
	if !some {
		p.Nothing(leases.All, "no leader of the control plane holds a lease")
	}
}
