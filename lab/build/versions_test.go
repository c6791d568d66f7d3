package build

import (
	"os"
	"strings"
	"testing"
)

// TestVersionsAreThoseOfGoMod keeps the cache's key and the built source together.
func TestVersionsAreThoseOfGoMod(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"../go.mod", "k8s.io/kubernetes " + Default.Kubernetes},
		{"../go.mod", "go.etcd.io/etcd/server/v3 " + Default.Etcd},
		{"../go.mod", "go.etcd.io/etcd/etcdctl/v3 " + Default.Etcd},
		{"../oldetcd/go.mod", "go.etcd.io/etcd/server/v3 " + Default.OldEtcd},
		{"../kwok/go.mod", "sigs.k8s.io/kwok " + Default.Kwok},
	} {
		text, err := os.ReadFile(tt.file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), tt.want+"\n") && !strings.Contains(string(text), tt.want+" ") {
			t.Errorf("%s does not require %q", tt.file, tt.want)
		}
	}
}
