package nodes

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/nodes"
)

//go:embed csr_pending.md
var csrPendingDoc string

// CSRPending looks for kubelets' certificates that nobody decides on.
var CSRPending = &checks.Check{
	ID:        "node-csr-pending",
	Component: collectors.Nodes,
	Title:     "requests for kubelets' certificates are decided on",
	Doc:       csrPendingDoc,
	Needs:     []collectors.Any{nodes.Requests},
	Remedies: []checks.Remedy{
		{Title: "list what is pending, and who asks for it", Command: "kubectl get certificatesigningrequests | grep -w Pending", Risk: checks.ReadOnly},
		{Title: "see what is asked for", Command: "kubectl describe certificatesigningrequest {name}", Risk: checks.ReadOnly},
		{Title: "if it is the node that it says it is", Command: "kubectl certificate approve {name}", Risk: checks.Safe},
	},
	Run: csrPending,
}

func csrPending(p *checks.Pass) {
	r, gap := checks.One(p, nodes.Requests)
	if gap != nil {
		p.Unknown(nodes.All, gap)
		return
	}
	pending, late := 0, 0
	for _, q := range r.By {
		pending += q.Pending
		if q.Late == 0 {
			continue
		}
		late += q.Late
		s, of := checks.Warning, ""
		switch q.Signer {
		case nodes.ServingSigner:
			of = "kubelets' serving certificates, without which logs and exec fail once the old ones end"
		case nodes.ClientSigner:
			of = "kubelets' client certificates, without which nodes do not join or drop out"
		default:
			s, of = checks.Info, "certificates of "+q.Signer
		}
		t := collectors.Target{Component: collectors.Nodes, Name: q.Example}
		p.Judge(t, s, "%s for %s not decided on for up to %s (asked for by %s)", checks.Count(q.Late, "request"), of, checks.Span(q.Oldest), q.Who).
			Saw(nodes.Requests, q.Signer, fmt.Sprint(q.Late), checks.Span(nodes.Undecided), "experience; an approver decides in a moment")
	}
	if u := r.Unsigned; u.Count > 0 {
		p.Warn(nodes.All, "%s approved and not signed for up to %s (%s), which is the controller manager's to do", checks.Count(u.Count, "certificate request"), checks.Span(u.Oldest), u.Example).
			Saw(nodes.Requests, "not signed", fmt.Sprint(u.Count), checks.Span(nodes.Unfinished), "experience; a controller signs at once").
			Mark("lag", "queue=certificate")
	} else if late == 0 {
		p.OK(nodes.All, "of %s %d are pending, none for longer than %s", checks.Count(r.All, "certificate request"), pending, checks.Span(nodes.Undecided)).
			Saw(nodes.Requests, "pending", fmt.Sprint(pending), "", "")
	}
}
