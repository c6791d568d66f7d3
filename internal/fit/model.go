package fit

import (
	v1 "k8s.io/api/core/v1"
)

// A Model judges pods against one cluster. It is safe for use by many goroutines.
type Model struct{}

// New makes a model of what the scheduler sees.
func New(c Cluster) *Model { return &Model{} }

// Judge says where the pod fits and what is in the way everywhere else. Pods that
// are alike to the scheduler are judged once.
func (m *Model) Judge(pod *v1.Pod) Verdict { return Verdict{State: NotKnown} }

// Message is what the scheduler would write into the pod's condition, without what
// it adds about preemption: "0/3 nodes are available: 3 Insufficient cpu."
func (m *Model) Message(v Verdict) string { return "" }

// Key is the same for pods that are alike to the scheduler.
func (m *Model) Key(pod *v1.Pod) string { return "" }

// Node is all that keeps the pod off one node, with that node's numbers.
func (m *Model) Node(pod *v1.Pod, node string) []Failure { return nil }

// Changes are the smallest ways to make the pod fit, the smallest and most
// harmless first. There are none for a pod that fits.
func (m *Model) Changes(pod *v1.Pod) []Change { return nil }
