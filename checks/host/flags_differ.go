package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed flags_differ.md
var flagsDifferDoc string

// FlagsDiffer looks whether what runs is what its manifest says.
var FlagsDiffer = &checks.Check{
	ID:        "host-flags-differ",
	Component: collectors.Host,
	Title:     "what runs is what its manifest says",
	Doc:       flagsDifferDoc,
	Needs:     []collectors.Any{host.Nodes},
	Remedies: []checks.Remedy{
		{Title: "compare", Command: `tr "\0" "\n" < /proc/$(pgrep -xo {name})/cmdline`, Risk: checks.ReadOnly},
	},
	Run: flagsDiffer,
}

func flagsDiffer(p *checks.Pass) {
	n, ok := controlPlane(p)
	if !ok {
		return
	}
	any := false
	for _, r := range host.Components {
		m, planned := n.Manifest(r)
		ps := n.Of(r)
		if !planned || m.Broken != "" || len(ps) == 0 || len(m.Args) == 0 {
			continue
		}
		any = true
		diff := differ(m.Args, ps[0].Args)
		if len(diff) == 0 {
			p.OK(roleTarget(p, r), "its command line is its manifest's").Saw(host.Nodes, "flags", "", "", "")
			continue
		}
		p.Warn(roleTarget(p, r), "it runs with other flags than %s says: %s", m.Path, checks.List(diff, 3)).Saw(host.Nodes, "flags", checks.List(diff, 6), "", "")
	}
	if !any {
		p.Nothing(self(p), "nothing runs of which there is a manifest")
	}
}
