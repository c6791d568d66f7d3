package etcd

import (
	"strconv"

	"github.com/ktriage/ktriage/collectors"
)

// CompactorKey is the key by which API servers agree who compacts. Whose turn
// it is writes the revision that it then compacts to: the last one at its turn
// before, one --etcd-compaction-interval ago.
// Source: k8s.io/apiserver, pkg/storage/etcd3/compact.go.
const CompactorKey = "compact_rev_key"

// A Compactor is what the API servers' own compaction left in etcd.
type Compactor struct {
	Written int64 // the revision at which the key was written; 0 if there is none
	Target  int64 // the revision that was to be compacted to; 0 of the first turn
	Turns   int64 // how often it was written
}

// CompactorTurn is the last turn of the API servers' own compaction.
var CompactorTurn = &collectors.Fact[Compactor]{
	ID:      "etcd.compactor",
	Doc:     "the last turn of the API servers' own compaction: the revision at which it took place, and up to which history went",
	Needs:   []collectors.Any{Members},
	Targets: collectors.Single(Cluster),
	Ask: func(s *collectors.Snapshot, _ collectors.Target) []collectors.Request {
		return askAny(s, "/kv/range?key="+CompactorKey)
	},
	Read: readCompactor,
}

// askAny asks one member after the other until one answers.
func askAny(s *collectors.Snapshot, what string) []collectors.Request {
	ts, _ := MemberTargets(s)
	var urls []string
	for _, t := range ts {
		urls = append(urls, clientAddr(s, t)+what)
	}
	if len(urls) == 0 {
		return nil
	}
	return []collectors.Request{{Verb: collectors.Call, URL: urls[0], Or: urls[1:]}}
}

func readCompactor(rs []collectors.Answered) (Compactor, error) {
	if len(rs) == 0 {
		return Compactor{}, collectors.Gapf(collectors.NotAsked, "no member is known to ask")
	}
	v, err := readJSON[struct {
		Header header `json:"header"`
		KVs    []struct {
			Value       []byte   `json:"value"`
			ModRevision number64 `json:"mod_revision"`
			Version     number64 `json:"version"`
		} `json:"kvs"`
	}](rs)
	switch {
	case err != nil:
		return Compactor{}, err
	case v.Header.MemberID == 0:
		return Compactor{}, collectors.Gapf(collectors.Malformed, "%s: the reply is not that of a member", rs[0].From)
	case len(v.KVs) == 0:
		return Compactor{}, nil
	}
	kv := v.KVs[0]
	c := Compactor{Written: kv.ModRevision.signed(), Turns: kv.Version.signed()}
	if c.Target, err = strconv.ParseInt(string(kv.Value), 10, 64); err != nil || c.Target < 0 || c.Written <= 0 || c.Target >= c.Written {
		return Compactor{}, collectors.Gapf(collectors.Malformed, "%s: %s does not hold a revision from before it was written", rs[0].From, CompactorKey)
	}
	return c, nil
}
