package leases

import (
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/objects"
)

// An Identity is the lease by which an API server says that it is alive.
type Identity struct {
	Name string
	Age  time.Duration // since it was renewed, by the API server's clock
}

// Identities are the leases of API servers, by which each knows of the others.
// They come with the list of Leases.
var Identities = &collectors.Fact[[]Identity]{
	ID:      "leases.identities",
	Doc:     "how long ago each API server renewed the lease by which the others know of it",
	Targets: collectors.Single(All),
	Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return Leases.Ask(s, t)[1:] // the last look
	},
	Fold: func(*collectors.Snapshot, collectors.Target) collectors.Folder[[]Identity] {
		renewed := map[string]time.Time{} // by name, since a run that extends its window looks again
		return collectors.Folder[[]Identity]{
			Add: func(_ int, o objects.Object) {
				l := o.(*coordinationv1.Lease)
				if l.Namespace == "kube-system" && l.Labels[identityLabel] == "kube-apiserver" && l.Spec.RenewTime != nil {
					renewed[l.Name] = l.Spec.RenewTime.Time
				}
			},
			Done: func(rs []collectors.Answered) ([]Identity, error) {
				if rs[0].Date.IsZero() {
					return nil, collectors.Gapf(collectors.Absent, "the reply has no Date header: the age of a lease cannot be told by the API server's clock")
				}
				var out []Identity
				for n, t := range renewed {
					out = append(out, Identity{n, rs[0].Date.Sub(t)})
				}
				slices.SortFunc(out, func(a, b Identity) int { return int(b.Age - a.Age) })
				return out, nil
			},
		}
	},
}

const identityLabel = "apiserver.kubernetes.io/identity"
