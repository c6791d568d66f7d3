package faults

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

var pendingExtendedResource = pendingBecause("pending-extended-resource",
	"A deployment's pods ask for a GPU, and no node has one to offer: its device plugin does not run.", 2,
	func(spec *corev1.PodSpec) {
		one := corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
		spec.Containers[0].Resources.Limits = one // requests are the same if not set
		spec.Containers[0].Resources.Requests["example.com/gpu"] = one["example.com/gpu"]
	})
