package leases

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
	"github.com/ktriage/ktriage/collectors/leases"
	"github.com/ktriage/ktriage/collectors/scheduler"
)

//go:embed election_off.md
var electionOffDoc string

// ElectionOff looks for several instances of a component that do not agree on
// one leader, because some elect none or elect by another lock.
var ElectionOff = &checks.Check{
	ID:        "lease-election-off",
	Component: collectors.Leases,
	Title:     "all instances of a component elect one leader, by the same lock",
	Doc:       electionOffDoc,
	Needs:     []collectors.Any{scheduler.Elected.Instances, controllers.Elected.Instances},
	Remedies: []checks.Remedy{
		{Title: "see the flags of each", Command: "kubectl -n kube-system get pods -l tier=control-plane -o custom-columns=POD:.metadata.name,COMMAND:.spec.containers[0].command", Risk: checks.ReadOnly},
		{Title: "on the node, mend --leader-elect and --leader-elect-resource-name; the kubelet restarts it", Command: "vi /etc/kubernetes/manifests/kube-controller-manager.yaml", Risk: checks.Disruptive},
	},
	Run: func(p *checks.Pass) {
		electionOffCheck(p, scheduler.Elected)
		electionOffCheck(p, controllers.Elected)
	},
}

func electionOffCheck(p *checks.Pass, e *leases.Elected) {
	as, gap := checks.All(p, e.Instances)
	if gap != nil {
		p.Unknown(e.Self(), gap)
		return
	}
	var off, locks, other []string
	for _, a := range as {
		switch {
		case a.Gap != nil:
			p.Unknown(e.Self(), a.Gap)
			return
		case a.Value.MadeUp:
			p.Unknown(e.Self(), collectors.Gapf(collectors.NotAsked, "the evidence does not hold all of its pods"))
			return
		case a.Value.Flag("leader-elect", "true") == "false":
			off = append(off, a.Target.Name)
			continue
		}
		lock := a.Value.Flag("leader-elect-resource-namespace", "kube-system") + "/" + a.Value.Flag("leader-elect-resource-name", string(e.Role))
		if len(locks) > 0 && lock != locks[0] {
			other = append(other, a.Target.Name+" by "+lock)
		}
		locks = append(locks, lock)
	}
	saw := func(v *checks.Verdict) {
		v.Saw(e.Instances, "--leader-elect=false", fmt.Sprint(len(off)), fmt.Sprintf("of %d", len(as)), "kube-scheduler, kube-controller-manager: true by default").Mark("split")
	}
	switch {
	case len(off) > 0 && len(as) > 1:
		saw(p.Warn(e.Self(), "of %s %d elect no leader (%s): each of them acts, whoever leads", checks.Count(len(as), "instance"), len(off), checks.List(off, 3)))
	case len(other) > 0:
		saw(p.Warn(e.Self(), "of %s not all elect by the same lock (%s): %s; one leads by each", checks.Count(len(as), "instance"), locks[0], checks.List(other, 3)))
	case len(off) == 1:
		p.OK(e.Self(), "its only instance elects no leader and needs none").Saw(e.Instances, "--leader-elect=false", "1", "", "")
	default:
		p.OK(e.Self(), "%s elect by %s", checks.Count(len(as), "instance"), locks[0]).Saw(e.Instances, "--leader-elect=false", "0", "", "")
	}
}
