package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed attach_detach.md
var attachDetachDoc string

// AttachDetach looks for volumes that are not attached or detached.
var AttachDetach = &checks.Check{
	ID:        "kcm-attach-detach",
	Component: collectors.Controllers,
	Title:     "volumes are attached to their nodes, and detached, without errors",
	Doc:       attachDetachDoc,
	Needs:     []collectors.Any{controllers.Attachments},
	Remedies: []checks.Remedy{
		{Title: "read the error", Command: "kubectl describe volumeattachment {name}", Risk: checks.ReadOnly},
		{Title: "see the driver's pods", Command: "kubectl get pods -A -o wide | grep -i csi", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Attachments, words{
			ok: "has met an error of attaching or detaching and is older than 5m",
		})
	},
}
