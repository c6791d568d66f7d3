package leases

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/leases"
)

//go:embed mass_loss.md
var massLossDoc string

// MassLoss looks for leases of programs that have nothing to do with each other
// and changed hands together: what they have in common is the API server.
var MassLoss = &checks.Check{
	ID:        "lease-mass-loss",
	Component: collectors.Leases,
	Title:     "leases of unrelated programs do not change hands together",
	Doc:       massLossDoc,
	Needs:     []collectors.Any{leases.Leases, cluster.NodeSummary, cluster.Instances},
	Remedies: []checks.Remedy{
		{Title: "see which changed hands when", Command: "kubectl get leases -A --sort-by=.spec.acquireTime -o custom-columns=NS:.metadata.namespace,LEASE:.metadata.name,ACQUIRED:.spec.acquireTime,HOLDER:.spec.holderIdentity | grep -v kube-node-lease | tail", Risk: checks.ReadOnly},
		{Title: "look for what ran at that time: a defragmentation, a backup, a change of etcd's leader", Command: "kubectl -n kube-system logs -l component=etcd --since=2h --prefix | grep -E 'defrag|snapshot|leader changed|elected leader|took too long'", Risk: checks.ReadOnly},
	},
	Run: massLoss,
}

const (
	// together is within how long one stall makes leases run out: their
	// durations and retries differ by seconds.
	together = time.Minute
	// many leases, of at least two namespaces, are not one node that went down:
	// a node holds the leases of what runs on it. Both are experience, so the
	// verdict ends at a warning.
	many = 3
	// lately is until when it is worth a warning.
	lately = time.Hour
	// after is how long after another took its lease a process that lost it runs
	// again: the kubelet waits 10 s at first, and twice as long each time.
	after = 2 * time.Minute
)

func massLoss(p *checks.Pass) {
	h, gap := checks.One(p, leases.Leases)
	if gap != nil {
		p.Unknown(leases.All, gap)
		return
	}
	if n, gap := checks.One(p, cluster.NodeSummary); gap == nil && n.Count == 1 {
		p.Nothing(leases.All, "a cluster of one node loses all its leases whenever that restarts")
		return
	}
	var taken []leases.Lease
	for _, l := range h.Leases {
		// One that nobody held before was not lost, nor one that was just made.
		if l.Holder != "" && l.Transitions > 0 && !l.Acquired.IsZero() && l.Acquired.Sub(l.Created) > together {
			taken = append(taken, l)
		}
	}
	slices.SortFunc(taken, func(a, b leases.Lease) int { return b.Acquired.Compare(a.Acquired) })
	lost := burst(taken)
	why := ""
	if len(lost) == 0 {
		is, _ := checks.One(p, cluster.Instances)
		if lost = coreBurst(taken, is); len(lost) > 0 {
			why = ", and both that held them ended with exit code 1 while their nodes and API servers ran on"
		}
	}
	if len(lost) == 0 {
		p.OK(leases.All, "of %s none changed hands together with unrelated ones", checks.Count(len(h.Leases), "lease")).
			Saw(leases.Leases, "changed hands", fmt.Sprint(len(taken)), "", "")
		return
	}
	when := max(0, h.At.Sub(lost[0].Acquired))
	status := checks.Info
	if when <= lately {
		status = checks.Warning
	}
	var names []string
	for _, l := range lost {
		names = append(names, l.ID())
	}
	v := p.Judge(leases.All, status, "%d leases changed hands within %s, %s ago: %s%s", len(lost), ago(lost[0].Acquired.Sub(lost[len(lost)-1].Acquired)), ago(when), checks.List(names, 3), why).
		Number("leases", float64(len(lost))).Number("ago", when.Seconds())
	for _, l := range lost[:min(len(lost), 10)] {
		v.Saw(leases.Leases, l.ID(), "acquired "+l.Acquired.UTC().Format(time.RFC3339), "", "")
	}
}

// burst returns the latest leases that were taken together, newest first: at
// least many, of at least two namespaces. Leases come newest first.
func burst(ls []leases.Lease) []leases.Lease {
	for i := range ls {
		j := i
		spaces := map[string]bool{}
		for j < len(ls) && ls[i].Acquired.Sub(ls[j].Acquired) <= together {
			spaces[ls[j].Namespace] = true
			j++
		}
		if j-i >= many && len(spaces) >= 2 {
			return ls[i:j]
		}
	}
	return nil
}

// coreBurst returns the leases of the scheduler and of the controller manager if
// they were taken together, and those that held them ended as who loses a lease
// does, each on a node whose API server ran on. A node that goes down, and an
// upgrade, take both leases, too; but then nothing of that node ran on.
func coreBurst(ls []leases.Lease, is []cluster.Instance) []leases.Lease {
	ranOn := map[string]time.Time{} // node → since when its API server runs
	for _, i := range is {
		if i.Role == cluster.RoleAPIServer && !i.Started.IsZero() {
			ranOn[i.Node] = i.Started
		}
	}
	var out []leases.Lease
	for _, l := range ls {
		if !l.Core() {
			continue
		}
		if slices.ContainsFunc(is, func(i cluster.Instance) bool {
			since, ok := ranOn[i.Node]
			ended := string(i.Role) == l.Name && i.LastExit == lostLease && i.Started.Sub(l.Acquired).Abs() <= after
			return ended && ok && since.Before(l.Acquired.Add(-after))
		}) {
			out = append(out, l)
		}
	}
	if len(out) < 2 || out[0].Acquired.Sub(out[len(out)-1].Acquired) > together {
		return nil
	}
	return out
}

// lostLease is how client-go's leader election ends a process that did not renew
// its lease in time.
const lostLease = "Error (exit code 1)"
