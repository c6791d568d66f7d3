package etcd

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// The alarms that etcd raises.
const (
	NoSpace = "NOSPACE"
	Corrupt = "CORRUPT"
)

// An Alarm is raised by one member and holds for all, until an operator takes
// it back.
type Alarm struct {
	Type   string
	Member string // that raised it; empty if the source does not say
}

// Alarms is what is raised.
type Alarms struct {
	Raised []Alarm
	// Hidden says that there is at least one alarm of which only the first
	// was told, as a health endpoint does: of others nothing is known.
	Hidden bool
	From   collectors.Any // who told
}

// Of returns the members that raised an alarm of a type, and whether any did.
func (a Alarms) Of(typ string) (members []string, raised bool) {
	for _, x := range a.Raised {
		if x.Type != typ {
			continue
		}
		raised = true
		if x.Member != "" && !slices.Contains(members, x.Member) {
			members = append(members, x.Member)
		}
	}
	slices.Sort(members)
	return members, raised
}

// alarmInError finds an alarm among the errors of a status. The text is a
// protocol buffer's, whose spaces vary on purpose.
var alarmInError = regexp.MustCompile(`^memberID:\s*(\d+)\s+alarm:\s*(\w+)`)

func alarmsOf(st State) []Alarm {
	var out []Alarm
	for _, e := range st.Errors {
		if m := alarmInError.FindStringSubmatch(strings.TrimSpace(e)); m != nil {
			id, err := strconv.ParseUint(m[1], 10, 64)
			if err != nil {
				id = 0
			}
			out = append(out, Alarm{Type: m[2], Member: strconv.FormatUint(id, 16)})
		} else if typ, ok := strings.CutPrefix(strings.TrimSpace(e), "alarm:"); ok {
			out = append(out, Alarm{Type: strings.TrimSpace(typ)})
		}
	}
	return out
}

// RaisedAlarms tells the alarms: by the members' status, or by their health
// endpoints, which metrics reach too.
//
// The gauge etcd_debugging_server_alarms is not asked. It counts what the
// process saw raised and taken back: after a restart it does not know of an
// alarm that still holds, and one that two requests raised and one disarm took
// back stays in it for ever. Source: etcd v3.7.3,
// server/etcdserver/apply/backend.go.
var RaisedAlarms = &collectors.Fact[Alarms]{
	ID:      "etcd.alarms",
	Doc:     "the alarms that are raised, and by which members",
	Needs:   []collectors.Any{Members, Status, HealthEndpoint, alarmList, WhoIsWho},
	Targets: collectors.Single(Cluster),
	Derive: func(s *collectors.Snapshot, _ collectors.Target) (Alarms, error) {
		if _, gap := Members.One(s); gap != nil {
			return Alarms{}, gap
		}
		var a Alarms
		var why *collectors.Gap
		sts, gap := Status.Answers(s)
		if gap != nil {
			return Alarms{}, gap
		}
		for _, st := range sts {
			_, noHealth := HealthEndpoint.Of(s, st.Target)
			switch {
			case st.Gap != nil && why == nil:
				why = failure(st.Gap, noHealth)
			case st.Gap == nil && alarmsInStatus(st.Value.Version):
				a.add(Status, alarmsOf(st.Value)...)
			}
		}
		lists, _ := alarmList.Answers(s)
		for _, l := range lists {
			if l.Gap == nil {
				a.add(Status, l.Value...)
			} else {
				why = l.Gap
			}
		}
		hs, _ := HealthEndpoint.Answers(s)
		for _, h := range hs {
			switch typ, isAlarm := strings.CutPrefix(h.Value.Reason, "ALARM "); {
			case h.Gap != nil || a.From != nil && a.From.Name() == Status.ID:
			case h.Value.OK:
				a.add(HealthEndpoint)
			case isAlarm:
				a.add(HealthEndpoint, Alarm{Type: typ})
				a.Hidden = true
			case h.Value.Reason != "":
				a.add(HealthEndpoint) // it looks at the alarms first: this is something else
			default:
				why = collectors.Gapf(collectors.Absent, "%s says that it is not healthy, but not why", h.Target).With(Remedy)
			}
		}
		if a.From == nil {
			if why == nil {
				why = collectors.Gapf(collectors.NotAsked, "no member was asked")
			}
			if why.Remedy == "" {
				why = why.With(Remedy)
			}
			return a, why
		}
		who, _ := WhoIsWho.One(s)
		for i, x := range a.Raised {
			if id := parseID(x.Member); id != 0 && who.Name(id) != "" {
				a.Raised[i].Member = who.Name(id)
			}
		}
		return a, nil
	},
}

func (a *Alarms) add(from collectors.Any, raised ...Alarm) {
	a.From = from
	for _, r := range raised {
		if !slices.Contains(a.Raised, r) {
			a.Raised = append(a.Raised, r)
		}
	}
}
