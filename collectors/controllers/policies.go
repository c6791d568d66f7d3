package controllers

import (
	"maps"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Autoscalers are the HorizontalPodAutoscalers that cannot compute, or that the
// controller has never looked at.
var Autoscalers = newLoop("autoscalers", "the HorizontalPodAutoscalers that no controller has looked at, or that cannot read their metrics", "HorizontalPodAutoscaler", "horizontalpodautoscaler",
	func() looker {
		return each[*autoscalingv2.HorizontalPodAutoscaler](func(l *Loop, o *autoscalingv2.HorizontalPodAutoscaler, now time.Time) {
			if len(o.Status.Conditions) == 0 {
				l.behind(o, now, o.CreationTimestamp.Time) // the controller comes by every 15 s
				return
			}
			for _, c := range o.Status.Conditions {
				if c.Status != corev1.ConditionFalse || c.Reason == "ScalingDisabled" {
					continue // of no replicas, it is meant
				}
				age := now.Sub(c.LastTransitionTime.Time)
				switch {
				case age <= Patience:
				case c.Type == autoscalingv2.ScalingActive && metricsAPIFails(c.Message):
					l.hold(o, "their metrics API does not answer", age).Bad = true
				case c.Type == autoscalingv2.ScalingActive:
					l.hold(o, "not scaled for want of metrics, "+c.Reason, age)
				case c.Type == autoscalingv2.AbleToScale && strings.HasPrefix(c.Reason, "Failed"):
					l.hold(o, "what they scale cannot be read or written, "+c.Reason, age)
				}
			}
		})
	}, list("/apis/autoscaling/v2/horizontalpodautoscalers"))

// metricsAPIFails reports whether it is the API that fails and not only that it
// has nothing on these pods: the words are the API server's own.
func metricsAPIFails(message string) bool {
	for _, s := range []string{"the server could not find the requested resource", "the server is currently unable to handle the request", "no custom metrics API", "no external metrics API", "failed to get server groups"} {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}

// Budgets are the PodDisruptionBudgets that allow no eviction.
var Budgets = newLoop("budgets", "the PodDisruptionBudgets that no controller has looked at, or that allow no eviction", "PodDisruptionBudget", "disruption",
	func() looker {
		return each[*policyv1.PodDisruptionBudget](func(l *Loop, o *policyv1.PodDisruptionBudget, now time.Time) {
			s := o.Status
			switch {
			case s.ObservedGeneration < o.Generation:
				l.behind(o, now, changed(o, false))
			case s.ExpectedPods == 0 || s.DisruptionsAllowed > 0:
			case s.CurrentHealthy < s.DesiredHealthy:
				if age := unchanged(o, now); age > Settled {
					l.hold(o, "fewer healthy pods than they demand", age)
				}
			default:
				l.hold(o, "no eviction allowed though all pods are healthy", unchanged(o, now))
			}
		})
	}, list("/apis/policy/v1/poddisruptionbudgets"))

// Quotas are the ResourceQuotas that are full, or not kept up to date.
var Quotas = newLoop("quotas", "the ResourceQuotas that no controller keeps up to date, or that are full", "ResourceQuota", "resourcequota_primary",
	func() looker {
		return each[*corev1.ResourceQuota](func(l *Loop, o *corev1.ResourceQuota, now time.Time) {
			for name, hard := range o.Spec.Hard {
				if got, ok := o.Status.Hard[name]; !ok || got.Cmp(hard) != 0 {
					l.behind(o, now, laterOf(changed(o, false), o.CreationTimestamp.Time))
					return
				}
			}
			var full []string
			for _, name := range slices.Sorted(maps.Keys(o.Spec.Hard)) {
				hard, used := o.Spec.Hard[name], o.Status.Used[name]
				if hard.Sign() > 0 && used.Cmp(hard) >= 0 {
					full = append(full, string(name))
				}
			}
			if len(full) > 0 {
				l.hold(o, "all of its "+strings.Join(full[:min(len(full), 3)], ", ")+" used", unchanged(o, now))
			}
		})
	}, list("/api/v1/resourcequotas"))

// Attachments are the volumes that are not attached to, or detached from, their
// nodes.
var Attachments = newLoop("attachments", "the volumes that cannot be attached to their nodes, or detached", "VolumeAttachment", "",
	func() looker {
		return each[*storagev1.VolumeAttachment](func(l *Loop, o *storagev1.VolumeAttachment, now time.Time) {
			for _, x := range []struct {
				err  *storagev1.VolumeError
				what string
			}{{o.Status.AttachError, "not attached"}, {o.Status.DetachError, "not detached"}} {
				if x.err != nil && !(x.what == "not attached" && o.Status.Attached) && now.Sub(o.CreationTimestamp.Time) > claimPatience {
					l.hold(o, x.what+" by "+o.Spec.Attacher+", which met an error", now.Sub(o.CreationTimestamp.Time))
				}
			}
		})
	}, list("/apis/storage.k8s.io/v1/volumeattachments"))

// balancerPatience is what clouds take to make a load balancer, and more [exp].
const balancerPatience = 5 * time.Minute

// Balancers are the Services that wait for a load balancer.
var Balancers = newLoop("balancers", "the Services that wait for a load balancer", "Service", "service",
	func() looker {
		return each[*corev1.Service](func(l *Loop, o *corev1.Service, now time.Time) {
			if o.Spec.Type != corev1.ServiceTypeLoadBalancer || len(o.Status.LoadBalancer.Ingress) > 0 {
				return
			}
			since := laterOf(changed(o, false), o.CreationTimestamp.Time) // it may have been of another type
			if age := now.Sub(since); age > balancerPatience {
				by := "no load balancer"
				if o.Spec.LoadBalancerClass != nil {
					by += " of class " + *o.Spec.LoadBalancerClass
				}
				l.hold(o, by, age)
			}
		})
	}, list("/api/v1/services"))
