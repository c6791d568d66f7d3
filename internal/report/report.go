package report

import (
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/internal/diagnose"
	"github.com/ktriage/ktriage/internal/vitals"
)

// SchemaVersion is of the JSON document. Within it, fields are only added.
const SchemaVersion = "1"

// A Report is the document of one run.
type Report struct {
	SchemaVersion   string          `json:"schemaVersion"`
	Tool            Tool            `json:"tool"`
	Cluster         Cluster         `json:"cluster"`
	Source          string          `json:"source"`
	StartedAt       time.Time       `json:"startedAt"`
	DurationSeconds float64         `json:"durationSeconds"`
	WindowSeconds   float64         `json:"windowSeconds"`
	Status          checks.Status   `json:"status"`
	Vitals          []vitals.Vital  `json:"vitals"`
	Problems        []Problem       `json:"problems"`
	Findings        []Finding       `json:"findings"`
	Totals          Totals          `json:"totals"`
	Cost            collectors.Cost `json:"cost"`
	// Suppressions are all that were in force or have expired, whether they
	// met anything or not; Off are the checks that were not run because the
	// configuration turns them off.
	Suppressions []Suppression `json:"suppressions,omitempty"`
	Off          []checks.ID   `json:"off,omitempty"`
	// Changes are since an earlier report, if there is one to compare with.
	Changes *Changes `json:"changes,omitempty"`
}

// Tool is the ktriage that made the report.
type Tool struct {
	Version string `json:"version"`
}

// Cluster is what was looked at.
type Cluster struct {
	Name         string    `json:"name"`
	Server       string    `json:"server,omitempty"`
	Distribution string    `json:"distribution"`
	Version      string    `json:"version"`
	Mode         string    `json:"mode"` // full, api-only (no etcd in reach), etcd-only (no API server in reach), managed, node (one seen from within, without the API), nothing
	Nodes        int       `json:"nodes"`
	Reached      []Reached `json:"reached"`
}

// Reached says how much of a component answered.
type Reached struct {
	Component collectors.Component `json:"component"`
	Answered  int                  `json:"answered"`
	Known     int                  `json:"known"`
}

// A Problem is trouble that nothing else explains. Its status is that of the
// worst in it: a slow disk that makes the API server fail is critical, whatever
// it is by itself, which is told among the findings.
type Problem struct {
	Check     checks.ID            `json:"check"`
	Component collectors.Component `json:"component"`
	Target    collectors.Target    `json:"target"`
	Status    checks.Status        `json:"status"`
	Summary   string               `json:"summary"`
	Evidence  []checks.Evidence    `json:"evidence"`
	// Because says, of a problem that something is known to bring about, that
	// nothing seen explains it, and what could not be seen; Unseen lists that.
	Because      string    `json:"because,omitempty"`
	Unseen       []Hidden  `json:"unseen,omitempty"`
	Also         []Also    `json:"also,omitempty"` // the same trouble on other targets
	Symptoms     []Symptom `json:"symptoms"`
	AlsoPossible []Also    `json:"alsoPossible"` // what else could explain some symptom
	Remedies     []Remedy  `json:"remedies"`
	Doc          string    `json:"doc"` // the command that shows the rule's page
}

// Also names another finding.
type Also struct {
	Check   checks.ID         `json:"check"`
	Target  collectors.Target `json:"target"`
	Status  checks.Status     `json:"status"`
	Summary string            `json:"summary"`
}

// A Symptom is a finding that the problem explains.
type Symptom struct {
	Check   checks.ID         `json:"check"`
	Target  collectors.Target `json:"target"`
	Status  checks.Status     `json:"status"`
	Summary string            `json:"summary"`
	Because string            `json:"because"`
	// Of is its direct cause: 0 is the problem itself, n is symptoms[n-1].
	Of int `json:"of"`
	// Chain is the way from the problem to this symptom, both included.
	Chain []diagnose.Hop `json:"chain"`
}

// A Hidden is what could have shown a cause, and why it did not. What ktriage
// does not look at has no reason.
type Hidden struct {
	What string `json:"what"`
	Why  string `json:"why,omitempty"`
}

// A Remedy is one way on.
type Remedy struct {
	Title   string      `json:"title"`
	Command string      `json:"command"`
	Risk    checks.Risk `json:"risk"`
	Recipe  string      `json:"recipe,omitempty"`
}

// A Finding is one verdict, whatever it is.
type Finding struct {
	Check     checks.ID            `json:"check"`
	Component collectors.Component `json:"component"`
	Target    collectors.Target    `json:"target"`
	Status    checks.Status        `json:"status"`
	Summary   string               `json:"summary"`
	Gap       *collectors.Gap      `json:"gap,omitempty"`
	Evidence  []checks.Evidence    `json:"evidence,omitempty"`
	// Explained is set for a finding that is a symptom of a problem.
	Explained bool `json:"explained,omitempty"`
	// Suppressed is set if and only if Status is checks.Suppressed.
	Suppressed *SuppressedBy `json:"suppressed,omitempty"`
}

// Totals counts the findings by status.
type Totals struct {
	OK         int `json:"ok"`
	Info       int `json:"info"`
	Warning    int `json:"warning"`
	Critical   int `json:"critical"`
	Unknown    int `json:"unknown"`
	OutOfScope int `json:"outOfScope"`
	Suppressed int `json:"suppressed"`
}
