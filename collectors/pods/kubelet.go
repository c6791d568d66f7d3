package pods

import (
	"net/url"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Told is the last that a kubelet, or who attaches volumes for it, said of a
// pod that it is to start.
type Told struct {
	Reason  string // "FailedMount", "Pulling"
	Message string
	Warning bool
	Last    time.Time
	Count   int32
}

// maxTold is how many pods are told of, and maxToldText how much of each message.
const (
	maxTold     = 10_000
	maxToldText = 400
)

// Starts is what the events tell of pods that have a node and do not run yet, by
// "namespace/name". Events are kept for an hour. They are asked for only while
// there are such pods.
var Starts = &collectors.Fact[map[string]Told]{
	ID:    "pods.starts",
	Doc:   "the last event of each pod that has a node and does not run yet",
	Needs: []collectors.Any{Waiting},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		w, gap := Waiting.One(s)
		switch {
		case gap != nil:
			return nil, gap
		case !slices.ContainsFunc(w.Pods, func(x Waiter) bool { return x.Node != "" && !x.Deleting }):
			return nil, collectors.Gapf(collectors.OutOfScope, "no pod that has a node waits to be started")
		}
		return []collectors.Target{All}, nil
	},
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		var rs []collectors.Request
		for _, selector := range []string{"involvedObject.kind=Pod,type=Warning,reason!=FailedScheduling", "involvedObject.kind=Pod,reason=Pulling"} {
			rs = append(rs, collectors.Request{Verb: collectors.List, URL: "kube:/api/v1/events?fieldSelector=" + url.QueryEscape(selector)})
		}
		return rs
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[map[string]Told] {
		w, _ := Waiting.One(s)
		waits := map[string]string{} // to the pod's UID: a name may have been another pod's before
		for _, x := range w.Pods {
			if x.Node != "" {
				waits[x.ID()] = x.UID
			}
		}
		out := map[string]Told{}
		return collectors.Folder[map[string]Told]{
			Add: func(_ int, o objects.Object) {
				e := o.(*corev1.Event)
				id := e.InvolvedObject.Namespace + "/" + e.InvolvedObject.Name
				uid, ok := waits[id]
				if !ok || e.InvolvedObject.Kind != "Pod" || e.Reason == "FailedScheduling" || uid != "" && e.InvolvedObject.UID != "" && uid != string(e.InvolvedObject.UID) {
					return
				}
				if warning := e.Type == corev1.EventTypeWarning; !warning && e.Reason != "Pulling" { // loose evidence holds others too
					return
				}
				t := Told{Reason: e.Reason, Message: collectors.OneLine(e.Message, maxToldText), Warning: e.Type == corev1.EventTypeWarning, Last: e.LastTimestamp.Time, Count: max(1, e.Count)}
				if e.Series != nil {
					t.Last, t.Count = e.Series.LastObservedTime.Time, e.Series.Count
				}
				if t.Last.IsZero() {
					t.Last = e.EventTime.Time
				}
				if before, ok := out[id]; (ok || len(out) < maxTold) && !t.Last.Before(before.Last) {
					out[id] = t
				}
			},
			Done: func([]collectors.Answered) (map[string]Told, error) { return out, nil },
		}
	},
}
