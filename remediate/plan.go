package remediate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

// A Kind says what an action does. It decides the guards of its step.
type Kind string

// The kinds.
const (
	Snapshot    Kind = "etcd.snapshot"
	Compact     Kind = "etcd.compact"
	Defragment  Kind = "etcd.defragment"
	MoveLeader  Kind = "etcd.move-leader"
	Disarm      Kind = "etcd.disarm"
	VerifyWrite Kind = "etcd.verify-write"
)

// The arguments of actions.
const (
	ArgRevision  = "revision"  // of Compact: the last revision whose history goes
	ArgNotBefore = "notBefore" // of Compact: when that revision is old enough
	ArgInPlace   = "inPlace"   // of Defragment: "true" if the member may lead meanwhile
	ArgTo        = "to"        // of MoveLeader: the name of the member that is to lead
	ArgAlarm     = "alarm"     // of Disarm
	ArgMemberID  = "memberID"  // of Disarm: in hexadecimal
	ArgFile      = "file"      // of Snapshot
)

// An Action is one change, as data: it can be shown, saved and compared.
type Action struct {
	Kind   Kind              `json:"kind"`
	Target collectors.Target `json:"target"`
	Args   map[string]string `json:"args,omitempty"`
}

// An Outcome is what an action brought, in words for the journal.
type Outcome map[string]string

// What outcomes tell that others read.
const (
	Yes         = "yes"
	OutWas      = "was"      // what it was that the action changed
	OutNow      = "now"      // what it is since, as it was seen after
	OutDisarmed = "disarmed" // of Disarm: Yes, unless there was nothing to take back
	OutDeleted  = "deleted"  // of PruneEvents: how many
)

// An Actuator makes changes. It is the only interface in ktriage that does.
//
// Do returns when the change is made, however long that takes, and does not
// try again by itself. An error says nothing of whether the change was made,
// unless it is NotDone.
type Actuator interface {
	Do(context.Context, Action) (Outcome, error)
}

// NotDone is the error of an action that was not begun, or that changes nothing
// unless it succeeds.
type NotDone struct{ Err error }

// Error returns the reason.
func (n *NotDone) Error() string { return n.Err.Error() }

// Unwrap returns the reason.
func (n *NotDone) Unwrap() error { return n.Err }

// A Step is an action with what must hold before it and what must hold after.
type Step struct {
	Action Action      `json:"action"`
	Why    string      `json:"why"`
	Guards []checks.ID `json:"guards"` // each must be OK on fresh facts just before; unknown stops
	Clears []checks.ID `json:"clears"` // each must become OK on fresh facts after
	Effect string      `json:"effect"` // what clients notice
	Stall  Duration    `json:"stall"`  // the estimate of how long they wait
	Manual string      `json:"manual"` // the command that does the same without guards
	Undo   string      `json:"undo"`   // how to go back, or why there is no way
}

// A Plan is steps in order, for one cluster in one state.
type Plan struct {
	Schema   int       `json:"schemaVersion"`
	Tool     string    `json:"tool"`
	Recipe   string    `json:"recipe"`
	Created  time.Time `json:"created"`
	ValidFor Duration  `json:"validFor"`
	Options  Options   `json:"options"`
	State    State     `json:"state"`
	// StateDigest is the digest of State.
	StateDigest string   `json:"stateDigest"`
	Steps       []Step   `json:"steps"`
	Notes       []string `json:"notes,omitempty"`
	// Digest identifies the plan; it covers all of the above.
	Digest string `json:"digest"`
}

const schema = 1

// A State is what of a cluster a plan depends on. Sizes and revisions, which
// change all the time, are not part of it.
type State struct {
	ClusterID string        `json:"clusterID"`
	Members   []MemberState `json:"members"` // by name
	Leader    string        `json:"leader"`  // its name
	Alarms    []string      `json:"alarms,omitempty"`
	Down      []string      `json:"down,omitempty"` // voters that do not answer
	// Kubernetes says that the API server answered: then it has to all along.
	Kubernetes bool `json:"kubernetes"`
}

// A MemberState is who a member is.
type MemberState struct {
	Name    string `json:"name"`
	ID      string `json:"id"` // in hexadecimal
	Client  string `json:"client"`
	Version string `json:"version"`
}

// Member returns the member of a name.
func (s State) Member(name string) (MemberState, bool) {
	for _, m := range s.Members {
		if m.Name == name {
			return m, true
		}
	}
	return MemberState{}, false
}

func digest(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of types that are all ours
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// seal gives a plan its digests.
func (p *Plan) seal() {
	p.Schema = schema
	p.StateDigest = digest(p.State)
	p.Digest = ""
	p.Digest = digest(p)
}

// maxPlan bounds a file that is read as a plan.
const maxPlan = 1 << 20

// Read reads a plan and refuses one that is not as it was written.
func Read(r io.Reader) (*Plan, error) {
	d := json.NewDecoder(io.LimitReader(r, maxPlan))
	d.DisallowUnknownFields()
	var p Plan
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	if p.Schema != schema {
		return nil, fmt.Errorf("read plan: its schema version is %d, this ktriage knows %d", p.Schema, schema)
	}
	want := p
	want.seal()
	if want.Digest != p.Digest || want.StateDigest != p.StateDigest {
		return nil, errors.New("read plan: it was changed after it was made: its digest does not match")
	}
	if _, ok := Find(p.Recipe); !ok {
		return nil, fmt.Errorf("read plan: there is no recipe %q", p.Recipe)
	}
	g := newGate(&p)
	for i, s := range p.Steps {
		guards, clears := g.of(i)
		if len(guards) == 0 || !slices.Equal(ids(guards), s.Guards) || !slices.Equal(ids(clears), s.Clears) {
			return nil, fmt.Errorf("read plan: step %d has other guards than this ktriage gives it: make a new plan", i+1)
		}
	}
	return &p, nil
}

// Differences tells what of the state changed between making a plan and now.
func (s State) Differences(now State) []string {
	var out []string
	if s.ClusterID != now.ClusterID {
		return []string{fmt.Sprintf("this is another cluster: the plan is for %s, here is %s", s.ClusterID, now.ClusterID)}
	}
	for _, m := range s.Members {
		switch n, ok := now.Member(m.Name); {
		case !ok:
			out = append(out, m.Name+" is no member any more")
		case n != m:
			out = append(out, fmt.Sprintf("%s is another: it was %v, and is %v", m.Name, m, n))
		}
	}
	for _, n := range now.Members {
		if _, ok := s.Member(n.Name); !ok {
			out = append(out, n.Name+" is a new member")
		}
	}
	if s.Leader != now.Leader {
		out = append(out, fmt.Sprintf("the leader was %s, and is %s", cmp.Or(s.Leader, "none"), cmp.Or(now.Leader, "none")))
	}
	if !slices.Equal(s.Alarms, now.Alarms) {
		out = append(out, fmt.Sprintf("the alarms were %v, and are %v", s.Alarms, now.Alarms))
	}
	if !slices.Equal(s.Down, now.Down) {
		out = append(out, fmt.Sprintf("the voters that did not answer were %v, and are %v", s.Down, now.Down))
	}
	if s.Kubernetes && !now.Kubernetes {
		out = append(out, "the API server answered, and does not any more")
	}
	return out
}

func ids(cs []*checks.Check) []checks.ID {
	out := make([]checks.ID, len(cs))
	for i, c := range cs {
		out[i] = c.ID
	}
	return out
}

// A Duration is a time.Duration that JSON writes as people do: "36s".
type Duration time.Duration

// MarshalText writes "36s".
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads "36s".
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// String writes "36s".
func (d Duration) String() string { return time.Duration(d).String() }
