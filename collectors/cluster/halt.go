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
	Took time.Duration // to read an object that is there; 0 if that is not known
}

// Halted asks the API server whether an operator forbids cures.
var Halted = &collectors.Fact[Halt]{
	ID:      "cluster.halt",
	Doc:     "whether the ConfigMap kube-system/" + HaltName + " forbids cures, and how long the API server takes to read an object",
	Targets: collectors.Single(Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{
			{Verb: collectors.Get, URL: "kube:/api/v1/namespaces/kube-system/configmaps/" + HaltName},
			// How long it took to say that something is not there nobody tells.
			{Verb: collectors.Get, URL: "kube:/api/v1/namespaces/kube-system"},
		}
	},
	Partial: true,
	Read: func(rs []collectors.Answered) (Halt, error) {
		for _, r := range rs {
			if r.Gap == nil && r.Status >= 500 {
				return Halt{}, collectors.Gapf(collectors.ServerError, "%s: answered %d", r.From, r.Status)
			}
		}
		var took time.Duration
		switch g := rs[1].Gap; {
		case g == nil:
			took = rs[1].Elapsed
		case g.Reason == collectors.Timeout || g.Reason == collectors.Unreachable || g.Reason == collectors.ServerError:
			return Halt{}, g
		}
		switch g := rs[0].Gap; {
		case g == nil:
			return Halt{On: true, Took: took}, nil
		case g.Reason == collectors.Absent:
			return Halt{Took: took}, nil
		default:
			return Halt{}, g
		}
	},
}
