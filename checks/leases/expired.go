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

//go:embed expired.md
var expiredDoc string

// Expired looks for leader-election leases that nobody renews.
var Expired = &checks.Check{
	ID:        "lease-expired",
	Component: collectors.Leases,
	Title:     "every leader-election lease is renewed by its holder",
	Doc:       expiredDoc,
	Needs:     []collectors.Any{leases.Leases, scheduler.Elected.Instances, controllers.Elected.Instances, leases.Where},
	Remedies: []checks.Remedy{
		{Title: "see who holds the lease and when it was renewed", Command: "kubectl -n {ns} get lease {obj} -o yaml", Risk: checks.ReadOnly},
		{Title: "read why its holder stopped renewing: of the control plane's own by their label, of an operator's by the pod that holds it", Command: "kubectl -n {ns} logs -l component={obj} --tail=50 --prefix; kubectl -n {ns} logs --tail=50 HOLDER", Risk: checks.ReadOnly},
		{Title: "only if it lasts for hours and its holder is none of those that run, let them make a new one", Command: "kubectl -n {ns} delete lease {obj}", Risk: checks.Disruptive},
	},
	Run: expired,
}

// abandoned is when the lease of an operator counts as left behind rather than
// lost: who was uninstalled does not delete it.
const abandoned = time.Hour

func expired(p *checks.Pass) {
	h, gap := checks.One(p, leases.Leases)
	if gap != nil {
		p.Unknown(leases.All, gap)
		return
	}
	homes, _ := checks.One(p, leases.Where) // only adds to what is said
	for _, l := range h.Leases {
		s, words := judgeLease(l, h.At)
		if home := homes.Of(l); stand(l, h.At) == lost && l.Holder != "" && home.Works {
			words += fmt.Sprintf("; its pod %s is ready all the same: it hangs, or cannot write", home.Pod)
		}
		if s.Bad() && leftBehind(p, l) {
			s, words = checks.OutOfScope, "left from when it elected a leader; it runs with --leader-elect=false"
		}
		if i, ok := restarted(p, l); ok && s == checks.Warning {
			s = checks.Info // a candidate takes it in a moment, or nobody leads then
			words = fmt.Sprintf("%s held it and was started anew %s ago; it may be taken once it has run out (lease %s)", l.Host(), ago(max(0, h.At.Sub(i.Started))), ago(l.Duration))
		}
		if run, ok := strangers(p, l); ok && stand(l, h.At) == silent {
			s = checks.Critical
			words = fmt.Sprintf("%s; it is none of those that run (%s), so nobody leads %s", words, checks.List(run, 3), l.Name)
		}
		if d, ok := waitedFor(p, l, h.At); ok && s == checks.Critical && stand(l, h.At) == lost {
			s = checks.Info
			words = fmt.Sprintf("%s held it and has not renewed it for %s; all candidates were started anew, the first %s ago, and each first waits out the lease (%s)", l.Host(), ago(l.Age(h.At)), ago(d), ago(l.Duration))
		}
		if s == checks.OutOfScope {
			p.Nothing(l.Target(), "%s", words)
			continue
		}
		age := max(0, l.Age(h.At))
		v := p.Judge(l.Target(), s, "%s", words).
			Saw(leases.Leases, "renewed", ago(age)+" ago", l.Duration.String(), leaseSource).
			Saw(leases.Leases, "holder", l.Holder, "", "").
			Number("age", age.Seconds()).Number("duration", l.Duration.Seconds()).Mark("holder=" + l.Host())
		if l.Core() {
			v.Mark("core", "component="+l.Name)
		}
	}
	if len(h.Leases) == 0 {
		p.Nothing(leases.All, "nobody elects a leader in this cluster")
	}
}

// leftBehind reports whether the lease is of a component that no longer elects.
func leftBehind(p *checks.Pass, l leases.Lease) bool {
	for _, e := range []*leases.Elected{scheduler.Elected, controllers.Elected} {
		if l.Core() && l.Name == string(e.Role) {
			return electionOff(p, e)
		}
	}
	return false
}

func judgeLease(l leases.Lease, at time.Time) (checks.Status, string) {
	age := ago(l.Age(at))
	who := l.Host()
	switch stand(l, at) {
	case undated:
		if l.Holder == "" {
			return checks.OutOfScope, "does not run out, and nobody holds it"
		}
		return checks.OutOfScope, fmt.Sprintf("does not run out; %s holds it", who)
	case held:
		return checks.OK, fmt.Sprintf("held by %s, renewed %s ago (lease %s)", who, age, ago(l.Duration))
	case silent:
		return checks.Warning, fmt.Sprintf("%s has not renewed it for %s, and it lasts for %s: until then nobody else may take it", who, age, ago(l.Duration))
	case late:
		s := checks.Warning
		if !l.Core() {
			s = checks.Info // its own deadline is not known, and only the operator's own work waits
		}
		return s, fmt.Sprintf("%s holds it but has not renewed for %s (lease %s); it is about to lose it", who, age, ago(l.Duration))
	case released:
		return checks.OK, fmt.Sprintf("released %s ago, free for a candidate", age)
	case lapsed:
		s := checks.Warning
		if !l.Core() {
			s = checks.Info
		}
		if l.Holder == "" {
			return s, fmt.Sprintf("released %s ago and not taken yet", age)
		}
		return s, fmt.Sprintf("%s has not renewed it for %s (lease %s); nobody has taken it yet", who, age, ago(l.Duration))
	}
	what := fmt.Sprintf("%s holds it but has not renewed for %s (lease %s); nobody leads %s", who, age, ago(l.Duration), l.Name)
	if l.Holder == "" {
		what = fmt.Sprintf("released %s ago and taken by nobody; nobody leads %s", age, l.Name)
	}
	switch {
	case l.Core():
		return checks.Critical, what
	case l.Holder == "":
		return checks.Info, fmt.Sprintf("released %s ago and taken by nobody", age)
	case l.Age(at) > abandoned:
		return checks.Info, fmt.Sprintf("abandoned: %s has not renewed it for %s (lease %s)", who, age, ago(l.Duration))
	}
	return checks.Warning, what
}
