package controllers

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Refuser is who keeps a controller from creating pods.
type Refuser string

// The refusers, by what the API server answered.
const (
	ByWebhookCall    Refuser = "webhook call"    // a webhook could not be called
	ByWebhook        Refuser = "webhook"         // a webhook said no
	ByQuota          Refuser = "quota"           // a ResourceQuota is full, or wants requests and limits said
	ByLimitRange     Refuser = "limit range"     // a LimitRange does not allow it
	ByPodSecurity    Refuser = "pod security"    // the namespace's Pod Security level
	ByServiceAccount Refuser = "service account" // it does not exist
	ByPermission     Refuser = "permission"      // the controller itself may not
	ByPolicy         Refuser = "policy"          // a ValidatingAdmissionPolicy
	ByPriorityClass  Refuser = "priority class"  // it does not exist
	ByRuntimeClass   Refuser = "runtime class"   // it does not exist
	ByInvalid        Refuser = "invalid"         // the pod's own description
	ByOther          Refuser = "other"
)

// A Refusal is all ReplicaSets that lack pods because of the same refuser.
type Refusal struct {
	By      Refuser
	Name    string // of the webhook, the quota, the service account; empty if it is not told
	Objects int
	Missing int // pods
	Oldest  time.Duration
	Example string // namespace/name of the one that waits longest
	Message string // its own
	// Owners are the Deployments of the ReplicaSets, "Deployment ns/name"; the
	// first few.
	Owners []string
}

// A Stuck is the Deployments that have given up on their rollout.
type Stuck struct {
	All     int // Deployments there are
	Objects int
	Oldest  time.Duration
	Example string
	Message string
	Names   []string // "ns/name", the first few
}

// Refusals are the ReplicaSets whose pods are refused, by who refuses them, and
// the Deployments that do not progress.
type Refusals struct {
	By          []Refusal // the one that keeps back most pods first
	ReplicaSets int       // there are
	Deployments Stuck
}

// The bounds of what is kept: a cluster where every ReplicaSet is refused must
// not grow ktriage's memory.
const (
	maxRefusals = 50
	maxOwners   = 100
	maxMessage  = 500
)

// Refused looks for ReplicaSets whose pods are refused. It shares its lists
// with Work.
var Refused = &collectors.Fact[Refusals]{
	ID:      "controllers.refused",
	Doc:     "the ReplicaSets that lack pods because the API server refuses them, by who refuses, and the Deployments that do not progress",
	Needs:   []collectors.Any{cluster.Clock},
	Targets: collectors.Single(collectors.Target{Component: collectors.Controllers, Addr: "kube:"}),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{
			{Verb: collectors.List, URL: "kube:/apis/apps/v1/replicasets"},
			{Verb: collectors.List, URL: "kube:/apis/apps/v1/deployments"},
		}
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Refusals] {
		now, gap := cluster.Now(s)
		r := &refusals{now: now}
		return collectors.Folder[Refusals]{
			Add: r.add,
			Done: func([]collectors.Answered) (Refusals, error) {
				if gap != nil {
					return Refusals{}, gap
				}
				slices.SortStableFunc(r.out.By, func(a, b Refusal) int {
					return cmp.Or(-cmp.Compare(a.Missing, b.Missing), cmp.Compare(a.By, b.By), cmp.Compare(a.Name, b.Name))
				})
				return r.out, nil
			},
		}
	},
}

type refusals struct {
	now time.Time
	out Refusals
}

func (r *refusals) add(_ int, o objects.Object) {
	switch o := o.(type) {
	case *appsv1.ReplicaSet:
		r.replicaSet(o)
	case *appsv1.Deployment:
		r.deployment(o)
	}
}

func (r *refusals) replicaSet(o *appsv1.ReplicaSet) {
	r.out.ReplicaSets++
	want := int32(1)
	if o.Spec.Replicas != nil {
		want = *o.Spec.Replicas
	}
	missing := want - o.Status.Replicas
	if missing <= 0 || o.DeletionTimestamp != nil {
		return // a condition that is left over says nothing about now
	}
	for _, c := range o.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue && c.Reason == "FailedCreate" {
			r.refused(o, int(missing), c)
		}
	}
}

func (r *refusals) refused(o *appsv1.ReplicaSet, missing int, c appsv1.ReplicaSetCondition) {
	by, name := Classify(c.Message)
	i := slices.IndexFunc(r.out.By, func(x Refusal) bool { return x.By == by && x.Name == name })
	if i < 0 && len(r.out.By) >= maxRefusals {
		name = ""
		i = slices.IndexFunc(r.out.By, func(x Refusal) bool { return x.By == by && x.Name == "" })
	}
	if i < 0 {
		i = len(r.out.By)
		r.out.By = append(r.out.By, Refusal{By: by, Name: strings.Clone(name)})
	}
	x := &r.out.By[i]
	x.Objects++
	x.Missing += missing
	if age := r.now.Sub(c.LastTransitionTime.Time); x.Example == "" || age > x.Oldest {
		x.Oldest, x.Example, x.Message = age, strings.Clone(o.Namespace+"/"+o.Name), collectors.OneLine(c.Message, maxMessage)
	}
	for _, owner := range o.OwnerReferences {
		if owner.Kind == "Deployment" && len(x.Owners) < maxOwners {
			x.Owners = append(x.Owners, o.Namespace+"/"+owner.Name)
		}
	}
}

func (r *refusals) deployment(o *appsv1.Deployment) {
	d := &r.out.Deployments
	d.All++
	if o.DeletionTimestamp != nil || o.Spec.Paused {
		return
	}
	for _, c := range o.Status.Conditions {
		if c.Type != appsv1.DeploymentProgressing || c.Status != corev1.ConditionFalse || c.Reason != "ProgressDeadlineExceeded" {
			continue
		}
		d.Objects++
		name := o.Namespace + "/" + o.Name
		if len(d.Names) < maxOwners {
			d.Names = append(d.Names, name)
		}
		if age := r.now.Sub(c.LastTransitionTime.Time); d.Example == "" || age > d.Oldest {
			d.Oldest, d.Example, d.Message = age, name, collectors.OneLine(c.Message, maxMessage)
		}
	}
}

// classes tell who refused by what the API server answered, in the order in
// which they are looked for. The texts are of Kubernetes' own admission
// plugins and have not changed since 1.14; a webhook's own text may hold any of
// them, so those of webhooks come first. The first group is the name.
var classes = []struct {
	by   Refuser
	text *regexp.Regexp
}{
	{ByWebhookCall, regexp.MustCompile(`failed calling webhook "([^"]+)"`)},
	{ByWebhook, regexp.MustCompile(`admission webhook "([^"]+)" denied the request`)},
	{ByPolicy, regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)'`)},
	{ByQuota, regexp.MustCompile(`exceeded quota: ([^,\s]+),`)},
	{ByQuota, regexp.MustCompile(`failed quota: ([^:\s]+):`)},
	{ByPodSecurity, regexp.MustCompile(`violates PodSecurity "([^"]+)"`)},
	{ByPodSecurity, regexp.MustCompile(`unable to validate against any (?:pod security policy|security context constraint)()`)},
	{ByServiceAccount, regexp.MustCompile(`(?:error looking up service account|serviceaccount) "?([^\s":]+)"?(?:: serviceaccount|[^\n]* not found)`)},
	{ByLimitRange, regexp.MustCompile(`(?:maximum|minimum) [a-z0-9./-]+ usage per (?:Container|Pod)()`)},
	{ByLimitRange, regexp.MustCompile(`max limit to request ratio per (?:Container|Pod)()`)},
	{ByPriorityClass, regexp.MustCompile(`no PriorityClass with name (\S+) was found`)},
	{ByRuntimeClass, regexp.MustCompile(`RuntimeClass(?:\.node\.k8s\.io)? "([^"]+)" not found`)},
	{ByInvalid, regexp.MustCompile(`Pod "[^"]*" is invalid: ()`)},
	{ByPermission, regexp.MustCompile(`cannot create resource "pods"()`)},
}

// Classify tells from a message who refused, and under which name it goes.
func Classify(message string) (Refuser, string) {
	for _, c := range classes {
		if m := c.text.FindStringSubmatch(message); m != nil {
			return c.by, m[1]
		}
	}
	return ByOther, ""
}

// Refusal says in words what r, of that name, does to pods; nothing, where only
// the message tells.
func (r Refuser) Refusal(name string) string {
	switch r {
	case ByWebhookCall:
		return fmt.Sprintf("webhook %q cannot be called", name)
	case ByWebhook:
		return fmt.Sprintf("webhook %q refuses them", name)
	case ByQuota:
		return fmt.Sprintf("quota %q does not allow them", name)
	case ByLimitRange:
		return "a LimitRange does not allow them"
	case ByPodSecurity:
		if name != "" {
			return fmt.Sprintf("Pod Security %q does not allow them", name)
		}
		return "no policy of the pods' security allows them"
	case ByServiceAccount:
		return fmt.Sprintf("service account %q does not exist", name)
	case ByPermission:
		return "the controller itself may not create pods"
	case ByPolicy:
		return fmt.Sprintf("ValidatingAdmissionPolicy %q does not allow them", name)
	case ByPriorityClass:
		return fmt.Sprintf("priority class %q does not exist", name)
	case ByRuntimeClass:
		return fmt.Sprintf("runtime class %q does not exist", name)
	}
	return ""
}
