package etcd

import (
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// UpkeepPrefix is where ktriage keeps in etcd what its cures must know of each
// other, without a Kubernetes API: names of keys only, as ktriage reads no values.
const UpkeepPrefix = "/ktriage/"

// The keys below UpkeepPrefix.
const (
	HaltKey         = UpkeepPrefix + "halt"          // its presence stops every cure
	LockKey         = UpkeepPrefix + "lock"          // bound to an etcd lease
	defragmentedKey = UpkeepPrefix + "defragmented/" // member's ID / seconds since 1970
)

// DefragmentedPrefix is where it is kept when a member was defragmented.
func DefragmentedPrefix(member uint64) string {
	return defragmentedKey + strconv.FormatUint(member, 16) + "/"
}

// DefragmentedKey is the key that says when a member was defragmented.
func DefragmentedKey(member uint64, at time.Time) string {
	return DefragmentedPrefix(member) + strconv.FormatInt(at.Unix(), 10)
}

// An Upkeep is what earlier cures left in etcd.
type Upkeep struct {
	Defragmented map[uint64]time.Time // by member's ID; the last time that ktriage did it
	Halted       bool                 // an operator forbids cures
}

// UpkeepKeys is what earlier cures left in etcd.
var UpkeepKeys = &collectors.Fact[Upkeep]{
	ID:      "etcd.upkeep",
	Doc:     "when ktriage last defragmented each member, and whether an operator forbids cures, by the keys below " + UpkeepPrefix,
	Needs:   []collectors.Any{Members},
	Targets: collectors.Single(Cluster),
	Ask: func(s *collectors.Snapshot, _ collectors.Target) []collectors.Request {
		return askAny(s, "/kv/range?key="+UpkeepPrefix+"&prefix=true&limit=1000")
	},
	Read: readUpkeep,
}

func readUpkeep(rs []collectors.Answered) (Upkeep, error) {
	if len(rs) == 0 {
		return Upkeep{}, collectors.Gapf(collectors.NotAsked, "no member is known to ask")
	}
	v, err := readJSON[struct {
		Header header `json:"header"`
		KVs    []struct {
			Key []byte `json:"key"`
		} `json:"kvs"`
	}](rs)
	if err != nil {
		return Upkeep{}, err
	}
	if v.Header.MemberID == 0 {
		return Upkeep{}, collectors.Gapf(collectors.Malformed, "%s: the reply is not that of a member", rs[0].From)
	}
	u := Upkeep{Defragmented: map[uint64]time.Time{}}
	for _, kv := range v.KVs {
		key := string(kv.Key)
		if key == HaltKey {
			u.Halted = true
		}
		rest, ok := strings.CutPrefix(key, defragmentedKey)
		if !ok {
			continue
		}
		id, at, _ := strings.Cut(rest, "/")
		member, err1 := strconv.ParseUint(id, 16, 64)
		unix, err2 := strconv.ParseInt(at, 10, 64)
		if err1 != nil || err2 != nil {
			continue // not ours
		}
		if t := time.Unix(unix, 0); t.After(u.Defragmented[member]) {
			u.Defragmented[member] = t
		}
	}
	return u, nil
}
