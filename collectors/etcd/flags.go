package etcd

import (
	"cmp"
	"strconv"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// Flags is a member's command line, as its pod has it.
type Flags map[string]string

// What etcd takes where a flag is not given.
const (
	DefaultHeartbeat = 100 * time.Millisecond // --heartbeat-interval
	DefaultElection  = time.Second            // --election-timeout
)

// Heartbeat is how often the leader shows that it is there.
func (f Flags) Heartbeat() time.Duration { return f.millis("heartbeat-interval", DefaultHeartbeat) }

// Election is after how long without a sign of the leader a follower stands for
// election.
func (f Flags) Election() time.Duration { return f.millis("election-timeout", DefaultElection) }

func (f Flags) millis(name string, otherwise time.Duration) time.Duration {
	if n, err := strconv.Atoi(f[name]); err == nil && n > 0 {
		return time.Duration(n) * time.Millisecond
	}
	return otherwise
}

// Given returns a flag that was experimental for a while, by either name.
func (f Flags) Given(name string) string { return cmp.Or(f[name], f["experimental-"+name]) }

// CommandLines is the command line of each member that runs as a pod.
var CommandLines = &collectors.Fact[Flags]{
	ID:      "etcd.flags",
	Doc:     "the flags that each member was started with, by its pod",
	Needs:   []collectors.Any{Members, cluster.Instances, cluster.WhatKind},
	Targets: MemberTargets,
	Derive: func(s *collectors.Snapshot, t collectors.Target) (Flags, error) {
		pods, gap := cluster.InRole(s, cluster.RoleEtcd)
		if gap != nil {
			return nil, gap
		}
		m := member(s, t)
		for _, p := range pods {
			if p.Namespace+"/"+p.Pod != m.Pod {
				continue
			}
			if p.MadeUp || len(p.Flags) == 0 {
				return nil, collectors.Gapf(collectors.NotAsked, "its command line is not in the evidence")
			}
			return p.Flags, nil
		}
		return nil, collectors.Gapf(collectors.Absent, "it runs as no pod that can be seen, so its command line is not known")
	},
}
