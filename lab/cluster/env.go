package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// EnvVar is a variable that a shell sets to use the lab.
type EnvVar struct{ Name, Value string }

// Env is what kubectl, etcdctl and ktriage need to reach the lab.
func (o Options) Env() []EnvVar {
	return []EnvVar{
		{"KUBECONFIG", o.Kubeconfig()},
		{"ETCDCTL_ENDPOINTS", strings.Join(o.EtcdEndpoints(), ",")},
		{"ETCDCTL_CACERT", o.EtcdCA()},
		{"ETCDCTL_CERT", o.EtcdClient() + ".crt"},
		{"ETCDCTL_KEY", o.EtcdClient() + ".key"},
		{DirEnv, o.Dir},
	}
}

// writeEnv leaves Env in the lab's folder for a shell to read.
func (o Options) writeEnv() error {
	var text strings.Builder
	for _, v := range o.Env() {
		fmt.Fprintf(&text, "export %s=%q\n", v.Name, v.Value)
	}
	return os.WriteFile(filepath.Join(o.Dir, "env"), []byte(text.String()), 0o644)
}
