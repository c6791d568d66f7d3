package host

import (
	_ "embed"
	"path"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed manifest_broken.md
var manifestBrokenDoc string

// ManifestBroken looks whether every manifest of a static pod can be read.
var ManifestBroken = &checks.Check{
	ID:        "host-manifest-broken",
	Component: collectors.Host,
	Title:     "every manifest of a static pod can be read",
	Doc:       manifestBrokenDoc,
	Needs:     []collectors.Any{host.Nodes},
	Remedies: []checks.Remedy{
		{Title: "see what the kubelet says", Command: `journalctl -u kubelet | grep -i manifest | tail`, Risk: checks.ReadOnly},
		{Title: "see what was changed last", Command: `ls -lt --time-style=full-iso /etc/kubernetes/manifests`, Risk: checks.ReadOnly},
	},
	Run: manifestBroken,
}

func manifestBroken(p *checks.Pass) {
	n, ok := controlPlane(p)
	if !ok {
		return
	}
	if g := missedOf(n, "manifest"); g != nil {
		p.Unknown(self(p), g)
	}
	for _, m := range n.Manifests {
		t := collectors.Target{Component: collectors.Host, Name: path.Base(m.Path), Node: n.Name}
		if m.Role != "" {
			t.Name = string(m.Role)
		}
		if m.Broken != "" {
			p.Critical(t, "the kubelet cannot make a pod of %s: %s", m.Path, m.Broken).Saw(host.Nodes, "manifest", m.Broken, "", "").Mark("role=" + string(m.Role))
			continue
		}
		p.OK(t, "%s can be read", m.Path).Saw(host.Nodes, "manifest", m.Path, "", "")
	}
	if len(n.Manifests) == 0 && missedOf(n, "manifest") == nil {
		p.Nothing(self(p), "there are no manifests in %s", n.Folder)
	}
}
