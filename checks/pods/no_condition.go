package pods

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/pods"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed no_condition.md
var noConditionDoc string

// NoCondition looks for pods at which no scheduler has looked.
var NoCondition = &checks.Check{
	ID:        "pod-pending-no-condition",
	Component: collectors.Pods,
	Title:     "a scheduler has looked at every pod",
	Doc:       noConditionDoc,
	Needs:     []collectors.Any{pods.Pending, scheduler.Attempts, scheduler.Pending, scheduler.Elected.Leads, leases.Leases},
	Remedies: []checks.Remedy{
		{Title: "see who leads the schedulers and whether it renews its lease", Command: "kubectl -n kube-system get lease kube-scheduler -o yaml", Risk: checks.ReadOnly},
		{Title: "see the schedulers' pods", Command: "kubectl -n kube-system get pods -l component=kube-scheduler -o wide", Risk: checks.ReadOnly},
		{Title: "see which scheduler each pending pod asks for", Command: "kubectl get pods -A --field-selector status.phase=Pending -o custom-columns=NS:.metadata.namespace,POD:.metadata.name,SCHEDULER:.spec.schedulerName", Risk: checks.ReadOnly},
	},
	Run: noCondition,
}

const (
	// A scheduler looks at a new pod within milliseconds; at 100 pods a second,
	// which is what the project tests for, 30 s are a queue of 3000.
	// Source: kubernetes/community, sig-scalability/slos.
	ignoredFor    = 30 * time.Second
	ignoredSource = "sig-scalability SLOs"
	// aFew pods are fewer than any queue of a scheduler that works holds up for
	// that long.
	aFew = 100
	// customFor is how long a scheduler of somebody's own may take.
	customFor = 2 * time.Minute
)

func noCondition(p *checks.Pass) {
	c, gap := checks.One(p, pods.Pending)
	if gap != nil {
		p.Unknown(pods.All, gap)
		return
	}
	w := schedulers(p)
	said, others := false, ""
	groups := c.By(pods.Ignored)
	switch waiting, held, known := unclaimed(p, c); {
	case held:
		// The scheduler did look, and waits for their claims.
	case known:
		for _, g := range waiting {
			g.Key = w.profiles[0]
			groups = append(groups, g)
		}
	case len(waiting) > 0:
		others = fmt.Sprintf("; not judged: %s with resource claims, as it is not known which the scheduler keeps back", checks.Count(c.Sum(pods.Unclaimed).Count, "pod"))
	}
	for _, g := range groups {
		if slices.Contains(w.profiles, g.Key) {
			said = ignored(p, g, w) || said
		} else if g.Past2m > 0 {
			said = true
			t := collectors.Target{Component: collectors.Pods, Name: g.Key}
			p.Warn(t, "no scheduler has looked at %s in %s, such as %s; they ask for scheduler %s, which kube-scheduler is not known to serve%s", checks.Count(g.Past2m, "pod"), checks.Span(g.Oldest), g.Example, g.Key, lockOf(p, g.Key)).
				Saw(pods.Pending, "waits", checks.Span(g.Oldest), checks.Span(customFor), "experience; no public source").
				Number("pods", float64(g.Past2m)).Mark("custom-scheduler")
		} else if g.Past30s > 0 {
			others += fmt.Sprintf("; for scheduler %s, which need not be as quick, %s wait, for up to %s", g.Key, checks.Count(g.Past30s, "pod"), checks.Span(g.Oldest))
		}
	}
	if !said {
		p.OK(pods.All, "of %s none waits longer than %s for kube-scheduler's first look%s", checks.Count(c.Total, "pending pod"), checks.Span(ignoredFor), others).
			Saw(pods.Pending, "ignored", "0", "", "")
	}
}

// lockOf says what the leases tell of a scheduler of somebody's own. One that
// was told to elect by the lock of kube-scheduler waits for it for ever.
func lockOf(p *checks.Pass, name string) string {
	h, gap := checks.One(p, leases.Leases)
	if gap != nil {
		return ""
	}
	for _, l := range h.Leases {
		if !strings.Contains(l.Name, name) {
			continue
		}
		if l.Fresh(h.At) {
			return fmt.Sprintf("; %s holds the lease %s and does not look at them", l.Host(), l.ID())
		}
		return fmt.Sprintf("; nobody holds the lease %s", l.ID())
	}
	return "; no lease has its name: it does not run, elects nobody, or waits for the lock of another"
}

// ignored reports pods that kube-scheduler should have looked at, if there are
// any that have waited for long enough.
func ignored(p *checks.Pass, g pods.Group, w working) bool {
	if g.Past30s == 0 {
		return false
	}
	status, why := checks.Critical, w.words
	if w.works || !w.known && g.Past30s >= aFew {
		// A queue that moves. That it is long is another check's matter.
		status = checks.Warning
	}
	p.Judge(pods.All, status, "the scheduler has not looked at %s in %s, such as %s%s", checks.Count(g.Past30s, "pod"), checks.Span(g.Oldest), g.Example, why).
		Saw(pods.Pending, "waits", checks.Span(g.Oldest), checks.Span(ignoredFor), ignoredSource).
		Number("pods", float64(g.Past30s)).Number("oldest", g.Oldest.Seconds()).Mark(w.mark)
	return true
}

// working is what is known of whether the scheduler works.
type working struct {
	works, known bool
	words        string
	mark         string   // "works", "hangs", "no-leader" or "not-known"
	profiles     []string // the schedulerNames that are kube-scheduler's
}

func schedulers(p *checks.Pass) working {
	w := working{profiles: []string{"default-scheduler"}, mark: "not-known"}
	as, _ := checks.All(p, scheduler.Attempts)
	for _, a := range as {
		if a.Gap != nil {
			continue
		}
		w.profiles = append(w.profiles, a.Value.Profiles...)
		if l, gap := checks.Of(p, scheduler.Elected.Leads, a.Target); gap == nil && l.Leads {
			w.known, w.works, w.mark = true, a.Value.Total() > 0, "hangs"
			if w.works {
				w.mark = "works"
			}
			w.words = fmt.Sprintf("; %s leads and tried to place %.0f in %s", a.Target.Name, a.Value.Total(), checks.Span(a.Value.Elapsed))
		}
	}
	h, gap := checks.One(p, leases.Leases)
	if gap != nil {
		return w
	}
	if l, ok := h.Of("kube-scheduler"); ok && (!l.Fresh(h.At) || l.Silent(h.At)) {
		w.known, w.works, w.mark = true, false, "no-leader"
		w.words = fmt.Sprintf("; nobody leads: the lease was last renewed %s ago", checks.Span(l.Age(h.At)))
	}
	return w
}
