package controllers

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// The objects that controllers put into every namespace. Pods need both: as
// whom they run, and by what they know the API server.
const (
	defaultAccount = "default"
	rootCA         = "kube-root-ca.crt" // from 1.20 on
)

// Defaults are the namespaces that lack what controllers put into each.
//
// What is in them is listed first, and the namespaces after the window: one that
// is deleted meanwhile is not among them. It is two looks, too, so that loose
// evidence, of which nobody knows what it leaves out, gives no verdict.
var Defaults = newLoopOf("defaults", "the namespaces without their default service account or the API server's CA", "Namespace", "serviceaccount",
	[]collectors.Any{cluster.Version},
	func(s *collectors.Snapshot) looker {
		d := &defaults{want: 1, has: map[string]int{}, made: map[string]time.Time{}}
		if v, gap := cluster.Version.One(s); gap == nil && (v.Major > 1 || v.Minor >= 20) {
			d.want = 3
		}
		return d
	},
	first("/api/v1/serviceaccounts?fieldSelector=metadata.name%3D"+defaultAccount),
	first("/api/v1/configmaps?fieldSelector=metadata.name%3D"+rootCA),
	last("/api/v1/namespaces"))

func first(path string) collectors.Request {
	r := list(path)
	r.Sample = collectors.First
	return r
}

func last(path string) collectors.Request {
	r := list(path)
	r.Sample = collectors.Last
	return r
}

type defaults struct {
	want int            // which there must be, as bits of the requests
	has  map[string]int // which a namespace has, likewise
	made map[string]time.Time
}

func (d *defaults) look(_ *Loop, request int, o objects.Object, _ time.Time) {
	switch request {
	case 0, 1:
		if n := o.GetName(); n == defaultAccount || n == rootCA { // a recording may hold others
			d.has[strings.Clone(o.GetNamespace())] |= 1 << request
		}
	case 2:
		if n := o.(*corev1.Namespace); n.DeletionTimestamp == nil {
			d.made[strings.Clone(n.Name)] = n.CreationTimestamp.Time
		}
	}
}

func (d *defaults) close(l *Loop, now time.Time) {
	for name, made := range d.made {
		l.Objects++
		if d.has[name]&d.want == d.want {
			continue
		}
		ns := &corev1.Namespace{}
		ns.Name = name
		l.behind(ns, now, made)
	}
}
