package faults

import (
	"context"
	"errors"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	policiesPath       = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	policyBindingsPath = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
	failingPolicy      = "needs-owner"
)

var policyFailing = Fault{
	Name: "policy-failing",
	Doc:  "An admission policy reads a label that pods need not have. It cannot be evaluated for those that lack it, and fails closed: they are refused.",
	Want: Problem{Check: "vap-errors"},
	Or:   []Problem{{Check: "replicaset-failedcreate"}}, // it is evaluated when the controller tries again, which may be after the window
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		err := post(ctx, lab, policiesPath, object{
			"metadata": object{"name": failingPolicy},
			"spec": object{
				"failurePolicy": "Fail",
				"matchConstraints": object{
					"namespaceSelector": object{"matchLabels": object{"kubernetes.io/metadata.name": cluster.WorkloadNamespace}},
					"resourceRules": []object{{
						"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "resources": []string{"pods"}, "operations": []string{"CREATE"},
					}},
				},
				"validations": []object{{"expression": "object.metadata.labels['owner'] == 'me'"}},
			},
		})
		if err != nil {
			return err
		}
		err = post(ctx, lab, policyBindingsPath, object{
			"metadata": object{"name": failingPolicy},
			"spec":     object{"policyName": failingPolicy, "validationActions": []string{"Deny"}},
		})
		if err != nil {
			return err
		}
		// Pods that were made before the API server knew of it would run.
		if err := cluster.Until(ctx, effectTimeout, "a policy that is in force", func(ctx context.Context) error { return refusesPods(ctx, lab) }); err != nil {
			return err
		}
		return deploy(ctx, lab, "ownerless", 2, "10m")
	},
	Wait: rejected("ownerless"),
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		for _, path := range []string{policyBindingsPath, policiesPath} {
			if err := remove(ctx, lab, path+"/"+failingPolicy); err != nil {
				return err
			}
		}
		return undeploy(ctx, lab, "ownerless")
	},
}

// refusesPods says whether the API server refuses a pod that the policy cannot
// be evaluated for.
func refusesPods(ctx context.Context, lab *cluster.Lab) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.WorkloadNamespace, GenerateName: "dry-"},
		Spec:       cluster.Deployment(cluster.WorkloadNamespace, "dry", 1, "10m").Spec.Template.Spec,
	}
	_, err = client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil {
		return errors.New("a pod is let through")
	}
	return nil
}
