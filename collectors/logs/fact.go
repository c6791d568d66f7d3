package logs

import (
	"encoding/json"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// given is what the logs among loose evidence say.
var given = &collectors.Fact[Tally]{
	ID:      "logs.given",
	Doc:     "what the logs say that the run was given as files",
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

// Seen is what the logs say that the run was given, or that it read of the
// control plane's pods because it was told to. A run without has nothing to
// judge by them.
var Seen = &collectors.Fact[Tally]{
	ID:      "logs.seen",
	Doc:     "how often each log has lines that tell of trouble, when, and one of them",
	Needs:   []collectors.Any{given, wants, ofPods},
	Targets: collectors.Single(cluster.Self),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) (Tally, error) {
		t, none := given.One(s)
		if _, gap := wants.One(s); gap != nil {
			if none != nil {
				return t, none
			}
			return t, nil
		}
		as, gap := ofPods.Answers(s)
		if gap != nil && none != nil {
			return t, gap
		}
		for _, a := range as {
			switch {
			case a.Gap == nil:
				a.Value.Of = a.Target.Name
				t.Logs = append(t.Logs, a.Value)
			case !strings.HasSuffix(a.Target.Name, before): // those of before are gone when the node says so
				t.Missed = append(t.Missed, Missed{a.Target.Name, roleOf(a.Target), a.Gap})
			}
		}
		return t, nil
	},
}
