package controllers

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ktriage/ktriage/collectors/objects"
)

// orphanAge is how long ago an orphan must have been made or written: a new one
// may be of an owner that is newer than the list of owners.
const orphanAge = 10 * time.Minute

// Orphans are the ReplicaSets whose Deployment is gone. They stand for all
// dependents, since both lists are read anyway. A deletion that is under way
// shows some, too; it takes a number to tell.
var Orphans = newLoop("orphans", "the ReplicaSets whose Deployment is gone", "ReplicaSet", "garbage_collector_attempt_to_delete",
	func() looker { return &orphans{owners: map[types.UID]bool{}, of: map[types.UID]*orphan{}} },
	list("/apis/apps/v1/replicasets"), list("/apis/apps/v1/deployments"))

type orphans struct {
	owners map[types.UID]bool
	of     map[types.UID]*orphan // by the UID that they name as their owner
}

type orphan struct {
	n       int
	oldest  time.Time
	example string
}

func (x *orphans) look(l *Loop, _ int, o objects.Object, now time.Time) {
	switch o := o.(type) {
	case *appsv1.Deployment:
		x.owners[o.UID] = true
	case *appsv1.ReplicaSet:
		l.Objects++
		ref := metav1.GetControllerOf(o)
		if ref == nil || ref.Kind != "Deployment" || o.DeletionTimestamp != nil || unchanged(o, now) < orphanAge {
			return
		}
		g := x.of[ref.UID]
		if g == nil {
			g = &orphan{}
			x.of[ref.UID] = g
		}
		g.n++
		if t, name := changed(o, true), id(o); g.example == "" || t.Before(g.oldest) || t.Equal(g.oldest) && name < g.example {
			g.oldest, g.example = t, name
		}
	}
}

func (x *orphans) close(l *Loop, now time.Time) {
	for uid, g := range x.of {
		if x.owners[uid] {
			continue
		}
		l.Behind += g.n
		l.example(now.Sub(g.oldest), g.example)
	}
}
