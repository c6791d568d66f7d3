package faults

import corev1 "k8s.io/api/core/v1"

var pendingSelector = pendingBecause("pending-selector",
	"A deployment's pods select a label that no node has.", 2,
	func(spec *corev1.PodSpec) { spec.NodeSelector = map[string]string{"disk": "nvme"} })
