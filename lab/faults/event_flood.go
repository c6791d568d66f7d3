package faults

import (
	"context"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	wildOperator = "wild-operator"
	wildEvents   = 90  // a second
	wildWritten  = 300 // must be there: the flood is under way
)

var eventFlood = Fault{
	Name: "event-flood",
	Doc:  "An operator runs wild and writes 90 events a second.",
	Want: Problem{Check: "apiserver-event-flood"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		return lab.StartHelper(ctx, wildOperator, 0, cluster.Helper{Writer: &cluster.Writer{Kubeconfig: lab.Options.Kubeconfig(), Events: wildEvents}})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "many events", func(ctx context.Context) error {
			client, err := lab.Client()
			if err != nil {
				return err
			}
			list, err := client.CoreV1().Events(cluster.WorkloadNamespace).List(ctx, metav1.ListOptions{})
			if err == nil && len(list.Items) < wildWritten {
				err = fmt.Errorf("%d events", len(list.Items))
			}
			return err
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error { return lab.StopHelper(ctx, wildOperator) },
}
