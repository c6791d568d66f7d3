package logs

import (
	"encoding/json"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// Seen is what the logs that the run was given say. A run that was given none
// has nothing to judge by them.
var Seen = &collectors.Fact[Tally]{
	ID:      "logs.seen",
	Doc:     "how often each log has lines that tell of trouble, when, and one of them",
	Targets: collectors.Single(cluster.Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: "log:/signatures"}}
	},
	Partial: true,
	Read: func(rs []collectors.Answered) (t Tally, err error) {
		if rs[0].Gap != nil {
			return t, collectors.Gapf(collectors.OutOfScope, "no logs were given")
		}
		err = json.Unmarshal(rs[0].Body, &t)
		return t, err
	},
}
