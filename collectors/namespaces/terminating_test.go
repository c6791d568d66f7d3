package namespaces

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ktriage/ktriage/collectors"
)

func TestWhatHoldsANamespace(t *testing.T) {
	condition := func(kind, message string) []corev1.NamespaceCondition {
		return []corev1.NamespaceCondition{{Type: corev1.NamespaceConditionType(kind), Status: "True", Message: message}}
	}
	kubernetes := []corev1.FinalizerName{"kubernetes"}
	for _, c := range []struct {
		name string
		ns   corev1.Namespace
		want string
	}{
		{"a group that cannot be listed", corev1.Namespace{Spec: corev1.NamespaceSpec{Finalizers: kubernetes}, Status: corev1.NamespaceStatus{Conditions: condition("NamespaceDeletionDiscoveryFailure",
			"Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: upload.cdi.kubevirt.io/v1alpha1: the server is currently unable to handle the request")}}, "discovery [upload.cdi.kubevirt.io/v1alpha1]"},
		{"the same since 1.27", corev1.Namespace{Status: corev1.NamespaceStatus{Conditions: condition("NamespaceDeletionDiscoveryFailure",
			"Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1")}}, "discovery [metrics.k8s.io/v1beta1]"},
		{"a conversion that fails", corev1.Namespace{Status: corev1.NamespaceStatus{Conditions: condition("NamespaceDeletionContentFailure",
			"Failed to delete all resource types, 1 remaining: conversion webhook for example.com/v1, Kind=X failed: Post \"https://x.y.svc:443/convert?timeout=30s\": service \"x\" not found")}}, "deletion [example.com/v1]"},
		{"finalizers of its content", corev1.Namespace{Status: corev1.NamespaceStatus{Conditions: condition("NamespaceFinalizersRemaining",
			"Some content in the namespace has finalizers remaining: example.com/cleanup in 1 resource instances, b.c/d in 3 resource instances")}}, "finalizer [example.com/cleanup b.c/d]"},
		{"a finalizer of its own, as Rancher leaves", corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"controller.cattle.io/namespace-auth"}}}, "own [controller.cattle.io/namespace-auth]"},
		{"just deleted, with one of its own that may yet go", corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"controller.cattle.io/namespace-auth"}}, Spec: corev1.NamespaceSpec{Finalizers: kubernetes}}, "unseen []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.ns.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
			x := newTerminating(&c.ns)
			if got := fmt.Sprint(x.By, " ", x.Names); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestFewNamespacesAreKept(t *testing.T) {
	var d Deleting
	for i := range 1000 {
		d.add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i), DeletionTimestamp: &metav1.Time{Time: time.Unix(int64(1000-i), 0)}}})
	}
	if d.Count != 1000 || len(d.Oldest) != maxKept || d.Oldest[0].Name != "999" {
		t.Errorf("%d, %d, %v", d.Count, len(d.Oldest), d.Oldest[0])
	}
}

func FuzzMessages(f *testing.F) {
	f.Add("Some content in the namespace has finalizers remaining: a.b/c in 1 resource instances")
	f.Fuzz(func(_ *testing.T, s string) { finalizers(s); groupVersions(s); collectors.OneLine(s, maxMessage) })
}
