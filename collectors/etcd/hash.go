package etcd

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/ktriage/ktriage/collectors"
)

// A Hash is what a member computed over all that it holds up to a revision.
// Two can be compared only if both revisions are the same: what a compaction
// removed is in neither.
type Hash struct {
	Hash      uint32
	Revision  int64 // up to which it was asked for
	Compacted int64 // the revision that was compacted when it was computed
	At        int64 // the member's own revision then
}

// hashes asks each member for its hash at one revision, the newest that all of
// them have. It reads all that a member holds, so that only who asks for it
// gets it: no fact that every run collects may need it.
var hashes = hashFact("etcd.hashes-once", "a hash of what each member holds, all at one revision", MemberTargets,
	[]collectors.Any{Members, Status}, commonRevision)

// hashesAgain asks once more if the first hashes differ in any way. A
// compaction that had come to some of the members only is then with all.
var hashesAgain = hashFact("etcd.hashes-again", "the same once more, where the first hashes could not be compared or differ",
	func(s *collectors.Snapshot) ([]collectors.Target, error) {
		as, _ := hashes.Answers(s)
		var seen []Hash
		for _, a := range as {
			if a.Gap == nil {
				seen = append(seen, a.Value)
			}
		}
		same := func(h Hash) bool { return h.Hash == seen[0].Hash && h.Compacted == seen[0].Compacted }
		if len(seen) == 0 || !slices.ContainsFunc(seen, func(h Hash) bool { return !same(h) }) {
			return nil, nil
		}
		var out []collectors.Target
		for _, a := range as {
			if a.Gap == nil {
				out = append(out, a.Target)
			}
		}
		return out, nil
	},
	[]collectors.Any{Members, hashes},
	func(s *collectors.Snapshot) int64 {
		rev := int64(0)
		as, _ := hashes.Answers(s)
		for _, a := range as {
			if a.Gap == nil && (rev == 0 || a.Value.At < rev) {
				rev = a.Value.At
			}
		}
		return rev
	})

// Hashes is a hash of what each member holds, at one revision for all.
var Hashes = &collectors.Fact[Hash]{
	ID:      "etcd.hashes",
	Doc:     "a hash of what each member holds, all at one revision",
	Needs:   []collectors.Any{hashes, hashesAgain},
	Targets: MemberTargets,
	Derive: func(s *collectors.Snapshot, t collectors.Target) (Hash, error) {
		first, gap := hashes.Of(s, t)
		if gap != nil {
			return first, gap
		}
		if again, _ := hashesAgain.Answers(s); len(again) == 0 {
			return first, nil
		}
		h, gap := hashesAgain.Of(s, t)
		if gap != nil {
			return h, gap
		}
		return h, nil
	},
}

func hashFact(id, doc string, targets func(*collectors.Snapshot) ([]collectors.Target, error), needs []collectors.Any, at func(*collectors.Snapshot) int64) *collectors.Fact[Hash] {
	return &collectors.Fact[Hash]{
		ID: id, Doc: doc, Needs: needs,
		Targets: targets,
		Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
			return []collectors.Request{{Verb: collectors.Call, URL: fmt.Sprintf("%s/maintenance/hashkv?rev=%d", clientAddr(s, t), at(s))}}
		},
		Read: readHash,
	}
}

// commonRevision is the newest revision that every member has whose status is
// known; 0, which stands for each member's own newest, if there is none.
func commonRevision(s *collectors.Snapshot) int64 {
	rev := int64(0)
	as, _ := Status.Answers(s)
	for _, a := range as {
		if a.Gap == nil && a.Value.Revision > 0 && (rev == 0 || a.Value.Revision < rev) {
			rev = a.Value.Revision
		}
	}
	return rev
}

func readHash(rs []collectors.Answered) (Hash, error) {
	v, err := readJSON[struct {
		Header    header   `json:"header"`
		Hash      number64 `json:"hash"`
		Compacted number64 `json:"compact_revision"`
		Upto      number64 `json:"hash_revision"` // 3.6+
	}](rs)
	if err != nil {
		return Hash{}, err
	}
	if v.Header.MemberID == 0 || v.Header.Revision == 0 {
		return Hash{}, collectors.Gapf(collectors.Malformed, "%s: the reply is not the hash of a member", rs[0].From)
	}
	h := Hash{uint32(v.Hash), v.Upto.signed(), v.Compacted.signed(), v.Header.Revision.signed()}
	if h.Revision == 0 { // before 3.6 it does not say again what it was asked
		h.Revision = askedRevision(rs[0].From)
	}
	return h, nil
}

// askedRevision is what a request's URL asked for; 0 if that is the member's own newest.
func askedRevision(from string) int64 {
	u, err := url.Parse(from)
	if err != nil {
		return 0
	}
	rev, _ := strconv.ParseInt(u.Query().Get("rev"), 10, 64) // 0 is never taken for the same as another
	return rev
}

// Comparable reports whether a difference between two hashes means a
// difference of data.
func (h Hash) Comparable(o Hash) bool {
	return h.Revision != 0 && h.Revision == o.Revision && h.Compacted == o.Compacted
}
