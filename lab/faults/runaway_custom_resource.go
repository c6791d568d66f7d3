package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	crdPath     = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	reports     = "reports.example.com"
	reportsPath = "/apis/example.com/v1/namespaces/" + cluster.WorkloadNamespace + "/reports"
	// manyReports must be there: the operator has been at it for a while.
	manyReports = 500
)

var runawayCustomResource = Fault{
	Name: "runaway-custom-resource",
	Doc:  "An operator makes a new custom resource each time that it looks at the last one, some dozens a second, and deletes none.",
	Want: Problem{Check: "apiserver-resource-flood"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := defineReports(ctx, lab); err != nil {
			return err
		}
		return lab.StartHelper(ctx, wildOperator, 0, cluster.Helper{Clients: &cluster.Clients{
			Kubeconfig: lab.Options.Kubeconfig(), Path: reportsPath, Count: 4, Pause: 50 * time.Millisecond,
			Body: `{"apiVersion":"example.com/v1","kind":"Report","metadata":{"generateName":"report-"},"spec":{"text":"all is well"}}`,
		}})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "many reports", func(ctx context.Context) error {
			return counted(ctx, lab, manyReports, `resource="reports"`, `code="201"`)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.StopHelper(ctx, wildOperator); err != nil {
			return err
		}
		return dropReports(ctx, lab)
	},
}

// defineReports adds a custom resource, and waits until it is served.
func defineReports(ctx context.Context, lab *cluster.Lab) error {
	if err := post(ctx, lab, crdPath, object{
		"metadata": object{"name": reports},
		"spec": object{
			"group": "example.com", "scope": "Namespaced",
			"names": object{"plural": "reports", "singular": "report", "kind": "Report", "listKind": "ReportList"},
			"versions": []object{{"name": "v1", "served": true, "storage": true, "schema": object{
				"openAPIV3Schema": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
			}}},
		},
	}); err != nil {
		return err
	}
	client, err := raw(lab)
	if err != nil {
		return err
	}
	return cluster.Until(ctx, effectTimeout, "reports to be served", func(ctx context.Context) error {
		return client.Get().AbsPath(reportsPath).Do(ctx).Error()
	})
}

// dropReports removes them, and waits until that is done: whoever defines them
// anew would meet what is being deleted.
func dropReports(ctx context.Context, lab *cluster.Lab) error {
	if err := remove(ctx, lab, crdPath+"/"+reports); err != nil {
		return err
	}
	client, err := raw(lab)
	if err != nil {
		return err
	}
	return cluster.Until(ctx, effectTimeout, "reports to be gone", func(ctx context.Context) error {
		err := client.Get().AbsPath(crdPath + "/" + reports).Do(ctx).Error()
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = errors.New("they are still there")
		}
		return err
	})
}

// counted waits until the API server has answered that many requests.
func counted(ctx context.Context, lab *cluster.Lab, want float64, labels ...string) error {
	metrics, err := lab.APIServerMetrics(ctx)
	if err != nil {
		return err
	}
	if n := metrics.Sum("apiserver_request_total", labels...); n < want {
		return fmt.Errorf("%.0f requests are answered", n)
	}
	return nil
}
