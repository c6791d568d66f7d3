package report

import (
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

// Changes tell what a report says otherwise than an earlier one.
type Changes struct {
	SchemaVersion string `json:"schemaVersion"`
	From          Side   `json:"from"`
	To            Side   `json:"to"`
	// Differs says why the two may not be of one cluster, or are the wrong way
	// round.
	Differs string        `json:"differs,omitempty"`
	Status  checks.Status `json:"status"` // the worst of what is new, worse or out of sight
	Changes []Change      `json:"changes"`
	Same    int           `json:"same"` // trouble that both tell, no better and no worse
}

// A Side is one of the two reports.
type Side struct {
	Cluster   string        `json:"cluster"`
	Source    string        `json:"source"`
	Tool      string        `json:"tool"`
	StartedAt time.Time     `json:"startedAt"`
	Status    checks.Status `json:"status"`
}

// A ChangeKind says how a verdict changed.
type ChangeKind string

// The kinds of change, in the order in which they are told.
const (
	NewTrouble ChangeKind = "new"    // trouble where the earlier report told none
	Worse      ChangeKind = "worse"  // a warning that has become critical
	Unseen     ChangeKind = "unseen" // judged before, and not now: neither gone nor better
	Better     ChangeKind = "better" // critical before, a warning now
	Gone       ChangeKind = "gone"   // trouble that was looked for again, and is no more
	Seen       ChangeKind = "seen"   // not known before, and no trouble now
)

// A Change is one verdict that is another than before.
type Change struct {
	Kind      ChangeKind           `json:"kind"`
	Check     checks.ID            `json:"check"`
	Component collectors.Component `json:"component"`
	Target    collectors.Target    `json:"target"`
	// Before and After are left out where a report holds no such verdict.
	Before *Verdict `json:"before,omitempty"`
	After  *Verdict `json:"after,omitempty"`
	// Of is set for a symptom whose problem has changed likewise: its place
	// among the changes, counted from 1.
	Of int `json:"of,omitempty"`
	// Note says what is to be known of it.
	Note string `json:"note,omitempty"`
}

// A Verdict is what a report says of one thing.
type Verdict struct {
	Status  checks.Status `json:"status"`
	Summary string        `json:"summary"`
}

// Side is the report as one side of changes.
func (r *Report) Side() Side {
	return Side{r.Cluster.Name, r.Source, r.Tool.Version, r.StartedAt, r.Status}
}
