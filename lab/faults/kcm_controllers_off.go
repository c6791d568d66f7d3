package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const neverBegun = "never-begun"

var kcmControllersOff = Fault{
	Name:  "kcm-controllers-off",
	Doc:   "The controller managers run without the controllers of jobs and of deployments: nobody begins a job, nobody looks at a deployment, and the leader is well.",
	Want:  Problem{Check: "kcm-controller-not-running"}, // by its queues: the pods show the flags that they were made with
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		for _, c := range lab.Options.Components(cluster.ControllerManager) {
			if err := lab.Reconfigure(ctx, c, map[string]string{"controllers": "*,-job-controller,-deployment-controller"}); err != nil {
				return err
			}
		}
		client, err := lab.Client()
		if err != nil {
			return err
		}
		for i := range 2 {
			job := &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", neverBegun, i)},
				Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "work", Image: "registry.k8s.io/pause:3.10"}},
				}}},
			}
			if _, err := client.BatchV1().Jobs(cluster.WorkloadNamespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create job: %w", err)
			}
		}
		return deploy(ctx, lab, unobserved, 2, "100m")
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := lab.Client()
		if err != nil {
			return err
		}
		return cluster.Until(ctx, effectTimeout, "jobs that nobody begins for over a minute", func(ctx context.Context) error {
			job, err := client.BatchV1().Jobs(cluster.WorkloadNamespace).Get(ctx, neverBegun+"-0", metav1.GetOptions{})
			if err == nil && (job.Status.StartTime != nil || time.Since(job.CreationTimestamp.Time) < 65*time.Second) {
				err = fmt.Errorf("job %s was begun, or is new", job.Name)
			}
			if err != nil {
				return err
			}
			// Of one that has just taken over nobody can tell which controllers it will run.
			return ledFor(ctx, lab, cluster.ControllerManager, time.Time{}, 65*time.Second)
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		for _, c := range lab.Options.Components(cluster.ControllerManager) {
			if err := lab.Reconfigure(ctx, c, nil); err != nil {
				return err
			}
		}
		for i := range 2 {
			if err := remove(ctx, lab, fmt.Sprintf("/apis/batch/v1/namespaces/%s/jobs/%s-%d?propagationPolicy=Background", cluster.WorkloadNamespace, neverBegun, i)); err != nil {
				return err
			}
		}
		return undeploy(ctx, lab, unobserved)
	},
}
