package controllers

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func fields(ages map[string]time.Duration) []metav1.ManagedFieldsEntry {
	var out []metav1.ManagedFieldsEntry
	for sub, age := range ages {
		t := metav1.NewTime(now.Add(-age))
		out = append(out, metav1.ManagedFieldsEntry{Subresource: sub, Time: &t})
	}
	return out
}

func TestSinceWhenAnObjectWaits(t *testing.T) {
	const minutes = 10 * time.Minute
	for _, c := range []struct {
		name    string
		meta    metav1.ObjectMeta
		behind  int
		undated int
	}{
		{"changed long ago", metav1.ObjectMeta{Generation: 2, ManagedFields: fields(map[string]time.Duration{"": minutes})}, 1, 0},
		{"changed just now", metav1.ObjectMeta{Generation: 2, ManagedFields: fields(map[string]time.Duration{"": time.Second})}, 0, 0},
		{"its status was written just now, which is no change", metav1.ObjectMeta{Generation: 2, ManagedFields: fields(map[string]time.Duration{"": minutes, "status": time.Second})}, 1, 0},
		{"scaled just now, which is one", metav1.ObjectMeta{Generation: 2, ManagedFields: fields(map[string]time.Duration{"": minutes, "scale": time.Second})}, 0, 0},
		{"made long ago, never changed", metav1.ObjectMeta{Generation: 1, CreationTimestamp: metav1.NewTime(now.Add(-minutes))}, 1, 0},
		{"changed, and does not say when", metav1.ObjectMeta{Generation: 2, CreationTimestamp: metav1.NewTime(now.Add(-minutes))}, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &watcher{now: now, out: Observed{Generations: make([]Backlog, 4)}}
			w.add(0, &appsv1.Deployment{ObjectMeta: c.meta})
			if b := w.out.Generations[0]; b.Behind != c.behind || b.Undated != c.undated || b.Objects != 1 {
				t.Errorf("%+v, want %d behind, %d undated", b, c.behind, c.undated)
			}
		})
	}
}
