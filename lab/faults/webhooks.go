package faults

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/pki"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	webhooksPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	// guard is the webhook of these faults, its configuration and its service.
	guard     = "guard"
	guardPort = 443
	writers   = "writers"
)

// guardPods asks the guard about each pod that is created in the shop, with that
// authority's certificate, and fails closed.
func guardPods(ctx context.Context, lab *cluster.Lab, ca []byte, timeout int) error {
	return post(ctx, lab, webhooksPath, object{
		"metadata": object{"name": guard},
		"webhooks": []object{{
			"name":                    "guard.example.com",
			"admissionReviewVersions": []string{"v1"},
			"sideEffects":             "None",
			"failurePolicy":           "Fail",
			"timeoutSeconds":          timeout,
			"clientConfig": object{
				"caBundle": base64.StdEncoding.EncodeToString(ca),
				"service":  object{"namespace": cluster.WorkloadNamespace, "name": guard, "path": "/validate", "port": guardPort},
			},
			"namespaceSelector": object{"matchLabels": object{"kubernetes.io/metadata.name": cluster.WorkloadNamespace}},
			"rules": []object{{
				"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "resources": []string{"pods"}, "operations": []string{"CREATE"},
			}},
		}},
	})
}

// guardService makes the guard's service and lets the API server's node reach
// it, as kube-proxy would. It returns the service's address.
func guardService(ctx context.Context, lab *cluster.Lab, selector map[string]string) (string, error) {
	client, err := lab.Client()
	if err != nil {
		return "", err
	}
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.WorkloadNamespace, Name: guard},
		Spec:       corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{{Port: guardPort}}},
	}
	s, err = client.CoreV1().Services(s.Namespace).Create(ctx, s, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create service: %w", err)
	}
	return s.Spec.ClusterIP, lab.AddServiceIP(ctx, 0, s.Spec.ClusterIP)
}

// guardBackend makes the service and a server behind it that answers after
// delay. It returns the certificate of the authority that signed the server's.
func guardBackend(ctx context.Context, lab *cluster.Lab, delay time.Duration) ([]byte, error) {
	ip, err := guardService(ctx, lab, nil)
	if err != nil {
		return nil, err
	}
	ca, err := pki.NewAuthority("guard-ca")
	if err != nil {
		return nil, err
	}
	pair, err := ca.Issue(pki.Leaf{
		CommonName: guard, Server: true, Validity: 90 * 24 * time.Hour,
		DNSNames: []string{fmt.Sprintf("%s.%s.svc", guard, cluster.WorkloadNamespace)},
	})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(lab.Options.Dir, guard)
	if err := pair.Write(path); err != nil {
		return nil, err
	}
	err = lab.StartHelper(ctx, guard, 0, cluster.Helper{Backend: &cluster.Backend{
		Addr: net.JoinHostPort(ip, fmt.Sprint(guardPort)), Cert: path + ".crt", Key: path + ".key", Delay: delay,
	}})
	if err != nil {
		return nil, err
	}
	// Who made the service without a selector says himself where it leads.
	return ca.Cert, post(ctx, lab, "/apis/discovery.k8s.io/v1/namespaces/"+cluster.WorkloadNamespace+"/endpointslices", object{
		"metadata":    object{"name": guard, "labels": object{"kubernetes.io/service-name": guard}},
		"addressType": "IPv4",
		"ports":       []object{{"name": "", "port": guardPort, "protocol": "TCP"}},
		"endpoints":   []object{{"addresses": []string{lab.Options.NodeIP(0)}, "conditions": object{"ready": true}}},
	})
}

// writePods lets clients create pods all the time, as a dry run: admission sees
// them, nobody else.
func writePods(ctx context.Context, lab *cluster.Lab) error {
	return lab.StartHelper(ctx, writers, 0, cluster.Helper{Clients: &cluster.Clients{
		Kubeconfig: lab.Options.Kubeconfig(),
		Path:       "/api/v1/namespaces/" + cluster.WorkloadNamespace + "/pods?dryRun=All",
		Body: `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"dry-"},` +
			`"spec":{"containers":[{"name":"c","image":"registry.k8s.io/pause:3.10"}]}}`,
		Count: 4,
		Pause: 200 * time.Millisecond,
	}})
}

// removeGuard undoes all of the above.
func removeGuard(ctx context.Context, lab *cluster.Lab) error {
	if err := remove(ctx, lab, webhooksPath+"/"+guard); err != nil {
		return err
	}
	for _, helper := range []string{guard, writers} {
		if err := lab.StopHelper(ctx, helper); err != nil {
			return err
		}
	}
	client, err := lab.Client()
	if err != nil {
		return err
	}
	if s, err := client.CoreV1().Services(cluster.WorkloadNamespace).Get(ctx, guard, metav1.GetOptions{}); err == nil {
		if err := lab.RemoveServiceIP(ctx, 0, s.Spec.ClusterIP); err != nil {
			return err
		}
	}
	if err := remove(ctx, lab, "/apis/discovery.k8s.io/v1/namespaces/"+cluster.WorkloadNamespace+"/endpointslices/"+guard); err != nil {
		return err
	}
	return remove(ctx, lab, "/api/v1/namespaces/"+cluster.WorkloadNamespace+"/services/"+guard)
}

// rejected waits for a deployment to lose its pods to the guard.
func rejected(deployment string) func(context.Context, *cluster.Lab) error {
	return func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "a replica set that creates no pods", func(ctx context.Context) error {
			return failedCreate(ctx, lab, deployment)
		})
	}
}

// admitted is how many calls of webhooks have an effect on a histogram.
const admitted = 10

// waitWebhook waits until the API server has counted calls of the guard.
func waitWebhook(ctx context.Context, lab *cluster.Lab) error {
	return cluster.Until(ctx, effectTimeout, "calls of the webhook", func(ctx context.Context) error {
		metrics, err := lab.APIServerMetrics(ctx)
		if err != nil {
			return err
		}
		if n := metrics.Sum("apiserver_admission_webhook_admission_duration_seconds_count", `name="guard.example.com"`); n < admitted {
			return errors.New("the guard has hardly been asked")
		}
		return nil
	})
}
