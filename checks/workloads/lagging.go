package workloads

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/namespaces"
	"github.com/ktriage/ktriage/collectors/nodes"
)

//go:embed lagging.md
var laggingDoc string

// loops are all that are looked at one kind of object a fact.
var loops = []*collectors.Fact[controllers.Loop]{
	controllers.DaemonSets, controllers.Jobs, controllers.CronJobs, controllers.Endpoints, controllers.Claims, controllers.Autoscalers,
	controllers.Budgets, controllers.Quotas, controllers.Defaults, controllers.Lifecycle,
}

// ControllersLagging looks for objects of several kinds that wait for their
// controllers at once: then it is not one of these, nor one of the objects, but
// the process that all controllers share.
var ControllersLagging = &checks.Check{
	ID:        "controllers-lagging",
	Component: collectors.Controllers,
	Title:     "the controllers keep up with what they look after",
	Doc:       laggingDoc,
	Needs:     laggingNeeds(),
	Remedies: []checks.Remedy{
		{Title: "see who leads, and when it renewed its lease", Command: "kubectl -n kube-system get lease kube-controller-manager -o yaml", Risk: checks.ReadOnly},
		{Title: "read what the leader says: what it may not do, what it cannot reach", Command: "kubectl -n kube-system logs -l component=kube-controller-manager --tail=100 --prefix | grep -iE 'error|forbidden|unauthorized|timeout|throttl'", Risk: checks.ReadOnly},
		{Title: "on the leader's node, end its container: another instance takes over, and the kubelet starts it again", Command: "crictl stop $(crictl ps -q --name kube-controller-manager)", Risk: checks.Disruptive},
	},
	Run: lagging,
}

func laggingNeeds() []collectors.Any {
	out := []collectors.Any{controllers.Work, namespaces.Stuck, nodes.Requests, leases.Leases, cluster.Clock}
	for _, f := range loops {
		out = append(out, f)
	}
	return out
}

const (
	// So many objects of so many kinds are neither one controller nor one
	// object. They are RULES' own numbers, of deployment-generation-lag.
	manyKinds   = 2
	manyObjects = 3
	manySource  = "experience; each kind has a controller and a queue of its own, and all of them one process"
)

// A kind is the objects of one that wait.
type kind struct {
	name, queue string
	behind      int
	oldest      time.Duration
	example     string
	from        collectors.Any
}

func lagging(p *checks.Pass) {
	t := controllers.Controlled
	all, looked, unseen, gap := kinds(p)
	objects, oldest := 0, time.Duration(0)
	var parts, marks []string
	for _, k := range all {
		objects += k.behind
		oldest = max(oldest, k.oldest)
		parts = append(parts, fmt.Sprintf("%s (%s)", checks.Count(k.behind, k.name), k.example))
		marks = append(marks, "queue="+k.queue)
	}
	switch {
	case len(all) >= manyKinds && objects >= manyObjects:
		v := p.Critical(t, "objects of %d kinds wait for their controllers at once, for up to %s: %s; %s", len(all), checks.Span(oldest), checks.List(parts, 3), leader(p)).
			Number("kinds", float64(len(all))).Number("objects", float64(objects)).Number("oldest", oldest.Seconds()).Mark(marks...)
		for _, k := range all {
			v.Saw(k.from, k.name, fmt.Sprintf("%d for up to %s", k.behind, checks.Span(k.oldest)), "0", manySource)
		}
	case looked == 0, unseen > 0 && len(all)+unseen >= manyKinds:
		p.Unknown(t, gap) // what was not looked at could make it many
	case len(all) > 0:
		p.OK(t, "of %s that were looked at, few wait for their controller: %s", checks.Count(looked, "kind"), strings.Join(parts, ", ")).
			Saw(controllers.Work, "kinds that wait", fmt.Sprint(len(all)), fmt.Sprint(manyKinds), manySource)
	default:
		p.OK(t, "of %s that were looked at none waits for its controller", checks.Count(looked, "kind")).
			Saw(controllers.Work, "kinds that wait", "0", fmt.Sprint(manyKinds), manySource)
	}
}

// kinds lists those of which some wait, how many could be looked at, and how
// many, or more, could not, though there are such; with the reason of one of these.
func kinds(p *checks.Pass) (out []kind, looked, unseen int, gap *collectors.Gap) {
	add := func(g *collectors.Gap, ks ...kind) {
		if g != nil {
			if gap == nil || gap.Reason == collectors.OutOfScope {
				gap = g
			}
			if g.Reason != collectors.OutOfScope {
				unseen++
			}
			return
		}
		looked += len(ks)
		out = append(out, slices.DeleteFunc(ks, func(k kind) bool { return k.behind == 0 })...)
	}
	w, g := checks.One(p, controllers.Work)
	add(g, workloads(w)...)
	if unseen > 0 {
		unseen = manyKinds // at least: this is several
	}
	for _, f := range loops {
		l, g := checks.One(p, f)
		add(g, kind{l.Kind, l.Queue, l.Behind, l.Oldest, l.Example, f})
	}
	d, g := checks.One(p, namespaces.Stuck)
	add(g, unheard(d, now(p)))
	r, g := checks.One(p, nodes.Requests)
	add(g, kind{"certificate request", "certificate", r.Unsigned.Count, r.Unsigned.Oldest, r.Unsigned.Example, nodes.Requests})
	return out, looked, unseen, gap
}

// workloads are the kinds whose generations are looked at. A ReplicaSet that
// has the wrong number of pods waits as well.
func workloads(w controllers.Observed) []kind {
	var out []kind
	for _, b := range append(slices.Clone(w.Generations), w.Scales) {
		k := kind{b.Kind, strings.ToLower(b.Kind), b.Behind, b.Oldest, b.Example, controllers.Work}
		i := slices.IndexFunc(out, func(x kind) bool { return x.queue == k.queue })
		switch {
		case i < 0:
			out = append(out, k)
		default:
			out[i].behind += k.behind
			if k.oldest > out[i].oldest {
				out[i].oldest, out[i].example = k.oldest, k.example
			}
		}
	}
	return out
}

// unheard are the namespaces that are being deleted and of which no controller
// has said anything.
func unheard(d namespaces.Deleting, now time.Time) kind {
	k := kind{name: "deleted namespace", queue: "namespace", from: namespaces.Stuck}
	for _, n := range d.Oldest {
		age := now.Sub(n.Deleted)
		if n.By != namespaces.Unseen || age <= controllers.Patience {
			continue
		}
		k.behind++
		if age > k.oldest {
			k.oldest, k.example = age, n.Name
		}
	}
	return k
}

func now(p *checks.Pass) time.Time {
	skew, _ := checks.One(p, cluster.Clock)
	return p.Now().Add(skew)
}

// leader says what is known of the process that should act.
func leader(p *checks.Pass) string {
	h, gap := checks.One(p, leases.Leases)
	if gap != nil {
		return "who leads is not known: " + string(gap.Reason)
	}
	l, ok := h.Of("kube-controller-manager")
	age := max(0, l.Age(h.At))
	switch {
	case !ok:
		return "there is no lease of a controller manager"
	case l.Silent(h.At):
		return fmt.Sprintf("whether anybody leads is doubtful: %s holds the lease for %s and has not renewed it for %s", l.Host(), checks.Span(l.Duration), checks.Span(age))
	case l.Fresh(h.At):
		ago := "under 1s" // the API server's clock has no fractions
		if age >= time.Second {
			ago = checks.Span(age)
		}
		return fmt.Sprintf("%s leads and renewed its lease %s ago, so it is there and does not do its work", l.Host(), ago)
	case l.Holder == "":
		return fmt.Sprintf("nobody has led for %s", checks.Span(age))
	}
	return fmt.Sprintf("nobody leads: %s renewed the lease last, %s ago", l.Host(), checks.Span(age))
}
