package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed flag_refused.md
var flagRefusedDoc string

// FlagRefused looks whether no part of the control plane refuses its flags.
var FlagRefused = &checks.Check{
	ID:        "host-flag-refused",
	Component: collectors.Host,
	Title:     "no part of the control plane refuses its flags",
	Doc:       flagRefusedDoc,
	Needs:     []collectors.Any{host.Nodes, host.Ends},
	Remedies: []checks.Remedy{
		{Title: "see what was changed", Command: `ls -lt --time-style=full-iso /etc/kubernetes/manifests`, Risk: checks.ReadOnly},
		{Title: "see what it says", Command: `crictl ps -a --name {name} -q | head -1 | xargs crictl logs --tail 5`, Risk: checks.ReadOnly},
	},
	Run: flagRefused,
}

func flagRefused(p *checks.Pass) {
	ended(p, host.BadFlag, "refuses its command line")
}
