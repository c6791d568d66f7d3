package cluster

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"github.com/ktriage/ktriage/lab/build"
	"github.com/ktriage/ktriage/lab/supervise"
)

//go:embed kwok
var kwokFiles embed.FS

// controlPlaneLabel marks kubeadm's control-plane nodes.
const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

// kwokConfig fills kwok/config.yaml.tmpl. Each control-plane node has a kwok of
// its own, in its own network, so that port-forward, logs and exec reach that
// node's processes on that node's 127.0.0.1, and a node's kubelet can die alone.
type kwokConfig struct {
	Node     string
	Selector string
	IP       string
	Port     int
	Cert     string
	Key      string
	Pods     []kwokPod
	Stages   string
}

type kwokPod struct {
	Name      string
	Container string
	Ports     []int32
	Log       string
	Dir       string
	Path      string
}

// KubeletName is the process that plays the kubelet of a control-plane node.
func (o Options) KubeletName(i int) string { return "kubelet-" + o.NodeName(i) }

// kubelets are the kwok processes: one a control-plane node, one for all workers.
func (o Options) kubelets(bins build.Binaries) ([]supervise.Spec, error) {
	var specs []supervise.Spec
	for i := range o.ControlPlanes {
		config := kwokConfig{
			Node: o.NodeName(i),
			IP:   o.NodeIP(i),
			Cert: filepath.Join(o.PKI(i), "kubelet.crt"),
			Key:  filepath.Join(o.PKI(i), "kubelet.key"),
		}
		for _, c := range o.Components() {
			if c.Node == i {
				config.Pods = append(config.Pods, kwokPod{
					Name: c.Name(), Container: string(c.Kind), Ports: c.ports(),
					Log: o.LogFile(c.Name()), Dir: o.NodeDir(i), Path: filepath.Dir(bins.Etcdctl),
				})
			}
		}
		spec, err := o.kubelet(bins, o.KubeletName(i), o.Netns(i), o.etcKubernetes(i), config)
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	if o.Workers == 0 {
		return specs, nil
	}
	spec, err := o.kubelet(bins, "kubelet-workers", o.workerNetns(), o.workerDir(), kwokConfig{
		Selector: "!" + controlPlaneLabel,
		IP:       o.WorkerIP(0),
		Cert:     filepath.Join(o.workerDir(), "kubelet.crt"),
		Key:      filepath.Join(o.workerDir(), "kubelet.key"),
	})
	return append(specs, spec), err
}

func (o Options) kubelet(bins build.Binaries, name, netns, dir string, config kwokConfig) (supervise.Spec, error) {
	stages, err := kwokFiles.ReadFile("kwok/stages.yaml")
	if err != nil {
		return supervise.Spec{}, err
	}
	config.Stages, config.Port = string(stages), kubeletPort
	tmpl, err := template.ParseFS(kwokFiles, "kwok/config.yaml.tmpl")
	if err != nil {
		return supervise.Spec{}, err
	}
	path := filepath.Join(dir, "kwok.yaml")
	file, err := os.Create(path)
	if err != nil {
		return supervise.Spec{}, err
	}
	defer file.Close()
	if err := tmpl.Execute(file, config); err != nil {
		return supervise.Spec{}, fmt.Errorf("write %s: %w", path, err)
	}
	return supervise.Spec{
		Name:  name,
		Netns: netns,
		Path:  bins.Kwok,
		Env:   []string{"PATH=" + filepath.Dir(bins.Etcdctl) + string(filepath.ListSeparator) + os.Getenv("PATH")}, // for exec
		Args:  []string{"--kubeconfig=" + filepath.Join(dir, "kubelet.conf"), "--config=" + path},
		Log:   o.LogFile(name),
		Keep:  true,
	}, nil
}
