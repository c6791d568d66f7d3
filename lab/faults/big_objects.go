package faults

import (
	"context"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

const (
	// tooLarge is over the 1.5 MiB that etcd takes in a request, and under the
	// 2 MiB from which on the API server's client does not even ask it.
	tooLarge = 1700 << 10
	refusals = 10
)

var bigObjects = Fault{
	Name: "big-objects",
	Doc:  "An operator keeps all that it knows in one custom resource, which has grown over the 1.5 MiB that etcd takes. It tries to write it again and again.",
	Want: Problem{Check: "etcd-request-too-large"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := defineReports(ctx, lab); err != nil {
			return err
		}
		return lab.StartHelper(ctx, wildOperator, 0, cluster.Helper{Clients: &cluster.Clients{
			Kubeconfig: lab.Options.Kubeconfig(), Path: reportsPath, Count: 1, Pause: time.Second, Pad: tooLarge,
			Body: `{"apiVersion":"example.com/v1","kind":"Report","metadata":{"name":"everything"},"spec":{"text":"` + cluster.Padding + `"}}`,
		}})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "reports that are refused", func(ctx context.Context) error {
			return counted(ctx, lab, refusals, `resource="reports"`, `code="500"`)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.StopHelper(ctx, wildOperator); err != nil {
			return err
		}
		return dropReports(ctx, lab)
	},
}
