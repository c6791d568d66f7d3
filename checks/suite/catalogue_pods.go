package suite

import "github.com/ktriage/ktriage/checks"

// podsRules tells of the rules of section 2.10, pending pods, that have no
// check of their own.
var podsRules = decisions{
	section: "2.10",
	merged: []Merged{
		{"pod-pending-unschedulable", []checks.ID{"scheduler-unschedulable-pods"}, "counts the same pods, by the scheduler's reasons"},
		{"pod-pending-gated", []checks.ID{"scheduler-gated-pods"}, "counts the same pods, by their gates"},
		{"pod-pending-volume", []checks.ID{"scheduler-unschedulable-pods", "pvc-pending"}, "names the volume as the reason; the claim tells whom it waits for"},
		{"pod-pending-preempting", []checks.ID{"scheduler-unschedulable-pods"}, "leaves out pods whose victims shut down, for 5 minutes, and counts them after that"},
		{"pod-crashloop", []checks.ID{"static-pod-crashloop"}, "tells of the control plane's own pods; those of others are their owners' (deployment-replicas-mismatch)"},
	},
}
