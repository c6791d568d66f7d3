package topology

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

//go:embed flag_drift.md
var flagDriftDoc string

// FlagDrift compares flags and images of each component between nodes.
var FlagDrift = &checks.Check{
	ID:        "ha-flag-drift",
	Component: collectors.Topology,
	Title:     "the control plane's nodes run the same, told the same",
	Doc:       flagDriftDoc,
	Needs:     []collectors.Any{cluster.Instances},
	Remedies: []checks.Remedy{
		{Title: "compare the manifests of the nodes", Command: "ssh NODE cat /etc/kubernetes/manifests/{name}.yaml | diff /etc/kubernetes/manifests/{name}.yaml -", Risk: checks.ReadOnly},
		{Title: "with kubeadm, write them anew from the cluster's configuration, node by node", Command: "kubeadm init phase control-plane all --config kubeadm.yaml", Risk: checks.Disruptive},
	},
	Run: flagDrift,
}

// weighty are flags by which instances answer differently: who is let in, what
// is read and written. Others are tuning.
var weighty = []string{
	"encryption-provider-config", "service-account-issuer", "service-account-key-file", "service-account-signing-key-file",
	"enable-admission-plugins", "disable-admission-plugins", "authorization-mode", "authorization-config", "authentication-config", "feature-gates", "runtime-config",
	"client-ca-file", "requestheader-client-ca-file", "oidc-issuer-url", "etcd-prefix", "service-cluster-ip-range", "cluster-cidr", "cluster-signing-cert-file",
}

// own flags are each instance's.
var ownFlags = []string{"name", "hostname-override", "advertise-address", "initial-cluster", "initial-cluster-state", "etcd-servers", "bind-address", "listen-peer-urls", "listen-client-urls", "listen-metrics-urls", "advertise-client-urls", "initial-advertise-peer-urls", "node-name", "initial-cluster-token", "force-new-cluster"}

func flagDrift(p *checks.Pass) {
	by, ok := pods(p, target("flags"))
	if !ok {
		return
	}
	for _, r := range slices.Sorted(maps.Keys(by)) {
		is, t := by[r], target(string(r))
		if len(is) < 2 {
			p.Nothing(t, "there is one %s", r)
			continue
		}
		differ := drift(is)
		heavy := slices.DeleteFunc(slices.Clone(differ), func(f string) bool { return !slices.Contains(weighty, f) })
		images := map[string]bool{}
		for _, i := range is {
			images[i.Image] = true
		}
		var v *checks.Verdict
		switch {
		case len(heavy) > 0:
			v = p.Warn(t, "%s differ in --%s: they answer the same question differently", checks.Count(len(is), "instance"), strings.Join(heavy, ", --"))
		case len(differ) > 0:
			v = p.Info(t, "%s differ in --%s", checks.Count(len(is), "instance"), strings.Join(differ, ", --"))
		case len(images) > 1:
			v = p.Info(t, "%s run %s: an update is under way, or was not finished", checks.Count(len(is), "instance"), checks.List(slices.Sorted(maps.Keys(images)), 3))
		default:
			v = p.OK(t, "%s with the same image and flags", checks.Count(len(is), "instance"))
		}
		for _, f := range heavy {
			v.Mark("flag=" + f)
		}
		for _, f := range differ {
			for _, i := range is {
				v.Saw(cluster.Instances, i.Name()+" --"+f, i.Flag(f, "not set"), "", "")
			}
		}
	}
}

// drift lists the flags in which instances differ, where what is each one's own
// is left out: its names and addresses.
func drift(is []cluster.Instance) []string {
	names := map[string]bool{}
	for _, i := range is {
		for f := range i.Flags {
			names[f] = true
		}
	}
	var out []string
	for _, f := range slices.Sorted(maps.Keys(names)) {
		if slices.Contains(ownFlags, f) {
			continue
		}
		values := map[string]bool{}
		for _, i := range is {
			values[common(i, f)] = true
		}
		if len(values) > 1 {
			out = append(out, f)
		}
	}
	return out
}

func common(i cluster.Instance, flag string) string {
	v, set := i.Flags[flag]
	if !set {
		return "\x00"
	}
	for _, own := range []string{i.HostIP, i.Node, i.Pod} {
		if own != "" {
			v = strings.ReplaceAll(v, own, "…")
		}
	}
	if flag == "feature-gates" || strings.HasSuffix(flag, "-plugins") { // their order says nothing
		words := strings.Split(v, ",")
		slices.Sort(words)
		v = fmt.Sprint(words)
	}
	return v
}
