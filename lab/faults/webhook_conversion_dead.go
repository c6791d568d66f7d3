package faults

import (
	"context"
	"errors"
	"fmt"

	"github.com/ktriage/ktriage/lab/cluster"
	"k8s.io/apimachinery/pkg/types"
)

const (
	widgets    = "widgets.example.com"
	widgetsV1  = "/apis/example.com/v1/namespaces/" + cluster.WorkloadNamespace + "/widgets"
	widgetsV2  = "/apis/example.com/v2/widgets"
	conversion = `{"spec":{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],` +
		`"clientConfig":{"service":{"namespace":"` + cluster.WorkloadNamespace + `","name":"widget-operator","path":"/convert"}}}}}}`
)

var webhookConversionDead = Fault{
	Name: "webhook-conversion-dead",
	Doc:  "The operator that converts a custom resource between its versions is gone. Nobody can list them in the new version, and controllers that look at everything fail.",
	Want: Problem{Check: "conversion-webhook-failing"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		version := func(name string, stored bool) object {
			return object{"name": name, "served": true, "storage": stored, "schema": object{
				"openAPIV3Schema": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
			}}
		}
		if err := post(ctx, lab, crdPath, object{
			"metadata": object{"name": widgets},
			"spec": object{
				"group": "example.com", "scope": "Namespaced",
				"names":    object{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
				"versions": []object{version("v1", true), version("v2", false)},
			},
		}); err != nil {
			return err
		}
		err := cluster.Until(ctx, effectTimeout, "widgets to be served", func(ctx context.Context) error {
			return post(ctx, lab, widgetsV1, object{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": object{"name": "old"}})
		})
		if err != nil {
			return err
		}
		client, err := raw(lab)
		if err != nil {
			return err
		}
		err = client.Patch(types.MergePatchType).AbsPath(crdPath + "/" + widgets).Body([]byte(conversion)).Do(ctx).Error()
		if err != nil {
			return fmt.Errorf("set the conversion: %w", err)
		}
		return lab.StartHelper(ctx, writers, 0, cluster.Helper{Clients: &cluster.Clients{
			Kubeconfig: lab.Options.Kubeconfig(), Path: widgetsV2, Count: 1, Pause: dashboardPeriod,
		}})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := raw(lab)
		if err != nil {
			return err
		}
		return cluster.Until(ctx, effectTimeout, "widgets that cannot be converted", func(ctx context.Context) error {
			if client.Get().AbsPath(widgetsV2).Do(ctx).Error() == nil {
				return errors.New("widgets are still listed")
			}
			metrics, err := lab.APIServerMetrics(ctx)
			if err != nil {
				return err
			}
			if metrics.Sum("apiserver_conversion_webhook_request_total", `result="failure"`) == 0 {
				return errors.New("no failure is counted")
			}
			return nil
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.StopHelper(ctx, writers); err != nil {
			return err
		}
		client, err := raw(lab)
		if err != nil {
			return err
		}
		// Without a conversion, what is there can be deleted.
		client.Patch(types.MergePatchType).AbsPath(crdPath + "/" + widgets).
			Body([]byte(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)).Do(ctx)
		return remove(ctx, lab, crdPath+"/"+widgets)
	},
}
