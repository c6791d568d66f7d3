package fit

import (
	v1 "k8s.io/api/core/v1"
)

// Changes are the smallest ways to make the pod fit, the smallest and most
// harmless first. There are none for a pod that fits.
func (m *Model) Changes(pod *v1.Pod) []Change { return nil }
