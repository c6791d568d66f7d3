package cluster

import (
	"fmt"

	"github.com/ktriage/ktriage/lab/pki"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfig makes a client certificate for user and a kubeconfig with it,
// for an API server near the given node.
func (o Options) writeKubeconfig(path string, ca *pki.Authority, node int, user pki.Leaf) error {
	user.Validity = o.CertValidity
	pair, err := ca.Issue(user)
	if err != nil {
		return err
	}
	return o.saveKubeconfig(path, ca.Cert, node, user.CommonName, &clientcmdapi.AuthInfo{
		ClientCertificateData: pair.Cert, ClientKeyData: pair.Key,
	})
}

// writeTokenKubeconfig does the same for a bearer token.
func (o Options) writeTokenKubeconfig(path, user, token string) error {
	ca, err := pki.Read(o.PKI(0) + "/ca")
	if err != nil {
		return err
	}
	return o.saveKubeconfig(path, ca.Cert, 0, user, &clientcmdapi.AuthInfo{Token: token})
}

func (o Options) saveKubeconfig(path string, ca []byte, node int, user string, auth *clientcmdapi.AuthInfo) error {
	const name = "kubernetes"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: o.APIServerURL(node), CertificateAuthorityData: ca}
	config.AuthInfos[user] = auth
	config.Contexts[user+"@"+name] = &clientcmdapi.Context{Cluster: name, AuthInfo: user}
	config.CurrentContext = user + "@" + name
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

// restConfig reads a kubeconfig for the lab's own use: no client-side limit
// slows it down.
func restConfig(path string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", path, err)
	}
	config.QPS, config.Burst = 500, 1000
	config.UserAgent = "ktriage-lab"
	return config, nil
}
