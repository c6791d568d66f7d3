package faults

import corev1 "k8s.io/api/core/v1"

var pendingHostPort = pendingBecause("pending-host-port",
	"A deployment wants nine pods that each take port 8080 of their node; there are five nodes for them.", 9,
	func(spec *corev1.PodSpec) {
		spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 8080}}
	})
