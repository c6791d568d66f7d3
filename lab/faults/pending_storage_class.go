package faults

import (
	"context"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const claimsPath = "/api/v1/namespaces/" + cluster.WorkloadNamespace + "/persistentvolumeclaims"

var pendingStorageClass = Fault{
	Name: "pending-storage-class",
	Doc:  "A deployment's pods mount a claim of a storage class that does not exist: it is never bound.",
	Want: Problem{Check: "scheduler-unschedulable-pods"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := post(ctx, lab, claimsPath, object{
			"metadata": object{"name": "unbound"},
			"spec": object{
				"accessModes": []string{"ReadWriteOnce"}, "storageClassName": "fast",
				"resources": object{"requests": object{"storage": "1Gi"}},
			},
		}); err != nil {
			return err
		}
		return deployPods(ctx, lab, "pending-storage-class", 1, func(spec *corev1.PodSpec) {
			spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "unbound"},
			}}}
		})
	},
	Wait: waitPending("pending-storage-class", metav1.ConditionFalse),
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := undeploy(ctx, lab, "pending-storage-class"); err != nil {
			return err
		}
		return remove(ctx, lab, claimsPath+"/unbound")
	},
}
