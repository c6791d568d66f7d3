package leases

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
)

//go:embed clock_skew.md
var clockSkewDoc string

// ClockSkew looks for leases that were renewed in the future, or by a clock that is
// behind.
var ClockSkew = &checks.Check{
	ID:        "lease-clock-skew",
	Component: collectors.Leases,
	Title:     "no lease is renewed by a clock that is off the API server's",
	Doc:       clockSkewDoc,
	Needs:     []collectors.Any{leases.Leases},
	Remedies: []checks.Remedy{
		{Title: "on the holder's node and on those of the API servers, see whether the clock is in step", Command: "chronyc tracking || timedatectl timesync-status", Risk: checks.ReadOnly},
	},
	Run: clockSkew,
}

const (
	// resolution is that of the API server's clock as a reply tells it.
	resolution = time.Second
	// aheadWarn is experience, so it ends at a warning: candidates watch how
	// long a lease has not changed, by their own clocks, and are not misled.
	aheadWarn = time.Second
)

func clockSkew(p *checks.Pass) {
	h, gap := checks.One(p, leases.Leases)
	if gap != nil {
		p.Unknown(leases.All, gap)
		return
	}
	dated, ahead := 0, 0
	for _, l := range h.Leases {
		if l.Renewed.IsZero() || l.Holder == "" {
			continue
		}
		dated++
		if l.Behind > 0 {
			ahead++
			v := p.Warn(l.Target(), "%s renews it with a clock that is at least %s behind the API server's", l.Host(), checks.Span(l.Behind)).
				Saw(leases.Leases, "behind", checks.Span(l.Behind), checks.Seconds(aheadWarn.Seconds()), changeSource).
				Number("behind", l.Behind.Seconds())
			if l.Core() {
				v.Mark("component=" + l.Name)
			}
			continue
		}
		by := -l.Age(h.At) - resolution
		if by <= aheadWarn {
			continue
		}
		ahead++
		v := p.Warn(l.Target(), "%s renewed it %s ahead of the API server's clock", l.Host(), checks.Seconds(by.Seconds())).
			Saw(leases.Leases, "ahead", checks.Seconds(by.Seconds()), checks.Seconds(aheadWarn.Seconds()), changeSource).
			Number("ahead", by.Seconds())
		if l.Core() {
			v.Mark("component=" + l.Name)
		}
	}
	switch {
	case dated == 0:
		p.Nothing(leases.All, "nobody renews a lease in this cluster")
	case ahead == 0:
		p.OK(leases.All, "of %s none was renewed by a clock that is off the API server's", checks.Count(dated, "lease"))
	}
}
