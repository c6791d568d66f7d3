package namespaces

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Holder says what keeps a namespace from being gone, as the namespace
// controller or the namespace itself tells.
type Holder string

// The holders, the one that explains most first.
const (
	Discovery Holder = "discovery" // a group of the API cannot be listed, so nobody knows what is in it
	Deletion  Holder = "deletion"  // deleting the objects of some kind fails
	Finalizer Holder = "finalizer" // objects in it have a finalizer that nobody takes away
	Own       Holder = "own"       // it is empty and has a finalizer itself
	Content   Holder = "content"   // objects in it are still there
	Unseen    Holder = "unseen"    // no controller has said anything about it
)

// A Terminating is a namespace that is being deleted.
type Terminating struct {
	Name    string
	Deleted time.Time
	By      Holder
	Since   time.Time // when the holder was first told; zero if it is not
	// Names are of what holds it: groups with their versions, finalizers.
	Names   []string
	Message string // the controller's own
}

// A Deleting is every namespace that is being deleted.
type Deleting struct {
	All   int // namespaces there are
	Count int // that are being deleted
	// Oldest are those that have been for longest, at most maxKept.
	Oldest []Terminating
}

const (
	maxKept    = 50
	maxMessage = 400
)

// Stuck lists the namespaces that are being deleted.
var Stuck = &collectors.Fact[Deleting]{
	ID:      "namespaces.terminating",
	Doc:     "the namespaces that are being deleted, and what keeps them",
	Targets: collectors.Single(collectors.Target{Component: collectors.Controllers, Addr: "kube:"}),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/namespaces"}}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[Deleting] {
		var d Deleting
		return collectors.Folder[Deleting]{
			Add:  func(_ int, o objects.Object) { d.add(o.(*corev1.Namespace)) },
			Done: func([]collectors.Answered) (Deleting, error) { return d, nil },
		}
	},
}

func (d *Deleting) add(o *corev1.Namespace) {
	d.All++
	if o.DeletionTimestamp == nil {
		return
	}
	d.Count++
	d.Oldest = append(d.Oldest, newTerminating(o))
	slices.SortFunc(d.Oldest, func(a, b Terminating) int {
		return cmp.Or(a.Deleted.Compare(b.Deleted), cmp.Compare(a.Name, b.Name))
	})
	d.Oldest = d.Oldest[:min(len(d.Oldest), maxKept)]
}

// holders are the conditions of a namespace that is being deleted, in the order
// in which they explain it.
var holders = []struct {
	condition corev1.NamespaceConditionType
	by        Holder
}{
	{corev1.NamespaceDeletionDiscoveryFailure, Discovery},
	{corev1.NamespaceDeletionGVParsingFailure, Discovery},
	{corev1.NamespaceDeletionContentFailure, Deletion},
	{corev1.NamespaceFinalizersRemaining, Finalizer},
	{corev1.NamespaceContentRemaining, Content},
}

func newTerminating(o *corev1.Namespace) Terminating {
	t := Terminating{Name: strings.Clone(o.Name), Deleted: o.DeletionTimestamp.Time, By: Unseen}
	for _, h := range holders {
		for _, c := range o.Status.Conditions {
			if c.Type != h.condition || c.Status != corev1.ConditionTrue {
				continue
			}
			t.By, t.Since, t.Message = h.by, c.LastTransitionTime.Time, collectors.OneLine(c.Message, maxMessage)
			switch h.by {
			case Discovery, Deletion:
				t.Names = groupVersions(c.Message)
			case Finalizer:
				t.Names = finalizers(c.Message)
			}
			return t
		}
	}
	// Its own finalizer in spec is the namespace controller's; others, and those
	// of its metadata, are somebody else's. They hold it once it is empty.
	for _, f := range o.Spec.Finalizers {
		if f != corev1.FinalizerKubernetes {
			t.By, t.Names = Own, append(t.Names, string(f))
		}
	}
	if !slices.Contains(o.Spec.Finalizers, corev1.FinalizerKubernetes) && len(o.Finalizers) > 0 {
		t.By, t.Names = Own, append(t.Names, slices.Clone(o.Finalizers)...)
	}
	return t
}

// groupVersion matches a group and version as messages name it. The group "" is
// v1 alone and never fails by itself.
var groupVersion = regexp.MustCompile(`([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+)/(v[0-9]+((alpha|beta)[0-9]+)?)\b`)

func groupVersions(message string) []string {
	var out []string
	for _, m := range groupVersion.FindAllString(message, -1) {
		if !slices.Contains(out, m) && len(out) < maxKept {
			out = append(out, strings.Clone(m))
		}
	}
	return out
}

// finalizers reads "Some content in the namespace has finalizers remaining:
// example.com/x in 2 resource instances, …".
func finalizers(message string) []string {
	_, list, ok := strings.Cut(message, "finalizers remaining: ")
	if !ok {
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(list, ", ") {
		name, _, ok := strings.Cut(part, " in ")
		if ok && name != "" && len(out) < maxKept {
			out = append(out, strings.Clone(name))
		}
	}
	return out
}
