package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVersionsAreThoseOfGoMod keeps the cache's key and the built source together.
func TestVersionsAreThoseOfGoMod(t *testing.T) {
	for _, v := range Sets() {
		for _, tt := range []struct{ module, want string }{
			{kubernetesModule(v.Kubernetes), "k8s.io/kubernetes " + v.Kubernetes},
			{etcdModule(v.Etcd), "go.etcd.io/etcd/server/v3 " + v.Etcd},
			{etcdModule(v.Etcd), "go.etcd.io/etcd/etcdctl/v3 " + v.Etcd},
			{etcdModule(v.OldEtcd), "go.etcd.io/etcd/server/v3 " + v.OldEtcd},
			{"kwok", "sigs.k8s.io/kwok " + v.Kwok},
		} {
			file := filepath.Join("..", tt.module, "go.mod")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), tt.want+"\n") && !strings.Contains(string(text), tt.want+" ") {
				t.Errorf("%s does not require %q", file, tt.want)
			}
		}
	}
}

func TestFind(t *testing.T) {
	for line, want := range map[string]string{
		"": Default.Kubernetes, "1.34": "v1.34.4", "v1.34.4": "v1.34.4", "v1.34": "v1.34.4", "1.37": Default.Kubernetes,
		"1.3": "", "2": "", "nonsense": "",
	} {
		v, err := Find(line)
		if v.Kubernetes != want || (err == nil) != (want != "") {
			t.Errorf("Find(%q) = %q, %v; want %q", line, v.Kubernetes, err, want)
		}
	}
}
