package apiserver

import (
	"cmp"
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed unreachable.md
var unreachableDoc string

// Unreachable looks for API servers that do not answer. That an address cannot
// be reached from where ktriage runs is not enough for that.
var Unreachable = &checks.Check{
	ID:        "apiserver-unreachable",
	Component: collectors.APIServer,
	Title:     "every API server answers",
	Doc:       unreachableDoc,
	Needs:     []collectors.Any{apiserver.Attempts, apiserver.Instances, cluster.Version, etcd.Members, etcd.Status},
	Remedies: []checks.Remedy{
		{Title: "on its node, see whether its container runs and what it last said", Command: "crictl ps -a --name kube-apiserver; crictl logs --tail 50 $(crictl ps -aq --name kube-apiserver | head -1)", Risk: checks.ReadOnly},
		{Title: "on its node, see whether the kubelet can start it", Command: "journalctl -u kubelet -n 200; ls -l /etc/kubernetes/manifests", Risk: checks.ReadOnly},
		{Title: "if only the load balancer does not answer, compare with an instance behind it", Command: "curl -k https://ADDRESS-OF-AN-INSTANCE:6443/readyz", Risk: checks.ReadOnly},
	},
	Run: unreachable,
}

func unreachable(p *checks.Pass) {
	attempts, gap := checks.One(p, apiserver.Attempts)
	if gap != nil {
		p.Unknown(apiserver.Front, gap)
		return
	}
	fleet, _ := checks.One(p, apiserver.Instances)
	front, instances := attempts[0], attempts[1:]
	at := apiserver.Front
	var answering, elsewhere, unseen []string // names: all that answer, those past the front, those that tell nothing
	for _, a := range instances {
		switch {
		case a.Instance.Own:
			at = target(a.Instance)
		case a.By != "":
			elsewhere = append(elsewhere, a.Instance.Name)
		}
		if a.By != "" && a.Outcome.Reached() || a.By == "port-forward" {
			answering = append(answering, a.Instance.Name)
		}
	}
	for _, a := range instances {
		if !a.Instance.Own && !judgeInstance(p, a, instances, front, answering) {
			unseen = append(unseen, a.Instance.Name)
		}
	}
	judgeFront(p, at, front, fleet, elsewhere, unseen)
}

// judgeInstance judges one instance at its own address. It is false, and gives
// no verdict, if nothing that was seen says anything about it.
func judgeInstance(p *checks.Pass, a apiserver.Attempt, all []apiserver.Attempt, front apiserver.Attempt, answering []string) bool {
	t := target(a.Instance)
	status, others := checks.Critical, "nothing else answers"
	if len(answering) > 0 {
		status, others = checks.Warning, checks.List(answering, 3)+" "+verb(len(answering), "answers", "answer")
	} else if front.Outcome.Reached() {
		status, others = checks.Warning, "the load balancer still answers"
	}
	switch {
	case a.By == "port-forward":
		p.OK(t, "answers by port-forward into its pod").Saw(apiserver.Attempts, "outcome", a.Outcome.String(), "", "")
	case a.Outcome.Reached():
		p.OK(t, "answers at %s%s", a.Instance.Address(), after(a.Took)).Number("took", a.Took)
	case a.Outcome.Down():
		p.Judge(t, status, "does not answer at %s: %s; %s", a.Instance.Address(), a.Outcome, others).
			Saw(apiserver.Attempts, "attempt", a.Detail, "an answer", "").Mark("outcome="+a.Outcome.String(), "address="+a.Instance.Address())
	case a.Outcome == apiserver.NoWay && neighbours(a, all) != "":
		listed := ""
		if a.Instance.Listed {
			listed = "; clients of the Service kubernetes are still sent to it"
		}
		p.Judge(t, status, "does not answer at %s: %s, while %s in the same network does%s", a.Instance.Address(), a.Outcome, neighbours(a, all), listed).
			Saw(apiserver.Attempts, "attempt", a.Detail, "an answer", "").Mark("outcome="+a.Outcome.String(), "address="+a.Instance.Address())
	case a.Instance.Pod.Pod != "" && !a.Instance.Pod.Ready:
		p.Judge(t, status, "its pod is not ready%s, and it cannot be asked from here; %s", why(a.Instance.Pod), others).
			Saw(apiserver.Attempts, "pod", cmp.Or(a.Instance.Pod.Waiting, "not ready"), "ready", "").Mark("pod-not-ready")
	default:
		return false
	}
	return true
}

// judgeFront judges the address that the kubeconfig names.
func judgeFront(p *checks.Pass, t collectors.Target, a apiserver.Attempt, fleet apiserver.Fleet, elsewhere, unseen []string) {
	_, versionGap := checks.One(p, cluster.Version)
	_, etcdAnswers := etcdBeside(p, fleet.Server)
	server := cmp.Or(fleet.Server, "the kubeconfig's address")
	switch {
	case a.Outcome == apiserver.Answered:
		p.OK(t, "answers at %s%s%s", server, after(a.Took), reservation(fleet, elsewhere, unseen)).Number("took", a.Took)
	case a.Outcome == apiserver.Denied:
		p.Unknown(t, &collectors.Gap{Reason: a.Gap.Reason, Detail: "it answers at " + server + ", but does not accept the credentials: " + a.Detail, Remedy: cmp.Or(a.Gap.Remedy, "get fresh credentials; kubectl auth whoami tells whose are used")})
	case a.Outcome.Down() && versionGap == nil:
		p.Warn(t, "answered some requests at %s and not others: %s", server, a.Outcome).Saw(apiserver.Attempts, "attempt", a.Detail, "an answer", "")
	case len(elsewhere) > 0 && (a.Outcome.Down() || a.Outcome == apiserver.NoWay):
		p.Warn(t, "does not answer at %s: %s, while %s %s past it", server, a.Outcome, checks.List(elsewhere, 3), verb(len(elsewhere), "answers", "answer")).
			Saw(apiserver.Attempts, "attempt", a.Detail, "an answer", "").Mark("load-balancer")
	case a.Outcome.Down() || a.Outcome == apiserver.NoWay && etcdAnswers != "":
		v := p.Critical(t, "does not answer at %s: %s%s", server, a.Outcome, etcdAnswers).
			Saw(apiserver.Attempts, "attempt", a.Detail, "an answer", "").Mark("outcome=" + a.Outcome.String())
		if etcdAnswers != "" {
			v.Mark("etcd-answers")
		}
	default:
		p.Unknown(t, notSeen(a, server))
	}
}

// notSeen says why an attempt says nothing about the API server.
func notSeen(a apiserver.Attempt, server string) *collectors.Gap {
	g := *a.Gap
	switch a.Outcome {
	case apiserver.NoWay:
		g.Detail = "no connection to " + server + " comes about from here, which may be the network's doing: " + a.Detail
		g.Remedy = cmp.Or(g.Remedy, "ask from a machine in the cluster's network, or from a control-plane node: --kubeconfig /etc/kubernetes/admin.conf")
	case apiserver.NoName:
		g.Remedy = cmp.Or(g.Remedy, "see that this machine's resolver knows the name of the kubeconfig's server")
	case apiserver.Distrusted:
		g.Remedy = cmp.Or(g.Remedy, "see that the kubeconfig's CA and server name are those of this cluster, and that this machine's clock is right")
	}
	return &g
}

// after says how long an answer took, where that is known.
func after(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return " after " + checks.Seconds(seconds)
}

// reservation says what the answer at the front does not show.
func reservation(f apiserver.Fleet, elsewhere, unseen []string) string {
	switch {
	case f.Hidden != nil && f.Hidden.Reason == collectors.OutOfScope:
		return "; " + f.Hidden.Detail
	case f.Hidden != nil:
		return "; which instances there are is not known: " + string(f.Hidden.Reason)
	case len(unseen) > 0 && len(elsewhere) == 0:
		return "; behind it are " + checks.List(unseen, 4) + ", which cannot be told apart from here"
	case len(unseen) > 0:
		return "; " + checks.List(unseen, 4) + " cannot be asked from here"
	}
	return ""
}
