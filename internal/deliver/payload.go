package deliver

import (
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/diff"
	"github.com/ktriage/ktriage/internal/report"
)

// PayloadVersion is of the document that a webhook gets. Within it, fields are
// only added.
const PayloadVersion = "1"

// A Payload is what a webhook gets of a run.
type Payload struct {
	SchemaVersion string           `json:"schemaVersion"`
	Kind          string           `json:"kind"` // "ktriage.report"
	Tool          report.Tool      `json:"tool"`
	Cluster       string           `json:"cluster"`
	StartedAt     time.Time        `json:"startedAt"`
	Status        checks.Status    `json:"status"`
	Totals        report.Totals    `json:"totals"`
	Problems      []PayloadProblem `json:"problems"`
	// Compared says that there was an earlier run to compare with. Without one,
	// all problems are new, and nothing is gone.
	Compared bool `json:"compared"`
	// Gone are the problems that the run before told, and that are no more;
	// Unseen those that cannot be judged now.
	Gone   []PayloadProblem `json:"gone"`
	Unseen []PayloadProblem `json:"unseen"`
	// Left says how many problems are not listed, for the sake of size.
	Left int `json:"left,omitempty"`
}

// A PayloadProblem is a problem as a webhook gets it.
type PayloadProblem struct {
	Check   checks.ID         `json:"check"`
	Target  collectors.Target `json:"target"`
	Status  checks.Status     `json:"status"`
	Summary string            `json:"summary"`
	// New is "new" or "worse" of what the run before did not tell, or told as less
	// bad, else empty.
	New      report.ChangeKind `json:"new,omitempty"`
	Symptoms int               `json:"symptoms"` // verdicts that it explains
	// Next is the first command that the report names for it.
	Next string `json:"next,omitempty"`
}

// maxListed is how many problems a payload lists: it is for a message to people.
const maxListed = 100

// ForWebhook makes what a webhook gets of a report. Before may be nil.
func ForWebhook(r, before *report.Report) Payload {
	p := Payload{
		SchemaVersion: PayloadVersion, Kind: "ktriage.report", Tool: r.Tool, Cluster: r.Cluster.Name, StartedAt: r.StartedAt, Status: r.Status, Totals: r.Totals,
		Problems: []PayloadProblem{}, Gone: []PayloadProblem{}, Unseen: []PayloadProblem{}, Compared: before != nil,
	}
	news := map[[2]string]report.ChangeKind{}
	for _, n := range Of(r, before) {
		news[[2]string{string(n.Check), n.Target.String()}] = n.Kind
	}
	for _, x := range r.Problems {
		o := PayloadProblem{Check: x.Check, Target: x.Target, Status: x.Status, Summary: x.Summary, New: news[[2]string{string(x.Check), x.Target.String()}], Symptoms: len(x.Symptoms)}
		if len(x.Remedies) > 0 {
			o.Next = x.Remedies[0].Command
		}
		p.Problems = append(p.Problems, o)
	}
	if p.Left = max(0, len(p.Problems)-maxListed); p.Left > 0 {
		p.Problems = p.Problems[:maxListed]
	}
	if before == nil {
		return p
	}
	was := map[[2]string]report.Problem{}
	for _, x := range before.Problems {
		was[[2]string{string(x.Check), x.Target.String()}] = x
	}
	for _, c := range diff.Compare(before, r).Changes {
		x, ok := was[[2]string{string(c.Check), c.Target.String()}]
		if !ok {
			continue
		}
		o := PayloadProblem{Check: x.Check, Target: x.Target, Status: x.Status, Summary: x.Summary, Symptoms: len(x.Symptoms)}
		switch c.Kind {
		case report.Gone:
			p.Gone = append(p.Gone, o)
		case report.Unseen:
			p.Unseen = append(p.Unseen, o)
		}
	}
	return p
}

// Changed reports whether there is something in a payload that the run before
// did not tell.
func (p Payload) Changed() bool {
	if !p.Compared || len(p.Gone)+len(p.Unseen)+p.Left > 0 {
		return true
	}
	for _, x := range p.Problems {
		if x.New != "" {
			return true
		}
	}
	return false
}
