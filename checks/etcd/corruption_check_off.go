package etcd

import (
	_ "embed"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed corruption_check_off.md
var corruptionCheckOffDoc string

// CorruptionCheckOff looks for members that do not compare their data with the
// others'.
var CorruptionCheckOff = &checks.Check{
	ID:        "etcd-corruption-check-off",
	Component: collectors.Etcd,
	Title:     "etcd members compare their data with each other",
	Doc:       corruptionCheckOffDoc,
	Needs:     []collectors.Any{etcd.CommandLines, etcd.Members},
	Remedies: []checks.Remedy{
		{Title: "switch the checks on in each static pod's manifest, one node at a time (3.5: --experimental-initial-corrupt-check and --experimental-compact-hash-check-enabled)", Command: "vi /etc/kubernetes/manifests/etcd.yaml # --feature-gates=InitialCorruptCheck=true,CompactHashCheck=true", Risk: checks.Disruptive},
	},
	Run: corruptionCheckOff,
}

const corruptionSource = "etcd documentation, data corruption: enable both checks"

func corruptionCheckOff(p *checks.Pass) {
	members, gap := checks.One(p, etcd.Members)
	for m, f := range checks.Each(p, etcd.CommandLines) {
		if gap == nil && !members.Loose && len(members.Members) == 1 {
			p.Nothing(m, "there is no other member to compare its data with")
			continue
		}
		start := on(f, "initial-corrupt-check", "InitialCorruptCheck")
		running := on(f, "compact-hash-check-enabled", "CompactHashCheck") || f.Given("corrupt-check-time") != "" && f.Given("corrupt-check-time") != "0s"
		s, words := checks.Info, "compares its data with the others' neither at its start nor while it runs"
		switch {
		case start && running:
			s, words = checks.OK, "compares its data with the others' at its start and while it runs"
		case start:
			words = "compares its data with the others' at its start only"
		case running:
			words = "compares its data with the others' while it runs, and not at its start"
		}
		p.Judge(m, s, "%s", words).Saw(etcd.CommandLines, "checks", state(start)+" at its start, "+state(running)+" while running", "on", corruptionSource)
	}
}

// on reports whether a check is switched on, by its flag or its gate.
func on(f etcd.Flags, flag, gate string) bool {
	return f.Given(flag) == "true" || strings.Contains(f["feature-gates"], gate+"=true")
}

func state(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
