package nodes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/objects"
)

// A Heartbeat is the lease of one node.
type Heartbeat struct {
	Node string
	Age  time.Duration // since it was renewed, by the API server's clock
}

// Heartbeats are the leases of the nodes that there are.
type Heartbeats struct {
	All  int
	Left int         // leases that nodes left behind which are gone; nobody renews them
	Late []Heartbeat // those older than suspicious, the oldest first
}

// Older counts the leases that are older than a limit, which must not be below
// suspicious, and names the first of them.
func (h Heartbeats) Older(limit time.Duration) []Heartbeat {
	i := slices.IndexFunc(h.Late, func(b Heartbeat) bool { return b.Age <= limit })
	if i < 0 {
		return h.Late
	}
	return h.Late[:i]
}

// suspicious is twice the time in which a kubelet renews its lease, 10 s. What
// is younger is of no interest, and not kept.
const suspicious = 20 * time.Second

// Leases are the leases by which kubelets say that they are alive. A lease may
// outlive its node, so the nodes are listed with them; that list is shared with
// the other facts about nodes.
var Leases = &collectors.Fact[Heartbeats]{
	ID:      "nodes.heartbeats",
	Doc:     "how long ago each node's kubelet renewed its lease, by the API server's clock",
	Needs:   []collectors.Any{cluster.Clock},
	Targets: collectors.Single(All),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{
			{Verb: collectors.List, URL: "kube:/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"},
			{Verb: collectors.List, URL: "kube:/api/v1/nodes"},
		}
	},
	Fold: func(s *collectors.Snapshot, _ collectors.Target) collectors.Folder[Heartbeats] {
		now, _ := cluster.Now(s) // only to pass over what is fresh
		before := now.Add(-suspicious / 2)
		fresh, old, exists := 0, map[string]time.Time{}, map[string]bool{}
		return collectors.Folder[Heartbeats]{
			Add: func(_ int, o objects.Object) {
				name := strings.Clone(o.GetName())
				l, ok := o.(*coordinationv1.Lease)
				switch {
				case !ok:
					exists[name] = true
				case l.Spec.RenewTime != nil && l.Spec.RenewTime.Time.Before(before):
					old[name] = l.Spec.RenewTime.Time
				default:
					fresh++
				}
			},
			Done: func(rs []collectors.Answered) (Heartbeats, error) {
				at := rs[0].Date
				if at.IsZero() {
					return Heartbeats{}, collectors.Gapf(collectors.Absent, "the reply has no Date header: the age of a lease cannot be told by the API server's clock")
				}
				h := Heartbeats{All: fresh}
				for n, t := range old {
					if !exists[n] {
						h.Left++
						continue
					}
					h.All++
					if age := at.Sub(t); age > suspicious {
						h.Late = append(h.Late, Heartbeat{n, age})
					}
				}
				slices.SortFunc(h.Late, func(a, b Heartbeat) int { return cmp.Or(-cmp.Compare(a.Age, b.Age), cmp.Compare(a.Node, b.Node)) })
				return h, nil
			},
		}
	},
}
