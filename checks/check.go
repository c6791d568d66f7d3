package checks

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/collectors"
)

// Status is a verdict. Its zero value is Unknown: nothing is green by default.
type Status int

// The statuses. OutOfScope says that the thing does not exist here, or is
// hidden from everyone; Info is advice, which is shown on request only. No check
// says Suppressed: that is a verdict which the user has said to know, with a
// reason and until when.
const (
	Unknown Status = iota
	OutOfScope
	OK
	Info
	Warning
	Critical
	Suppressed
)

var statuses = [...]string{"unknown", "outOfScope", "ok", "info", "warning", "critical", "suppressed"}

// Statuses lists how reports spell them.
func Statuses() []string { return slices.Clone(statuses[:]) }

// String returns the status as reports spell it.
func (s Status) String() string { return statuses[s] }

// MarshalJSON writes the status as its string.
func (s Status) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// UnmarshalJSON reads a status's string.
func (s *Status) UnmarshalJSON(b []byte) error {
	var name string
	if err := json.Unmarshal(b, &name); err != nil {
		return err
	}
	i := slices.Index(statuses[:], name)
	if i < 0 {
		return fmt.Errorf("unknown status %q", name)
	}
	*s = Status(i)
	return nil
}

// Bad reports whether the status is trouble that was seen.
func (s Status) Bad() bool { return s == Warning || s == Critical }

// Severity orders statuses by how much they matter to a report: critical,
// unknown, warning, info, suppressed, ok, out of scope.
func (s Status) Severity() int {
	return [...]int{Unknown: 5, OutOfScope: 0, OK: 1, Suppressed: 2, Info: 3, Warning: 4, Critical: 6}[s]
}

// An ID names a check for ever; a retired ID is never used again.
type ID string

// A Check is one rule.
type Check struct {
	ID        ID                   // "etcd-db-quota-usage"
	Component collectors.Component // whom it judges
	Title     string               // the healthy state, as a sentence: "every etcd database has room below its quota"
	Doc       string               // the Markdown page beside the check's source
	Needs     []collectors.Any     // the facts that Run reads
	Remedies  []Remedy             // what to do about a finding, the next command first
	Run       func(*Pass)

	// Thresholds are the numbers that Run judges by and that the configuration
	// can move, in the order in which the page tells them.
	Thresholds []*Threshold

	// Deep says that it asks for much more than a few numbers, so that it is
	// run on demand only.
	Deep bool
}

// A Remedy is one way on from a finding.
type Remedy struct {
	Title string // what it does, as an imperative
	// Command is what a careful operator types. {name} and {node} stand for
	// those of the finding's target, {ns} for the part of its name before a
	// slash and {obj} for the part behind it.
	Command string
	Risk    Risk
	Recipe  string // the ktriage recipe that does it with guards, if there is one
}

// Risk says what a command can do to the cluster.
type Risk string

// The risks.
const (
	ReadOnly   Risk = "read-only"  // looks only
	Safe       Risk = "safe"       // changes something that can be undone and that clients do not notice
	Disruptive Risk = "disruptive" // clients will notice
	Dangerous  Risk = "dangerous"  // can lose data or availability if done wrong
)

// Evidence is one number or text that a verdict rests on.
type Evidence struct {
	Fact   string            `json:"fact"`
	Target collectors.Target `json:"target"`
	Field  string            `json:"field"`
	Value  string            `json:"value"`
	Limit  string            `json:"limit,omitempty"`
	Source string            `json:"source,omitempty"` // where the limit comes from
}

// A Finding is one verdict on one target.
type Finding struct {
	Check    ID
	Target   collectors.Target
	Status   Status
	Summary  string          // one line: what, how much, of what limit
	Gap      *collectors.Gap // set if and only if Status is Unknown or OutOfScope
	Evidence []Evidence
	// Numbers are measurements in base units (seconds, bytes, ratios), by
	// name, on which links between findings are made.
	Numbers map[string]float64
	// Marks are facts about the finding on which links are made: "leader",
	// "write-path", "reason=ErrX".
	Marks []string
	// Thin is set where the finding looks bad but rests on too few
	// observations to be sure: the run's window grows if it can.
	Thin bool
}

// Marked reports whether the finding carries a mark.
func (f Finding) Marked(m string) bool { return slices.Contains(f.Marks, m) }

// Number returns a measurement, or 0.
func (f Finding) Number(name string) float64 { return f.Numbers[name] }

// Level tells the status of a number that is bad from warn on and worse from
// critical on, and which of the two limits it is to be shown with.
func Level(x, warn, critical float64) (Status, float64) {
	switch {
	case x >= critical:
		return Critical, critical
	case x >= warn:
		return Warning, warn
	}
	return OK, warn
}
