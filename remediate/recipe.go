package remediate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/leases"
)

// A Recipe makes plans of one sort.
type Recipe struct {
	ID    string // "etcd-defrag", for ever
	Title string // what it does, as an imperative
	Doc   string // what it does, when to use it and what it costs
	Kube  bool   // it changes objects of Kubernetes, and needs no way to etcd
	// Window is over how long it looks each time; 0 where one look tells.
	Window time.Duration
	facts  func(Options, time.Time) []collectors.Any // nil: those of its sort
	plan   func(*planner) error
}

// The recipes that others speak of.
const (
	defragID   = "etcd-defrag"
	noSpaceID  = "etcd-nospace"
	snapshotID = "etcd-snapshot"
)

// Recipes lists the recipes, in the order in which they are shown.
var Recipes = []*Recipe{&Defrag, &CompactHistory, &NoSpace, &SaveSnapshot, &Lead, &WebhookOpen, &APIServiceRemove, &EventsPrune, &RestartLeader}

// Find returns the recipe of an ID.
func Find(id string) (*Recipe, bool) {
	i := slices.IndexFunc(Recipes, func(r *Recipe) bool { return r.ID == id })
	if i < 0 {
		return nil, false
	}
	return Recipes[i], true
}

// Facts lists what plans of the recipe are made from, and guards judge by. What
// depends on when a plan is made is as of the time that is given.
func (r *Recipe) Facts(o Options, at time.Time) []collectors.Any {
	switch {
	case r.facts != nil:
		return r.facts(o, at)
	case r.Kube:
		return kubeFacts()
	}
	return etcdFacts()
}

// StateFacts lists what the state is read from that plans of the recipe depend on.
func (r *Recipe) StateFacts() []collectors.Any {
	if r.Kube {
		return []collectors.Any{cluster.UID}
	}
	return stateFacts()
}

// ReadState tells the state that plans of the recipe depend on.
func (r *Recipe) ReadState(s *collectors.Snapshot) (State, error) {
	if r.Kube {
		return ReadKubeState(s)
	}
	return ReadState(s)
}

func etcdFacts() []collectors.Any {
	return []collectors.Any{
		etcd.Members, etcd.Status, etcd.RaisedAlarms, cluster.Halted, etcd.DB, etcd.TimedReads, etcd.DefragMetrics,
		etcd.Versions, etcd.UpkeepKeys, etcd.DataDisk, etcd.HistoryMetrics, etcd.CompactorTurn, leases.Leases, apiserver.Instances,
	}
}

// A Refusal is why no plan is made.
type Refusal struct {
	Err  error
	Hint string // what would change it; may be empty
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Err }

func refusef(hint, format string, a ...any) error {
	return &Refusal{fmt.Errorf(format, a...), hint}
}

// A planner is a plan that is being made.
type planner struct {
	*Plan
	snap *collectors.Snapshot
	gate *gate
}

// Make makes a plan of a snapshot. A plan without steps says in its notes why
// there is nothing to do. What forbids its steps now is a Refusal.
func (r *Recipe) Make(s *collectors.Snapshot, o Options, tool string) (*Plan, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	st, err := r.ReadState(s)
	if err != nil {
		hint := ""
		var gap *collectors.Gap
		if errors.As(err, &gap) {
			hint = gap.Remedy
		}
		return nil, &Refusal{fmt.Errorf("the state of %s is not known: %w", map[bool]string{false: "etcd", true: "the cluster"}[r.Kube], err), hint}
	}
	p := &Plan{Schema: schema, Tool: tool, Recipe: r.ID, Created: s.At.UTC().Truncate(time.Millisecond), ValidFor: DefaultValid, Options: o, State: st}
	pl := &planner{p, s, newGate(p)}
	if len(st.Down) > 0 && !o.AllowDown {
		return nil, refusef("see ktriage doctor; with five voters or more, --allow-down goes on without it", "%s does not answer: no member is touched while another is away", checks.List(st.Down, 4))
	}
	if err := r.plan(pl); err != nil {
		return nil, err
	}
	pl.caution()
	for i := range p.Steps {
		guards, clears := pl.gate.of(i)
		p.Steps[i].Guards, p.Steps[i].Clears = ids(guards), ids(clears)
		if err := pl.foresee(i, guards); err != nil {
			return nil, err
		}
		pl.gate.done(p.Steps[i].Action, 0)
	}
	p.seal()
	return p, nil
}

// later lists guards that judge what the steps before bring about.
var later = []checks.ID{"cure-leader", "cure-role", "cure-room", "cure-successor"}

// foresee runs the guards of a step on the state that the plan is made from, as
// far as they do not depend on the steps before it.
func (p *planner) foresee(i int, guards []*checks.Check) error {
	var now []*checks.Check
	for _, g := range guards {
		if i > 0 && (slices.Contains(later, g.ID) || g.ID == "cure-alarms") {
			continue
		}
		now = append(now, g)
	}
	err := demand(now, checks.Run(p.snap, now))
	var d *Denied
	if errors.As(err, &d) {
		hint := hints[d.Finding.Check]
		if d.Finding.Gap != nil && d.Finding.Gap.Remedy != "" {
			hint = d.Finding.Gap.Remedy
		}
		return &Refusal{fmt.Errorf("not now: %w", err), hint}
	}
	return err
}

// hints tell which flag would allow what a guard forbids, or what to do first.
var hints = map[checks.ID]string{
	"cure-whole":           "with fewer than three voters, --allow-single-member allows it: clients wait for as long as it takes",
	"cure-alarms":          "CORRUPT means that members hold different data: see ktriage explain etcd-corrupt-alarm; NOSPACE is cured by ktriage fix etcd-nospace",
	"cure-stall":           "allow more with --max-stall",
	"cure-window":          "wait for the window, or give another --window",
	"cure-min-interval":    "lower --min-interval",
	"cure-kubernetes":      "see ktriage doctor; where the API server does not answer at all, --without-kubernetes goes on without it",
	"cure-halt":            "delete the ConfigMap kube-system/" + cluster.HaltName + " and the etcd key " + etcd.HaltKey + " to allow it",
	"cure-snapshot":        "make one: ktriage fix etcd-snapshot",
	"cure-defrag-inflight": "wait until it is done, and see who started it: kubectl get cronjobs -A",
	"cure-apiserver-calm":  "see ktriage doctor; deletions would make it worse",
	"cure-version":         "finish the upgrade, or upgrade to a version without the fault",
}

func (p *planner) add(s Step) { p.Steps = append(p.Steps, s) }

func (p *planner) note(format string, a ...any) { p.Notes = append(p.Notes, fmt.Sprintf(format, a...)) }

func (p *planner) status(name string) etcd.State {
	st, _ := etcd.Status.Of(p.snap, target(name)) // who does not answer is in State.Down
	return st
}

// up lists the members that answer: followers first, by name, the leader last.
func (p *planner) up() []MemberState {
	var out []MemberState
	for _, lead := range []bool{false, true} {
		for _, m := range p.State.Members {
			if (m.Name == p.State.Leader) == lead && !slices.Contains(p.State.Down, m.Name) {
				out = append(out, m)
			}
		}
	}
	return out
}

// describe is one line about a step.
func describe(s Step) string {
	a := s.Action
	switch a.Kind {
	case Snapshot:
		return fmt.Sprintf("save a snapshot from %s to %s", a.Target.Name, a.Args[ArgFile])
	case Compact:
		return "drop the history up to revision " + a.Args[ArgRevision]
	case Defragment:
		return "defragment " + a.Target.Name
	case MoveLeader:
		return fmt.Sprintf("let %s lead in place of %s", a.Args[ArgTo], a.Target.Name)
	case Disarm:
		return fmt.Sprintf("take back %s of %s, if it is raised", a.Args[ArgAlarm], a.Target.Name)
	case OpenHook:
		return fmt.Sprintf("set failurePolicy of webhook %s in %s to Ignore", a.Args[ArgHook], a.Target.Name)
	case RemoveAPIService:
		return "delete " + a.Target.Name
	case HandOver:
		return fmt.Sprintf("take %s from %s, which hangs", a.Target.Name, a.Args[ArgHolder])
	case PruneEvents:
		return fmt.Sprintf("delete up to %s old Events of namespace %s", a.Args[ArgLimit], a.Args[ArgNamespace])
	case VerifyWrite:
		return "write a key through every member, read it back and delete it"
	}
	return string(a.Kind)
}

// Describe is one line about the step.
func (s Step) Describe() string { return describe(s) }
