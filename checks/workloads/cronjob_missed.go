package workloads

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

//go:embed cronjob_missed.md
var cronJobMissedDoc string

// CronJobMissed looks for CronJobs that are not started at their times.
var CronJobMissed = &checks.Check{
	ID:        "cronjob-missed",
	Component: collectors.Controllers,
	Title:     "every CronJob is started at its times",
	Doc:       cronJobMissedDoc,
	Needs:     []collectors.Any{controllers.CronJobs},
	Remedies: []checks.Remedy{
		{Title: "see its schedule and when it was started last", Command: "kubectl -n {ns} get cronjob {obj} -o wide", Risk: checks.ReadOnly},
		{Title: "see whether a controller manager leads", Command: "kubectl -n kube-system get lease kube-controller-manager -o yaml", Risk: checks.ReadOnly},
	},
	Run: func(p *checks.Pass) {
		judge(p, controllers.CronJobs, words{
			lag: "not started at three times or more in a row,",
			ok:  "was left out at three times in a row",
		})
	},
}
