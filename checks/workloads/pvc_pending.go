package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed pvc_pending.md
var pvcPendingDoc string

// PVCPending looks for claims that wait for a volume, by whom they wait for.
var PVCPending = &checks.Check{
	ID:        "pvc-pending",
	Component: collectors.Controllers,
	Title:     "every claim for a volume has one, or waits for a pod",
	Doc:       pvcPendingDoc,
	Needs:     []collectors.Any{controllers.Claims},
	Remedies: []checks.Remedy{
		{Title: "read what is said of it", Command: "kubectl -n {ns} describe pvc {obj}", Risk: checks.ReadOnly},
		{Title: "see the StorageClasses", Command: "kubectl get storageclasses", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.Claims, words{
			lag: "for which no provisioner was asked by their controller",
			ok:  "waits for its controller",
		})
	},
}
