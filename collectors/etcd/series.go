package etcd

import (
	"fmt"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// A Series is how long a member took for each of several reads of one key.
type Series struct {
	Linearizable []time.Duration // with the word of the leader, and so of a majority
	Serializable []time.Duration // from its own copy
	Failed       int
	Gap          *collectors.Gap // of the first that failed
}

// ReadSeries makes a fact of so many reads of each kind from each member. They
// are few at a time and bounded in rate, as all requests are.
func ReadSeries(n int) *collectors.Fact[Series] {
	return &collectors.Fact[Series]{
		ID: "etcd.read-series", Doc: "how long each member takes for each of several reads, with and without asking the leader",
		Needs: []collectors.Any{Members}, Targets: MemberTargets,
		Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
			var out []collectors.Request
			for i := range n {
				u := fmt.Sprintf("%s/kv/range?key=health&nth=%d", clientAddr(s, t), i+1)
				out = append(out, collectors.Request{Verb: collectors.Call, URL: u}, collectors.Request{Verb: collectors.Call, URL: u + "&serializable=true"})
			}
			return out
		},
		Partial: true,
		Read: func(rs []collectors.Answered) (Series, error) {
			var s Series
			for i, r := range rs {
				switch {
				case r.Gap != nil:
					s.Failed++
					if s.Gap == nil {
						s.Gap = r.Gap
					}
				case i%2 == 0:
					s.Linearizable = append(s.Linearizable, r.Elapsed)
				default:
					s.Serializable = append(s.Serializable, r.Elapsed)
				}
			}
			if s.Failed == len(rs) && s.Gap != nil {
				return s, s.Gap
			}
			return s, nil
		},
	}
}
