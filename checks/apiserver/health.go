package apiserver

import (
	"fmt"
	"iter"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// healthSince is the minor version that brought /livez and /readyz.
const healthSince = 16

// eachHealth is checks.Each, but says of an API server that is too old to have
// the endpoint that there is nothing to know.
func eachHealth(p *checks.Pass, f *collectors.Fact[apiserver.Health]) iter.Seq2[collectors.Target, apiserver.Health] {
	return func(yield func(collectors.Target, apiserver.Health) bool) {
		answers, gap := checks.All(p, f)
		v, vGap := checks.One(p, cluster.Version)
		if gap != nil || vGap != nil || v.Minor >= healthSince {
			checks.Each(p, f)(yield)
			return
		}
		for _, a := range answers {
			if a.Gap != nil && a.Gap.Reason == collectors.Absent {
				p.Nothing(a.Target, "API servers of 1.%d have no such endpoint; it came with 1.%d", v.Minor, healthSince)
			} else if a.Gap != nil {
				p.Unknown(a.Target, a.Gap)
			} else if !yield(a.Target, a.Value) {
				return
			}
		}
	}
}

func passing(h apiserver.Health) string {
	if len(h.Passed) == 0 {
		return "it answers ok"
	}
	return fmt.Sprintf("all %s pass", checks.Count(len(h.Passed), "check"))
}

func failed(h apiserver.Health) string {
	if len(h.Failed) == 0 {
		return "it does not say which check fails"
	}
	return fmt.Sprintf("%s %s (%d of %s)", checks.List(h.Failed, 3), verb(len(h.Failed), "fails", "fail"), len(h.Failed), checks.Count(len(h.Passed)+len(h.Failed), "check"))
}
