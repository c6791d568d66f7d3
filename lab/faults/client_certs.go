package faults

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/pki"
	"k8s.io/client-go/tools/clientcmd"
)

// expire gives all instances of a component new client certificates, valid for
// that many years from now (they have expired if it is negative), and restarts
// them.
func expire(ctx context.Context, lab *cluster.Lab, kind cluster.Kind, kubeconfig func(int) string, years int) error {
	for _, c := range lab.Options.Components(kind) {
		ca, err := pki.LoadAuthority(filepath.Join(lab.Options.PKI(c.Node), "ca"))
		if err != nil {
			return err
		}
		pair, err := ca.Issue(pki.Leaf{CommonName: "system:" + string(kind), Client: true, Validity: time.Duration(years) * 365 * 24 * time.Hour})
		if err != nil {
			return err
		}
		config, err := clientcmd.LoadFromFile(kubeconfig(c.Node))
		if err != nil {
			return fmt.Errorf("read kubeconfig of %s: %w", c.Name(), err)
		}
		for _, user := range config.AuthInfos {
			user.ClientCertificateData, user.ClientKeyData = pair.Cert, pair.Key
		}
		if err := clientcmd.WriteToFile(*config, kubeconfig(c.Node)); err != nil {
			return fmt.Errorf("write kubeconfig of %s: %w", c.Name(), err)
		}
		if err := lab.Reconfigure(ctx, c, nil); err != nil {
			return err
		}
	}
	return nil
}
