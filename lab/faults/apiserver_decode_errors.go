package faults

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var apiServerDecodeErrors = Fault{
	Name:  "apiserver-decode-errors",
	Doc:   "The API server was restarted with another encryption key. What was written with the old one cannot be read: no secret can be listed.",
	Want:  Problem{Check: "apiserver-decode-errors"},
	Also:  []string{"kcm-restarts", "lease-flapping"}, // it was away for long enough
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := encrypt(ctx, lab, "old"); err != nil {
			return err
		}
		client, err := lab.Client()
		if err != nil {
			return err
		}
		for i := range 5 {
			secret := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: cluster.WorkloadNamespace, Name: fmt.Sprintf("password-%d", i), Labels: map[string]string{"lab": "encrypted"}},
				StringData: map[string]string{"password": "correct horse"},
			}
			if _, err := client.CoreV1().Secrets(secret.Namespace).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create secret: %w", err)
			}
		}
		flags, err := encryption(lab, "new")
		if err != nil {
			return err
		}
		// It does not become ready: it cannot fill its cache of secrets.
		return lab.Reconfigure(ctx, firstAPIServer(lab), flags)
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		client, err := lab.Client()
		if err != nil {
			return err
		}
		return cluster.Until(ctx, effectTimeout, "secrets that cannot be read", func(ctx context.Context) error {
			if _, err := client.Discovery().ServerVersion(); err != nil {
				return err // it is still starting
			}
			if _, err := client.CoreV1().Secrets("").List(ctx, metav1.ListOptions{}); err == nil {
				return errors.New("all secrets can be read")
			}
			return nil
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := encrypt(ctx, lab, "old"); err != nil {
			return err
		}
		client, err := lab.Client()
		if err != nil {
			return err
		}
		secrets := client.CoreV1().Secrets(cluster.WorkloadNamespace)
		if err := secrets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "lab=encrypted"}); err != nil {
			return fmt.Errorf("delete secrets: %w", err)
		}
		return reconfigure(ctx, lab, nil)
	},
}

// encrypt restarts the API server with one key for secrets.
func encrypt(ctx context.Context, lab *cluster.Lab, key string) error {
	flags, err := encryption(lab, key)
	if err != nil {
		return err
	}
	return reconfigure(ctx, lab, flags)
}

func encryption(lab *cluster.Lab, key string) (map[string]string, error) {
	secret := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%-32s", key))
	config := fmt.Sprintf(`apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aescbc: {keys: [{name: key1, secret: %s}]}
  - identity: {}
`, secret)
	path := filepath.Join(lab.Options.PKI(0), "encryption-"+key+".yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		return nil, err
	}
	return map[string]string{"encryption-provider-config": path}, nil
}
