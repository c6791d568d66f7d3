package remediate

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/ktriage/ktriage/checks"
)

// Account tells what the steps that a journal calls done changed, each from what
// to what, in the order in which they were done. What a step only looked at, or
// found done, is not in it.
func Account(p *Plan, rs []Record) []string {
	var out []string
	before, did := map[int]map[string]float64{}, map[int]Outcome{}
	deleted, pruned := 0, false
	for _, r := range rs {
		if r.Step < 1 || r.Step > len(p.Steps) {
			continue
		}
		a := p.Steps[r.Step-1].Action
		if a.Kind == PruneEvents && (r.Event == Done || r.Event == Failed) {
			n, _ := strconv.Atoi(r.Outcome[OutDeleted]) // a step that failed may have deleted some
			deleted, pruned = deleted+n, true
		}
		switch r.Event {
		case Began:
			before[r.Step] = r.Before
		case Acted:
			did[r.Step] = r.Outcome
		}
		if r.Event != Done {
			continue
		}
		switch o := did[r.Step]; a.Kind {
		case Defragment:
			was, is := before[r.Step]["size"], r.After["size"]
			if was > 0 && is > 0 {
				out = append(out, fmt.Sprintf("%s %s → %s in %s", a.Target.Name, checks.Bytes(int64(was)), checks.Bytes(int64(is)), checks.Seconds(r.Seconds)))
			} else {
				out = append(out, a.Target.Name+" defragmented")
			}
		case Compact:
			out = append(out, "no history up to revision "+a.Args[ArgRevision])
		case MoveLeader:
			out = append(out, fmt.Sprintf("leader %s → %s", a.Target.Name, a.Args[ArgTo]))
		case Disarm:
			if o[OutDisarmed] == Yes {
				out = append(out, fmt.Sprintf("%s of %s raised → taken back", a.Args[ArgAlarm], a.Target.Name))
			}
		case Snapshot:
			out = append(out, "snapshot "+a.Args[ArgFile])
		case OpenHook:
			out = append(out, fmt.Sprintf("webhook %s of %s: failurePolicy %s → Ignore", a.Args[ArgHook], a.Target.Name, cmp.Or(o[OutWas], "Fail")))
		case RemoveAPIService:
			out = append(out, a.Target.Name+" there → deleted")
		case HandOver:
			out = append(out, fmt.Sprintf("%s held by %s → %s", a.Target.Name, a.Args[ArgHolder], cmp.Or(r.Outcome[OutNow], "another")))
		}
	}
	if pruned {
		out = append(out, checks.Count(deleted, "Event")+" deleted")
	}
	return out
}
