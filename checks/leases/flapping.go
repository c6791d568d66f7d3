package leases

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
)

//go:embed flapping.md
var flappingDoc string

// Flapping looks for leases that keep changing hands.
var Flapping = &checks.Check{
	ID:        "lease-flapping",
	Component: collectors.Leases,
	Title:     "the control plane's leaders stay the same",
	Doc:       flappingDoc,
	Needs:     []collectors.Any{leases.Leases},
	Remedies: []checks.Remedy{
		{Title: "see when it changed hands, and how often it has", Command: "kubectl -n {ns} get lease {obj} -o yaml", Risk: checks.ReadOnly},
		{Title: "read why the former leader ended", Command: "kubectl -n kube-system logs -l component={obj} --previous --tail=50 --prefix", Risk: checks.ReadOnly},
	},
	Run: flapping,
}

const (
	// recent is how long ago a change of leader is worth a mention.
	recent = 10 * time.Minute
	// often is how many changes an hour, on average since the lease was made,
	// are no upgrades. Both are experience.
	often        = 3.0
	changeSource = "experience; no public source"
)

func flapping(p *checks.Pass) {
	h, gap := checks.One(p, leases.Leases)
	if gap != nil {
		p.Unknown(leases.All, gap)
		return
	}
	some := false
	for _, l := range h.Leases {
		if !l.Core() || l.Holder == "" || l.Acquired.IsZero() {
			continue
		}
		some = true
		since := max(0, h.At.Sub(l.Acquired))
		perHour, span := rate(l, h.At)
		status := checks.OK
		words := fmt.Sprintf("%s has led for %s; the lease %s", l.Host(), ago(since), changed(l.Transitions))
		switch {
		case changesBetween(h, l) > 1:
			status = checks.Warning
			words = fmt.Sprintf("changed hands %d times between the two looks, last to %s", changesBetween(h, l), l.Host())
		case perHour >= often && since < time.Hour:
			status = checks.Warning
			words = fmt.Sprintf("%s in %s, last to %s %s ago", changed(l.Transitions), checks.Span(span), l.Host(), ago(since))
		case since < recent && l.Transitions > 0:
			// An upgrade, a drained node: one change is what there is a standby for.
			status = checks.Info
			words = fmt.Sprintf("went to %s %s ago, and %s", l.Host(), ago(since), changed(l.Transitions))
		}
		p.Judge(l.Target(), status, "%s", words).
			Saw(leases.Leases, "held for", ago(since), ago(recent), changeSource).
			Saw(leases.Leases, "changes an hour", fmt.Sprintf("%.2g", perHour), fmt.Sprint(often), changeSource).
			Number("since", since.Seconds()).Mark("component=" + l.Name)
	}
	if !some {
		p.Nothing(leases.All, "no leader of the control plane holds a lease")
	}
}

// rate is how often the lease changed hands an hour since it was made. A lease
// younger than an hour has had no time to have a rate.
func rate(l leases.Lease, at time.Time) (float64, time.Duration) {
	span := at.Sub(l.Created)
	if l.Created.IsZero() || span < time.Hour {
		return 0, span
	}
	return float64(l.Transitions) / span.Hours(), span
}

// changesBetween counts the changes of leader between the two looks. One is what
// an upgrade makes, too, whenever it happens to be looked at.
func changesBetween(h leases.Held, l leases.Lease) int {
	if h.Before == nil {
		return 0
	}
	b, ok := h.Before.Find(l.Namespace, l.Name)
	if !ok {
		return 0
	}
	return l.Transitions - b.Transitions
}

func changed(n int) string {
	switch n {
	case 0:
		return "has never changed hands"
	case 1:
		return "has changed hands once"
	}
	return fmt.Sprintf("has changed hands %d times", n)
}
