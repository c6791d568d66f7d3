package cluster

import (
	"encoding/json"

	"github.com/ktriage/ktriage/collectors"
)

// UID is what tells this cluster from every other, whatever it is called and
// wherever its API server is: the UID of its namespace kube-system.
var UID = &collectors.Fact[string]{
	ID:      "cluster.uid",
	Doc:     "the UID of the namespace kube-system, by which a cluster is told from every other",
	Targets: collectors.Single(Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: "kube:/api/v1/namespaces/kube-system"}}
	},
	Read: func(rs []collectors.Answered) (string, error) {
		var o struct {
			Metadata struct {
				UID string `json:"uid"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(rs[0].Body, &o); err != nil || o.Metadata.UID == "" {
			return "", collectors.Gapf(collectors.Malformed, "%s: the reply is no namespace", rs[0].From)
		}
		return o.Metadata.UID, nil
	},
}
