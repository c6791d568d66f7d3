// Package topology declares the facts about how a control plane is laid out that
// nothing else asks for.
package topology

import (
	"net/url"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// All is the target of facts about the layout as a whole.
var All = collectors.Target{Component: collectors.Topology}

func list(path string) collectors.Request {
	return collectors.Request{Verb: collectors.List, URL: "kube:" + path}
}

// Guests is how many ordinary pods run on each node of the control plane that
// lets them.
type Guests struct {
	On      map[string]int // pods that are neither the system's nor of a DaemonSet, by node
	Example string         // one of them
}

// Lodgers counts them. Nodes whose taint keeps pods away are not asked about.
var Lodgers = &collectors.Fact[Guests]{
	ID:      "topology.guests",
	Doc:     "ordinary pods on nodes of the control plane that let them run there",
	Needs:   []collectors.Any{cluster.NodeSummary},
	Targets: collectors.Single(All),
	Ask: func(s *collectors.Snapshot, _ collectors.Target) []collectors.Request {
		n, _ := cluster.NodeSummary.One(s)
		var out []collectors.Request
		for _, name := range n.Open {
			out = append(out, list("/api/v1/pods?fieldSelector="+url.QueryEscape("spec.nodeName="+name)))
		}
		return out
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Guests] {
		n, gap := cluster.NodeSummary.One(s)
		out := Guests{On: map[string]int{}}
		return collectors.Folder[Guests]{
			Add: func(request int, o objects.Object) {
				p := o.(*corev1.Pod)
				if p.Namespace == "kube-system" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
					return
				}
				for _, r := range p.OwnerReferences {
					if r.Kind == "DaemonSet" || r.Kind == "Node" {
						return
					}
				}
				if out.On[n.Open[request]]++; out.Example == "" {
					out.Example = p.Namespace + "/" + p.Name
				}
			},
			Done: func([]collectors.Answered) (Guests, error) {
				if gap != nil {
					return Guests{}, gap
				}
				return out, nil
			},
		}
	},
}

// backupWords are in the names of what makes backups of etcd or of objects.
var backupWords = []string{"etcd", "velero", "backup", "snapshot", "kopia", "restic"}

// Backups are the CronJobs that look as if they made backups, by their names and
// images: "kube-system/etcd-backup".
var Backups = &collectors.Fact[[]string]{
	ID:      "topology.backups",
	Doc:     "the CronJobs whose name or image says that they make backups",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{list("/apis/batch/v1/cronjobs")}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]string] {
		var out []string
		return collectors.Folder[[]string]{
			Add: func(_ int, o objects.Object) {
				j := o.(*batchv1.CronJob)
				text := j.Name
				for _, c := range j.Spec.JobTemplate.Spec.Template.Spec.Containers {
					text += " " + c.Image
				}
				looks := slices.ContainsFunc(backupWords, func(w string) bool { return strings.Contains(strings.ToLower(text), w) })
				suspended := j.Spec.Suspend != nil && *j.Spec.Suspend
				if looks && !suspended && len(out) < 20 {
					out = append(out, j.Namespace+"/"+j.Name)
				}
			},
			Done: func([]collectors.Answered) ([]string, error) { return out, nil },
		}
	},
}

// A Probe is a probe of a component's pod that failed.
type Probe struct {
	Pod     string
	Message string
	Count   int32
	Last    time.Time
}

// Probes are the events of failed probes of the control plane's pods. Events are
// kept for an hour.
var Probes = &collectors.Fact[[]Probe]{
	ID:      "topology.probes",
	Doc:     "events of failed probes in kube-system",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{list("/api/v1/namespaces/kube-system/events?fieldSelector=" + url.QueryEscape("reason=Unhealthy"))}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]Probe] {
		var out []Probe
		return collectors.Folder[[]Probe]{
			Add: func(_ int, o objects.Object) {
				e := o.(*corev1.Event)
				if e.InvolvedObject.Kind != "Pod" || len(out) == 500 {
					return
				}
				p := Probe{Pod: strings.Clone(e.InvolvedObject.Name), Message: collectors.OneLine(e.Message, 200), Count: max(1, e.Count), Last: e.LastTimestamp.Time}
				if e.Series != nil {
					p.Count, p.Last = e.Series.Count, e.Series.LastObservedTime.Time
				}
				if p.Last.IsZero() {
					p.Last = e.EventTime.Time
				}
				out = append(out, p)
			},
			Done: func([]collectors.Answered) ([]Probe, error) { return out, nil },
		}
	},
}
