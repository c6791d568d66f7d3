package pending

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ktriage/ktriage/internal/testport"
	"github.com/ktriage/ktriage/lab/build"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// A Plane is an etcd, an API server and a scheduler: the programs of the lab,
// without its kubelets and controllers, which would bind the claims and taint the
// nodes that are to be judged as they are.
type Plane struct {
	Client kubernetes.Interface
	dir    string
	// configz is where the scheduler tells of its configuration.
	configz string
	procs   []*exec.Cmd
}

// ErrNotBuilt says that the lab's programs are not there.
var ErrNotBuilt = errors.New("the lab is not built")

const token = "pending"

// StartPlane starts one in a folder.
func StartPlane(ctx context.Context, dir string) (*Plane, error) {
	cache, err := build.CacheDir()
	if err != nil {
		return nil, err
	}
	bins := build.Paths(cache, build.Default)
	for _, b := range []string{bins.Etcd, bins.APIServer, bins.Scheduler} {
		if _, err := os.Stat(b); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: no %s", ErrNotBuilt, b)
		}
	}
	p := &Plane{dir: dir}
	var hosts []string
	for range 4 {
		host, err := testport.Addr()
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, host)
	}
	url := func(host string) string { return "http://" + host }
	port := func(host string) string { return host[strings.LastIndexByte(host, ':')+1:] }
	if err := p.start(bins.Etcd, "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", url(hosts[0]), "--advertise-client-urls", url(hosts[0]),
		"--listen-peer-urls", url(hosts[1]), "--initial-advertise-peer-urls", url(hosts[1]), "--initial-cluster", "default="+url(hosts[1]), "--unsafe-no-fsync"); err != nil {
		return nil, err
	}
	key := filepath.Join(dir, "service-accounts.key")
	if err := writeKey(key); err != nil {
		return nil, err
	}
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	// Nothing may change what the worlds say: no taints on new nodes, no finalizers.
	if err := p.start(bins.APIServer, "--etcd-servers", url(hosts[0]), "--secure-port", port(hosts[2]), "--bind-address", "127.0.0.1", "--cert-dir", filepath.Join(dir, "certs"),
		"--token-auth-file", tokens, "--authorization-mode", "AlwaysAllow", "--service-account-issuer", "https://pending.example", "--service-account-key-file", key,
		"--service-account-signing-key-file", key, "--service-cluster-ip-range", "10.0.0.0/24", "--endpoint-reconciler-type", "none",
		"--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition,DefaultStorageClass,StorageObjectInUseProtection"); err != nil {
		return nil, err
	}
	config := &rest.Config{Host: "https://" + hosts[2], BearerToken: token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: -1, WarningHandler: rest.NoWarnings{}}
	if p.Client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if err := p.ready(ctx); err != nil {
		p.Stop()
		return nil, err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(clientcmdapi.Config{CurrentContext: "x", Contexts: map[string]*clientcmdapi.Context{"x": {Cluster: "x", AuthInfo: "x"}},
		Clusters: map[string]*clientcmdapi.Cluster{"x": {Server: config.Host, InsecureSkipTLSVerify: true}}, AuthInfos: map[string]*clientcmdapi.AuthInfo{"x": {Token: token}}}, kubeconfig); err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "scheduler.yaml")
	if err := os.WriteFile(conf, bytes.ReplaceAll(SchedulerConfig, []byte("KUBECONFIG"), []byte(kubeconfig)), 0o600); err != nil {
		return nil, err
	}
	p.configz = "https://" + hosts[3] + "/configz"
	if err := p.start(bins.Scheduler, "--config", conf, "--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
		"--secure-port", port(hosts[3]), "--bind-address", "127.0.0.1", "--cert-dir", filepath.Join(dir, "certs")); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Plane) start(path string, args ...string) error {
	out, err := os.Create(filepath.Join(p.dir, filepath.Base(path)+".log"))
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(path), err)
	}
	p.procs = append(p.procs, cmd)
	return nil
}

func (p *Plane) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		_, err := p.Client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the API server is not ready: %w; its log is in %s", err, p.dir)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Configz is the scheduler's own account of its configuration.
func (p *Plane) Configz(ctx context.Context) ([]byte, error) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	get := func() ([]byte, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.configz, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("/configz answers %s", resp.Status)
		}
		return io.ReadAll(resp.Body)
	}
	for {
		body, err := get()
		if err == nil {
			return body, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("read the scheduler's configuration: %w; its log is in %s", err, p.dir)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Stop ends the plane.
func (p *Plane) Stop() {
	for i := len(p.procs) - 1; i >= 0; i-- {
		_ = p.procs[i].Process.Kill()
		_ = p.procs[i].Wait()
	}
}

func writeKey(path string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
}
