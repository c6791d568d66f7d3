package etcd

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// Health is a member's answer to GET /health: whether it raised no alarm, has
// a leader and could do a linearizable read.
type Health struct {
	OK     bool
	Reason string // "ALARM NOSPACE", "RAFT NO LEADER", "RANGE ERROR:…"; empty if it does not say, as before 3.5
	Took   time.Duration
}

// HealthEndpoint asks those members for their health whose status could not
// be had: it tells much the same, and needs no client certificate where
// metrics do not.
var HealthEndpoint = &collectors.Fact[Health]{
	ID:    "etcd.health",
	Doc:   "the health of each member that did not tell its status, by the endpoint beside its metrics",
	Needs: []collectors.Any{Members, Status},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		all, err := MemberTargets(s)
		if err != nil {
			return nil, err
		}
		var out []collectors.Target
		for _, t := range all {
			if _, gap := Status.Of(s, t); gap != nil {
				out = append(out, t)
			}
		}
		return out, nil
	},
	Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
		var urls []string
		for _, u := range member(s, t).Metrics {
			urls = append(urls, u+"/health")
		}
		if len(urls) == 0 {
			urls = []string{clientAddr(s, t) + "/health"}
		}
		return []collectors.Request{{Verb: collectors.Get, URL: urls[0], Or: urls[1:]}}
	},
	Read: func(rs []collectors.Answered) (Health, error) {
		h, err := parseHealth(rs[0].Body)
		if err != nil {
			return h, fmt.Errorf("%s: %w", rs[0].From, err)
		}
		h.Took = rs[0].Elapsed
		return h, nil
	},
}

func parseHealth(body []byte) (Health, error) {
	var v struct {
		Health any    `json:"health"` // "true", and true before 3.3
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return Health{}, fmt.Errorf("not the health of an etcd member: %w", err)
	}
	switch strings.ToLower(fmt.Sprint(v.Health)) {
	case "true":
		return Health{OK: true}, nil
	case "false":
		return Health{Reason: v.Reason}, nil
	}
	return Health{}, fmt.Errorf("not the health of an etcd member: health is %v", v.Health)
}
