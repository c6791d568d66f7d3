package host

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed net_errs.md
var netErrsDoc string

// NetErrs looks whether the network interfaces make no errors.
var NetErrs = &checks.Check{
	ID:        "host-net-errs",
	Component: collectors.Host,
	Title:     "the network interfaces make no errors",
	Doc:       netErrsDoc,
	Needs:     []collectors.Any{host.Nodes, host.Loads},
	Remedies: []checks.Remedy{
		{Title: "see which errors", Command: `ip -s -s link`, Risk: checks.ReadOnly},
	},
	Run: netErrs,
}

// Source: node_exporter's mixin, NodeNetworkReceiveErrs and TransmitErrs.
const (
	errsWarn   = 0.01
	fewPackets = 100
)

func netErrs(p *checks.Pass) {
	loads(p, "links", func(t collectors.Target, s host.Span) {
		if s.First == nil {
			p.Unknown(t, collectors.Gapf(collectors.NotAsked, "there was one look only: no rate is known"))
			return
		}
		bad := false
		total := uint64(0)
		for name, now := range s.Last.Links {
			then, ok := s.First.Links[name]
			if !ok || now.Packets < then.Packets || now.Errors < then.Errors {
				continue
			}
			packets, errs := now.Packets-then.Packets, now.Errors-then.Errors
			total += packets
			if packets+errs < fewPackets || float64(errs) <= errsWarn*float64(packets+errs) {
				continue
			}
			bad = true
			p.Warn(collectors.Target{Component: collectors.Host, Name: name, Node: t.Node}, "%d of %d packets of %s had errors in %s", errs, packets+errs, name, checks.Seconds(s.Seconds())).
				Saw(host.Loads, "errors", checks.Percent(float64(errs)/float64(packets+errs)), checks.Percent(errsWarn), "node-mixin NodeNetworkReceiveErrs")
		}
		if !bad {
			p.OK(t, "no interface of %d had errors in more than 1%% of its packets (%d in %s)", len(s.Last.Links), total, checks.Seconds(s.Seconds())).Saw(host.Loads, "errors", "", checks.Percent(errsWarn), "node-mixin NodeNetworkReceiveErrs")
		}
	})
}
