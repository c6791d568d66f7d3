package etcd

import (
	"net/url"

	"github.com/ktriage/ktriage/collectors"
)

// AskCount lists the request that counts the keys with a prefix, by a member's
// own copy.
func AskCount(s *collectors.Snapshot, t collectors.Target, prefix string) []collectors.Request {
	q := url.Values{"key": {prefix}, "prefix": {"true"}, "count_only": {"true"}}
	return []collectors.Request{{Verb: collectors.Call, URL: clientAddr(s, t) + "/kv/range?" + q.Encode()}}
}

// ReadCount reads the answer to AskCount.
func ReadCount(rs []collectors.Answered) (int64, error) {
	v, err := readJSON[struct {
		Header header   `json:"header"`
		Count  number64 `json:"count"`
	}](rs)
	if err == nil && v.Header.MemberID == 0 {
		err = collectors.Gapf(collectors.Malformed, "%s: the reply is not a count of keys", rs[0].From)
	}
	return v.Count.signed(), err
}
