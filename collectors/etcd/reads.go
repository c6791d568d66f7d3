package etcd

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// Reads is how long a member took to read one key, which need not exist. A gap
// stands for a read that it did not do.
type Reads struct {
	// Linearizable reads want the word of the leader, and so a majority.
	Linearizable    time.Duration
	LinearizableGap *collectors.Gap
	// Serializable reads come from the member's own copy. One that hangs while
	// the member tells its status means that its database is locked, as by a
	// defragmentation, or its disk hangs.
	Serializable    time.Duration
	SerializableGap *collectors.Gap
}

// TimedReads reads one key from each member, in both ways.
var TimedReads = &collectors.Fact[Reads]{
	ID:      "etcd.reads",
	Doc:     "how long each member takes for a read, with and without asking the leader",
	Needs:   []collectors.Any{Members},
	Targets: MemberTargets,
	Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
		u := clientAddr(s, t) + "/kv/range?key=health"
		return []collectors.Request{
			{Verb: collectors.Call, URL: u},
			{Verb: collectors.Call, URL: u + "&serializable=true"},
		}
	},
	Partial: true,
	Read: func(rs []collectors.Answered) (Reads, error) {
		r := Reads{LinearizableGap: rs[0].Gap, SerializableGap: rs[1].Gap}
		if rs[0].Gap == nil {
			r.Linearizable = rs[0].Elapsed
		}
		if rs[1].Gap == nil {
			r.Serializable = rs[1].Elapsed
		}
		return r, nil
	},
}
