package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestParseFlags(t *testing.T) {
	for _, tc := range []struct {
		name    string
		command []string
		want    map[string]string
	}{
		{"kubeadm", []string{"etcd", "--name=cp-1", "--data-dir=/var/lib/etcd", "--client-cert-auth"}, map[string]string{"name": "cp-1", "data-dir": "/var/lib/etcd", "client-cert-auth": "true"}},
		{"two words", []string{"etcd", "--name", "cp-1", "--a", "--b", "c"}, map[string]string{"name": "cp-1", "a": "true", "b": "c"}},
		{"a script, as OpenShift's", []string{"/bin/bash", "-ec", "exec etcd \\\n  --name=\"cp-1\" \\\n  --listen-metrics-urls=https://0.0.0.0:9978 \\\n"}, map[string]string{"name": "cp-1", "listen-metrics-urls": "https://0.0.0.0:9978"}},
		{"a list given in parts", []string{"kcm", "--controllers=*", "--controllers=-ttl", "--v=2", "--v=4"}, map[string]string{"controllers": "*,-ttl", "v": "4"}},
		{"nothing", nil, map[string]string{}},
		{"dashes", []string{"--", "--=x"}, map[string]string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := parseFlags(tc.command)
			delete(got, "")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestIdentify(t *testing.T) {
	cp := []string{"cp-1"}
	for _, tc := range []struct {
		git   string
		nodes Nodes
		want  Identity
	}{
		{"v1.33.1-eks-1de2ab1", Nodes{Count: 3}, Identity{Distribution: EKS}},
		{"v1.33.1-gke.1234", Nodes{Count: 3}, Identity{Distribution: GKE}},
		{"v1.33.1", Nodes{Count: 3, Provider: "azure"}, Identity{Distribution: AKS}},
		{"v1.33.1", Nodes{Count: 3, Provider: "azure", ControlPlane: cp}, Identity{Distribution: Kubeadm}}, // kubeadm on Azure
		{"v1.33.1+k3s1", Nodes{Count: 1}, Identity{Distribution: K3s, Embedded: true, SQL: true}},
		{"v1.33.1+k3s1", Nodes{Count: 3, EtcdRole: true}, Identity{Distribution: K3s, Embedded: true}},
		{"v1.33.1+k3s1", Nodes{}, Identity{Distribution: K3s, Embedded: true}}, // nodes could not be listed: SQL is not claimed
		{"v1.33.1+rke2r1", Nodes{Count: 3, EtcdRole: true}, Identity{Distribution: RKE2}},
		{"v1.33.1", Nodes{Count: 3, OSImage: "Talos (v1.9.0)", ControlPlane: cp}, Identity{Distribution: Talos}},
		{"v1.33.1", Nodes{Count: 1, Provider: "kind", ControlPlane: cp}, Identity{Distribution: Kind}},
		{"v1.33.1", Nodes{}, Identity{Distribution: Other}},
	} {
		v, err := ParseRelease(tc.git)
		if err != nil {
			t.Fatal(err)
		}
		if got := identify(v, tc.nodes); got != tc.want {
			t.Errorf("identify(%s, %+v) = %+v, want %+v", tc.git, tc.nodes, got, tc.want)
		}
	}
}

func TestParseRelease(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Release
		ok   bool
	}{
		{"v1.37.2", Release{Git: "v1.37.2", Major: 1, Minor: 37, Patch: 2}, true},
		{"v1.14.8+k3s1", Release{Git: "v1.14.8+k3s1", Major: 1, Minor: 14, Patch: 8}, true},
		{"3.6.8", Release{Git: "3.6.8", Major: 3, Minor: 6, Patch: 8}, true},
		{"v1.30.0-alpha.1", Release{Git: "v1.30.0-alpha.1", Major: 1, Minor: 30}, true},
		{"", Release{}, false}, {"v1", Release{}, false}, {"one.two.three", Release{}, false}, {"<html>", Release{}, false},
	} {
		got, err := ParseRelease(tc.in)
		if (err == nil) != tc.ok || tc.ok && got != tc.want {
			t.Errorf("ParseRelease(%q) = %+v, %v", tc.in, got, err)
		}
	}
}

func TestNewInstance(t *testing.T) {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler-cp-1"},
		Spec:       corev1.PodSpec{NodeName: "cp-1", Containers: []corev1.Container{{Name: "sidecar"}, {Name: "kube-scheduler", Command: []string{"kube-scheduler"}, Args: []string{"--secure-port=10300"}}}},
		Status: corev1.PodStatus{HostIP: "10.0.0.1", Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "kube-scheduler", RestartCount: 3, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}},
		}}},
	}
	got, ok := newInstance(p)
	want := Instance{Role: RoleScheduler, Namespace: "kube-system", Pod: "kube-scheduler-cp-1", Node: "cp-1", HostIP: "10.0.0.1", Flags: map[string]string{"secure-port": "10300"},
		Phase: corev1.PodRunning, Restarts: 3, Waiting: "CrashLoopBackOff", LastExit: "OOMKilled (exit code 137)"}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%v -want +got:\n%s", ok, diff)
	}
	if got.Name() != "cp-1" || got.PodURL("https", "10300") != "pod+https://cp-1@kube-system/kube-scheduler-cp-1:10300" {
		t.Errorf("name %q, URL %q", got.Name(), got.PodURL("https", "10300"))
	}
	if _, ok := newInstance(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx"}}}}); ok {
		t.Error("a workload is taken for a part of the control plane")
	}
}

func FuzzParseRelease(f *testing.F) {
	f.Add("v1.37.2")
	f.Add("v1.33.1+k3s1")
	f.Add("v1.27.3-gke.100")
	f.Fuzz(func(t *testing.T, git string) {
		r, err := ParseRelease(git)
		if r.Git != git || err == nil && min(r.Major, r.Minor, r.Patch) < 0 {
			t.Errorf("%q: %+v, %v", git, r, err)
		}
	})
}
