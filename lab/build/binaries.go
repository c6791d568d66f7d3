package build

import (
	"fmt"
	"os"
	"path/filepath"
)

// CacheEnv names the folder that keeps built binaries, for those who want it
// somewhere else than the user's cache folder.
const CacheEnv = "KTRIAGE_LAB_CACHE"

// Binaries are the paths of the programs a lab runs.
type Binaries struct {
	Etcd              string
	Etcdctl           string
	APIServer         string
	ControllerManager string
	Scheduler         string
	Kwok              string
	OldEtcd           string
}

// CacheDir is the folder that keeps built binaries. It is never inside the
// checkout: it outlives branches and is too big to be looked at by git.
func CacheDir() (string, error) {
	if dir := os.Getenv(CacheEnv); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache folder (set %s instead): %w", CacheEnv, err)
	}
	return filepath.Join(dir, "ktriage-lab"), nil
}

// Paths says where the binaries of v are kept in cache, built or not.
func Paths(cache string, v Versions) Binaries {
	kubernetes := filepath.Join(cache, "kubernetes-"+v.Kubernetes)
	etcd := filepath.Join(cache, "etcd-"+v.Etcd)
	return Binaries{
		Etcd:              filepath.Join(etcd, "etcd"),
		Etcdctl:           filepath.Join(etcd, "etcdctl"),
		APIServer:         filepath.Join(kubernetes, "kube-apiserver"),
		ControllerManager: filepath.Join(kubernetes, "kube-controller-manager"),
		Scheduler:         filepath.Join(kubernetes, "kube-scheduler"),
		Kwok:              filepath.Join(cache, "kwok-"+v.Kwok, "kwok"),
		OldEtcd:           filepath.Join(cache, "etcd-"+v.OldEtcd, "etcd"),
	}
}

// Missing lists the binaries that are not there yet.
func (b Binaries) Missing() []string {
	var missing []string
	for _, path := range []string{b.Etcd, b.Etcdctl, b.APIServer, b.ControllerManager, b.Scheduler, b.Kwok, b.OldEtcd} {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			missing = append(missing, path)
		}
	}
	return missing
}
