package cluster

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// HaltName is the ConfigMap in kube-system whose presence forbids cures.
const HaltName = "ktriage-halt"

// A Halt is whether an operator forbids cures. To say so the API server has to
// read from etcd, so that the answer also shows that it can.
type Halt struct {
	On   bool
	Took time.Duration
}

// Halted asks the API server whether an operator forbids cures.
var Halted = &collectors.Fact[Halt]{
	ID:      "cluster.halt",
	Doc:     "whether the ConfigMap kube-system/" + HaltName + " forbids cures, and how long the API server took to say so",
	Targets: collectors.Single(Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: "kube:/api/v1/namespaces/kube-system/configmaps/" + HaltName}}
	},
	Partial: true,
	Read: func(rs []collectors.Answered) (Halt, error) {
		switch g := rs[0].Gap; {
		case g == nil && rs[0].Status >= 500:
			return Halt{}, collectors.Gapf(collectors.ServerError, "%s: answered %d", rs[0].From, rs[0].Status)
		case g == nil:
			return Halt{On: true, Took: rs[0].Elapsed}, nil
		case g.Reason == collectors.Absent:
			return Halt{}, nil
		default:
			return Halt{}, g
		}
	},
}
