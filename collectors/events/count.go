package events

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// Count is how many Events there are. No rule asks for all of them; a recording
// that is to be read elsewhere does, so that they are in it.
var Count = &collectors.Fact[int]{
	ID:      "events.count",
	Doc:     "how many Events there are",
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.List, URL: "kube:/api/v1/events"}}
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[int] {
		n := 0
		return collectors.Folder[int]{
			Add:  func(int, objects.Object) { n++ },
			Done: func([]collectors.Answered) (int, error) { return n, nil },
		}
	},
}
