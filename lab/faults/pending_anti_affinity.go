package faults

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var pendingAntiAffinity = pendingBecause("pending-anti-affinity",
	"A deployment wants nine pods, each on a node of its own; there are five nodes for them.", 9,
	func(spec *corev1.PodSpec) {
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "pending-anti-affinity"}},
				TopologyKey:   corev1.LabelHostname,
			}},
		}}
	})
