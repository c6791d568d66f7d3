package pending

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/pods"
)

// A refusal is a workload whose pods are refused.
type refusal struct {
	controllers.Short
	by   controllers.Refuser
	name string // of who refuses
	last time.Time
}

// stale is how old a refusal is at which its workload has tried again by all
// means: controllers back off up to about 16 minutes. Source: k8s.io/client-go,
// util/workqueue, DefaultControllerRateLimiter.
const stale = 17 * time.Minute

// NotCreatedGroups puts the pods together that do not exist because the API server
// refuses them for the same reason.
func NotCreatedGroups(in Input) []Group {
	by := map[string]*Group{}
	of := map[string][]refusal{}
	for _, r := range refusals(in) {
		if in.Keep != nil && !in.Keep(r.Namespace, r.Name, r.Labels) && !in.Keep(r.Namespace, r.Deployment, r.Labels) {
			continue
		}
		ns := r.Namespace
		switch r.by {
		case controllers.ByWebhook, controllers.ByWebhookCall, controllers.ByPolicy, controllers.ByPermission, controllers.ByPriorityClass, controllers.ByRuntimeClass:
			ns = "" // the same whatever the namespace
		}
		key := strings.Join([]string{string(r.by), r.name, ns}, "\x00")
		if r.by == controllers.ByOther || r.by == controllers.ByInvalid || r.by == controllers.ByLimitRange {
			key += "\x00" + alike(r.Message)
		}
		x := by[key]
		if x == nil {
			x = &Group{Turn: NotCreated, From: Message, By: r.by, Refuser: r.name, key: key, owners: map[Workload]int{}}
			by[key] = x
		}
		x.Pods += r.Missing
		o := Workload{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		if r.Deployment != "" {
			o.Kind, o.Name = "Deployment", r.Deployment
		}
		x.owners[o] += r.Missing
		of[key] = append(of[key], r)
		if age := spanOf(in.Shortage.At.Sub(cmp.Or(r.SaidAt, r.last))); age > x.Oldest {
			x.Oldest = age
		}
	}
	var out []Group
	for _, key := range slices.Sorted(maps.Keys(by)) {
		// What was said last is nearest to the present.
		x, r := by[key], slices.MaxFunc(of[key], func(a, b refusal) int { return a.last.Compare(b.last) })
		x.Workloads, x.More = workloads(x.owners)
		x.Example, x.Cause = r.ID(), cmp.Or(r.by.Refusal(r.name), "refused")
		if r.by == controllers.ByOther || r.by == controllers.ByInvalid {
			x.Cause = "the API server refuses them: " + detail(r.Message)
		}
		x.Said = r.Message
		if !r.last.IsZero() {
			x.SaidAgo = spanOf(in.Shortage.At.Sub(r.last))
		}
		r.advise(x, in, of[key])
		out = append(out, *x)
	}
	slices.SortStableFunc(out, func(a, b Group) int { return cmp.Compare(b.Pods, a.Pods) })
	return out
}

// refusals joins workloads that lack pods with what was said of it.
func refusals(in Input) []refusal {
	events := map[string]controllers.RefusedPod{}
	for _, e := range in.Refused {
		events[e.Kind+" "+e.Namespace+"/"+e.Name] = e
	}
	var out []refusal
	for _, s := range in.Shortage.Of {
		r := refusal{Short: s, last: s.SaidAt}
		e, ok := events[s.Kind+" "+s.ID()]
		switch {
		case ok && (r.Message == "" || e.Last.After(r.last)):
			r.Message, r.last = e.Message, e.Last
		case r.Message == "":
			continue // it lacks pods, and nobody was refused any: its controller is about to act, or another check's matter
		}
		if s.Kind != "ReplicaSet" && in.Shortage.At.Sub(r.last) > stale {
			continue // an event of then; that it lacks some now need not come of it
		}
		r.by, r.name = controllers.Classify(r.Message)
		out = append(out, r)
	}
	return out
}

// forbidden is what stands before the API server's reason.
var forbidden = regexp.MustCompile(`^.*?(?:[Pp]ods? "[^"]*" is (?:forbidden|invalid)|Error creating|failed error): `)

// detail is the API server's reason without what stands before it.
func detail(message string) string {
	for {
		rest := forbidden.ReplaceAllString(message, "")
		if rest == message || rest == "" {
			return message
		}
		message = rest
	}
}

func (r refusal) subject() subject {
	o := pods.Owner{Kind: r.Kind, Name: r.Name}
	if r.Deployment != "" {
		o = pods.Owner{Kind: "Deployment", Name: r.Deployment}
	}
	return subject{ns: word(r.Namespace), name: r.Name, owner: o}
}

// advise adds numbers and the smallest change.
func (r refusal) advise(x *Group, in Input, alike []refusal) {
	s := r.subject()
	ns := s.ns
	add := func(summary string, commands ...string) {
		x.Changes = append(x.Changes, Change{Summary: summary, Commands: commands})
	}
	x.Unproved = true
	switch r.by {
	case controllers.ByQuota:
		r.quota(x, in, alike)
	case controllers.ByLimitRange:
		x.Cause += ": " + detail(r.Message)
		x.Changes = append(x.Changes, limitChanges(s, r.Message)...)
		add("or change the limit", fmt.Sprintf("kubectl -n %s get limitranges -o yaml", ns))
	case controllers.ByServiceAccount:
		_, name, ok := strings.Cut(r.name, "/")
		if !ok {
			name = r.name
		}
		add("create it, if the pods need no rights of its own", fmt.Sprintf("kubectl -n %s create serviceaccount %s", ns, word(name)))
		add("or let the pods run as one that there is", s.patch("set serviceAccountName", op{"replace", "/serviceAccountName", "default"})...)
	case controllers.ByPriorityClass:
		add("create it, or ask for one that there is", "kubectl get priorityclasses")
	case controllers.ByRuntimeClass:
		add("create it, or ask for one that there is", "kubectl get runtimeclasses")
	case controllers.ByPodSecurity:
		what := detail(r.Message)
		if _, rest, ok := strings.Cut(what, `": `); ok {
			what = rest
		}
		x.Evidence = append(x.Evidence, what)
		add("change the pods' template so that it keeps to the level", s.edit("securityContext, as the message says"))
		level, _, _ := strings.Cut(r.name, ":")
		if level == "restricted" {
			add("or allow more in the namespace, to all of its pods", fmt.Sprintf("kubectl label namespace %s pod-security.kubernetes.io/enforce=baseline --overwrite   # if that suffices", ns))
		}
	case controllers.ByWebhookCall:
		x.Evidence = append(x.Evidence, detail(r.Message))
		add("get the webhook's backend going", "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations", "ktriage doctor --only 'webhook-*'")
	case controllers.ByWebhook, controllers.ByPolicy:
		x.Evidence = append(x.Evidence, detail(r.Message))
		add("change the pods' template so that it is let through", s.edit("as the message says"))
	case controllers.ByPermission:
		add("give the controller back its rights", "kubectl get clusterrolebindings | grep system:controller")
	default:
		add("change the pods' template", s.edit("as the message says"))
	}
}

func (s subject) edit(what string) string {
	if name, _, ok := s.object(); ok {
		return fmt.Sprintf("kubectl -n %s edit %s   # %s", s.ns, name, what)
	}
	return fmt.Sprintf("kubectl -n %s edit %s %s   # %s", s.ns, word(strings.ToLower(s.owner.Kind)), word(s.owner.Name), what)
}

// asked reads the numbers of a pod that a quota refused: its own demand of what
// there is too little of.
//
//	exceeded quota: small, requested: pods=1,requests.cpu=500m, used: …, limited: …
var asked = regexp.MustCompile(`exceeded quota: [^,]+, requested: (.*?), used: (.*?), limited: ([^;]*)`)

// quota adds the numbers of a quota, as they are now, and what it would have to be
// raised to.
func (r refusal) quota(x *Group, in Input, alike []refusal) {
	ns := word(r.Namespace)
	if _, rest, ok := strings.Cut(r.Message, "must specify "); ok {
		x.Cause = fmt.Sprintf("quota %q wants the pods to specify %s", r.name, rest)
		s := r.subject()
		obj, _, ok := s.object()
		what := []string{s.edit("add requests and limits for " + rest)}
		if ok {
			what = []string{fmt.Sprintf("kubectl -n %s set resources %s --requests=cpu=100m,memory=128Mi --limits=cpu=1,memory=512Mi   # with numbers that suit them", ns, obj)}
		}
		x.Changes = append(x.Changes, Change{Summary: "specify " + rest + ", or give the namespace defaults by a LimitRange", Commands: what})
		return
	}
	i := slices.IndexFunc(in.Quotas, func(q controllers.Quota) bool { return q.Namespace == r.Namespace && q.Name == r.name })
	// Of each resource: what one pod asks, what all missing ones do, and the rest
	// as it is now, or as it was said where that cannot be read.
	each, sum, hard, used := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	missing := 0
	for _, o := range alike {
		m := asked.FindStringSubmatch(o.Message)
		if m == nil {
			continue
		}
		missing += o.Missing
		saidUsed, saidHard := amounts(m[2]), amounts(m[3])
		for k, q := range amounts(m[1]) {
			each[k] = q
			total := sum[k]
			for range min(o.Missing, 100_000) {
				total.Add(q)
			}
			sum[k] = total
			used[k], hard[k] = saidUsed[k], saidHard[k]
			if i >= 0 {
				used[k], hard[k] = in.Quotas[i].Used[k], in.Quotas[i].Hard[k]
			}
		}
	}
	if len(each) == 0 {
		x.Changes = append(x.Changes, Change{Summary: "see what is used", Commands: []string{fmt.Sprintf("kubectl -n %s describe quota %s", ns, word(r.name))}})
		return
	}
	var short, to []string
	raise := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(each)) {
		h, u, e := hard[k], used[k], each[k]
		one, all := u.DeepCopy(), u.DeepCopy()
		one.Add(e)
		all.Add(sum[k])
		if one.Cmp(h) <= 0 {
			continue
		}
		short = append(short, fmt.Sprintf("%s: %s of %s used, each pod asks %s", k, u.String(), h.String(), e.String()))
		raise[string(k)] = all.String()
		to = append(to, string(k)+" to "+all.String())
	}
	if len(short) == 0 {
		x.Cause = fmt.Sprintf("quota %q did not allow them %s, and has room for one more now: the controller tries again by itself, within 16m", r.name, ago(in.Shortage.At, r.last))
		return
	}
	x.Cause = fmt.Sprintf("quota %q is used up: %s", r.name, strings.Join(short, "; "))
	x.Unproved = i < 0
	x.Changes = append(x.Changes,
		Change{Summary: fmt.Sprintf("raise %s, for %s", strings.Join(to, ", "), howMany(missing)), Commands: []string{
			fmt.Sprintf("kubectl -n %s patch resourcequota %s --type=merge -p %s", ns, word(r.name), word(jsonText(map[string]any{"spec": map[string]any{"hard": raise}})))}},
		Change{Summary: "or free some of it: see what uses it", Commands: []string{fmt.Sprintf("kubectl -n %s get pods", ns)}})
}

// howMany says for how many pods a change is.
func howMany(n int) string {
	if n == 1 {
		return "the missing pod"
	}
	return fmt.Sprintf("all %d missing pods", n)
}

func ago(now, t time.Time) string {
	if t.IsZero() {
		return "some time ago"
	}
	return checks.Span(now.Sub(t)) + " ago"
}

// amounts reads "pods=1,requests.cpu=500m".
func amounts(s string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, part := range strings.Split(s, ",") {
		k, v, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			continue
		}
		if q, err := resource.ParseQuantity(v); err == nil {
			out[corev1.ResourceName(k)] = q
		}
	}
	return out
}

// limit reads what a LimitRange refused.
//
//	maximum cpu usage per Container is 1, but limit is 2
var limit = regexp.MustCompile(`(maximum|minimum) (\S+) usage per (\S+) is (\S+?)(?:,|\.  No) (?:but )?(limit|request)(?: is (\S+))?`)

func limitChanges(s subject, message string) []Change {
	obj, _, ok := s.object()
	var out []Change
	for _, m := range limit.FindAllStringSubmatch(message, -1) {
		most, what, of := m[4], m[2], m[5]
		summary := fmt.Sprintf("set the %s for %s of each %s to at most %s", of, what, strings.ToLower(m[3]), most)
		if m[1] == "minimum" {
			summary = fmt.Sprintf("set the %s for %s of each %s to at least %s", of, what, strings.ToLower(m[3]), most)
		}
		cmd := s.edit(of + "s")
		if ok && m[3] == "Container" {
			cmd = fmt.Sprintf("kubectl -n %s set resources %s --%ss=%s", s.ns, obj, of, word(what+"="+most))
		}
		out = append(out, Change{Summary: summary, Commands: []string{cmd}})
	}
	return out
}
