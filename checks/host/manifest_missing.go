package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed manifest_missing.md
var manifestMissingDoc string

// ManifestMissing looks whether the node has a manifest for each part of the control plane.
var ManifestMissing = &checks.Check{
	ID:        "host-manifest-missing",
	Component: collectors.Host,
	Title:     "the node has a manifest for each part of the control plane",
	Doc:       manifestMissingDoc,
	Needs:     []collectors.Any{host.Nodes},
	Remedies: []checks.Remedy{
		{Title: "see what is there", Command: `ls -la /etc/kubernetes/manifests`, Risk: checks.ReadOnly},
		{Title: "see whether an upgrade of kubeadm kept it", Command: `ls -l /etc/kubernetes/tmp/kubeadm-backup-manifests-*/{name}.yaml`, Risk: checks.ReadOnly},
		{Title: "else make this one anew, with the settings of the cluster", Command: `kubeadm init phase control-plane apiserver|controller-manager|scheduler --config KUBEADM.yaml`, Risk: checks.Disruptive},
	},
	Run: manifestMissing,
}

func manifestMissing(p *checks.Pass) {
	n, ok := controlPlane(p)
	if !ok {
		return
	}
	if g := missedOf(n, "manifest"); g != nil {
		p.Unknown(self(p), g)
		return
	}
	if len(n.Manifests) == 0 {
		p.Nothing(self(p), "there are no manifests in %s: what runs here is started otherwise", n.Folder)
		return
	}
	for _, r := range host.Components {
		t := roleTarget(p, r)
		m, there := n.Manifest(r)
		switch {
		case there:
			p.OK(t, "it is in %s", m.Path).Saw(host.Nodes, "manifest", m.Path, "", "")
		case r == host.Etcd && !n.UsesLocalEtcd():
			p.Nothing(t, "the API server asks an etcd elsewhere")
		case len(n.Of(r)) > 0:
			p.Warn(t, "%s runs, and there is no manifest of it in %s: it will not be started again", r, n.Folder).Saw(host.Nodes, "manifest", "", "", "")
		case r == host.Etcd || r == host.APIServer:
			p.Critical(t, "there is no manifest of %s in %s", r, n.Folder).Saw(host.Nodes, "manifest", "", "", "").Mark("role=" + string(r))
		default:
			p.Warn(t, "there is no manifest of %s in %s", r, n.Folder).Saw(host.Nodes, "manifest", "", "", "").Mark("role=" + string(r))
		}
	}
}
