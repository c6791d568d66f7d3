// Package fit models how the default kube-scheduler filters nodes for a pod, as
// of Kubernetes 1.37. It is pure: given the objects that the scheduler sees, it
// tells for each node all the constraints that the pod fails there, where the
// scheduler itself stops at the first, and which smallest changes would make
// the pod fit. Every change is proved by judging a changed copy.
//
// A verdict that depends on objects which could not be read is not known, and
// says of which. What the model does not cover is named, never guessed.
package fit
