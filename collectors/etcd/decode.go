package etcd

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// A number64 is a 64-bit number of a reply. etcd's own JSON writes a number,
// its gRPC gateway a string, as JSON numbers lose the low digits of an ID in
// many readers.
type number64 uint64

// UnmarshalJSON reads a number, or a string that holds one. A negative one
// keeps its two's complement, for signed.
func (n *number64) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if s == "null" {
		return nil
	}
	if strings.HasPrefix(s, "-") {
		v, err := strconv.ParseInt(s, 10, 64)
		*n = number64(v)
		return err
	}
	v, err := strconv.ParseUint(s, 10, 64)
	*n = number64(v)
	return err
}

func (n number64) signed() int64 { return int64(n) }

// A header comes with every reply of etcd.
type header struct {
	ClusterID number64 `json:"cluster_id"`
	MemberID  number64 `json:"member_id"`
	Revision  number64 `json:"revision"`
	RaftTerm  number64 `json:"raft_term"`
}

// readJSON decodes the first reply.
func readJSON[T any](rs []collectors.Answered) (v T, err error) {
	if err := json.Unmarshal(rs[0].Body, &v); err != nil {
		return v, fmt.Errorf("%s: %w", rs[0].From, err)
	}
	return v, nil
}
