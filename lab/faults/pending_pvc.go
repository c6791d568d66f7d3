package faults

import corev1 "k8s.io/api/core/v1"

var pendingPVC = pendingBecause("pending-pvc",
	"A deployment's pods mount a claim that does not exist.", 1,
	func(spec *corev1.PodSpec) {
		spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "forgotten"},
		}}}
	})
