// Package build makes the control plane's programs from their Go modules and
// keeps them in a cache folder keyed by version.
package build

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// target is one program: the package it is built from and the module (a folder
// below lab/) whose go.mod pins that package.
type target struct {
	out     string
	pkg     string
	module  string
	ldflags string
}

// Ensure builds what is missing of v, one of Sets, and returns where all of it is. lab is the
// folder of the lab module: it holds the go.mod files that pin the versions.
// The first build takes some minutes, later ones nothing.
func Ensure(ctx context.Context, lab string, v Versions, progress io.Writer) (Binaries, error) {
	cache, err := CacheDir()
	if err != nil {
		return Binaries{}, err
	}
	bins := Paths(cache, v)
	for _, t := range targets(bins, v) {
		if _, err := os.Stat(t.out); err == nil {
			continue
		}
		start := time.Now()
		fmt.Fprintf(progress, "building %s\n", filepath.Base(t.out))
		if err := t.build(ctx, lab, progress); err != nil {
			return bins, fmt.Errorf("build %s: %w", filepath.Base(t.out), err)
		}
		fmt.Fprintf(progress, "built %s in %s\n", filepath.Base(t.out), time.Since(start).Round(time.Second))
	}
	return bins, nil
}

func targets(b Binaries, v Versions) []target {
	const strip = "-s -w"
	kubernetes := strip + stampKubernetes(v.Kubernetes)
	return []target{
		{b.Etcd, "go.etcd.io/etcd/server/v3", etcdModule(v.Etcd), strip},
		{b.Etcdctl, "go.etcd.io/etcd/etcdctl/v3", etcdModule(v.Etcd), strip},
		{b.APIServer, "k8s.io/kubernetes/cmd/kube-apiserver", kubernetesModule(v.Kubernetes), kubernetes},
		{b.ControllerManager, "k8s.io/kubernetes/cmd/kube-controller-manager", kubernetesModule(v.Kubernetes), kubernetes},
		{b.Scheduler, "k8s.io/kubernetes/cmd/kube-scheduler", kubernetesModule(v.Kubernetes), kubernetes},
		{b.Kwok, "sigs.k8s.io/kwok/cmd/kwok", "kwok", strip},
		{b.OldEtcd, "go.etcd.io/etcd/server/v3", etcdModule(v.OldEtcd), strip},
	}
}

// kubernetesModule is the folder of the module that requires that version. The
// lab's own is the default's; a module can require one version only.
func kubernetesModule(version string) string {
	if version == Default.Kubernetes {
		return "."
	}
	return "kubernetes-" + minor(version)
}

// etcdModule is kubernetesModule for etcd.
func etcdModule(version string) string {
	if version == Default.Etcd {
		return "."
	}
	return "etcd-" + minor(version)
}

// stampKubernetes sets the version a Kubernetes program reports. Built from a
// module without it, each calls itself v0.0.0-master.
func stampKubernetes(version string) string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	var flags strings.Builder
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		fmt.Fprintf(&flags, " -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s -X %[1]s.gitTreeState=clean",
			pkg, version, major, minor)
	}
	return flags.String()
}

// build compiles into a temporary name first: a build that was interrupted
// leaves no half of a program that a later run would take for a whole one.
func (t target) build(ctx context.Context, lab string, progress io.Writer) error {
	if err := os.MkdirAll(filepath.Dir(t.out), 0o755); err != nil {
		return err
	}
	partial := t.out + ".partial"
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", t.ldflags, "-o", partial, t.pkg)
	cmd.Dir = filepath.Join(lab, t.module)
	cmd.Stdout, cmd.Stderr = progress, progress
	if err := cmd.Run(); err != nil {
		return err
	}
	return os.Rename(partial, t.out)
}
