package vitals

import (
	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
)

// leasesGroup tells who holds the leases of the control plane, and how long ago
// each was renewed.
var leasesGroup = Group{
	Component: collectors.Leases,
	Needs:     []collectors.Any{leases.Leases},
	Read:      readLeases,
}

func readLeases(s *collectors.Snapshot, add func(Vital)) {
	h, gap := leases.Leases.One(s)
	if gap != nil {
		return
	}
	for _, l := range h.Leases {
		if !l.Core() || l.Renewed.IsZero() {
			continue
		}
		holder := l.Host()
		if holder == "" {
			holder = "nobody"
		}
		add(Vital{Target: l.Target(), Name: "renewed ago", Value: max(0, l.Age(h.At).Seconds()), Unit: "s", Basis: checks.AtInstant, Text: holder})
	}
}
