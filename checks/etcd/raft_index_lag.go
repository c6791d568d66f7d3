package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed raft_index_lag.md
var raftIndexLagDoc string

// RaftIndexLag looks for members that are behind the others.
var RaftIndexLag = &checks.Check{
	ID:        "etcd-raft-index-lag",
	Component: collectors.Etcd,
	Title:     "no etcd member is behind the others",
	Doc:       raftIndexLagDoc,
	Needs:     []collectors.Any{etcd.HowFar},
	Remedies: []checks.Remedy{
		{Title: "see how far each member is, twice", Command: "etcdctl endpoint status --cluster -w table; sleep 10; etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
		{Title: "on the node, see whether disk, processor or network is short", Command: "iostat -x 1 5 && top -b -n 1 | head -20", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{lagWarnAt, lagCriticalAt},
	Run:        raftIndexLag,
}

const (
	lagWarn     = 1000
	lagCritical = 5000
	lagSource   = "etcd SnapshotCatchUpEntries: 5000, beyond which a follower needs a whole snapshot"
)

var (
	lagWarnAt     = checks.NewThreshold("warn", checks.InNumber, lagWarn, "entries behind the others", lagSource)
	lagCriticalAt = checks.NewThreshold("critical", checks.InNumber, lagCritical, "entries behind the others", lagSource)
)

func raftIndexLag(p *checks.Pass) {
	// Only what comes from the same fact was asked at the same time.
	type front struct{ first, last, members int64 }
	fronts := map[string]front{}
	answers, _ := checks.All(p, etcd.HowFar)
	for _, a := range answers {
		if a.Gap == nil {
			f := fronts[a.Value.By.Name()]
			f.first, f.last = max(f.first, a.Value.FirstCommitted), max(f.last, a.Value.Committed)
			f.members++
			fronts[a.Value.By.Name()] = f
		}
	}
	for m, h := range checks.Each(p, etcd.HowFar) {
		f := fronts[h.By.Name()]
		if f.members < 2 {
			if len(answers) > 1 {
				p.Unknown(m, collectors.Gapf(collectors.NotAsked, "no other member told how far it is in the same way").With(etcd.Remedy))
			} else {
				p.Nothing(m, "there is no other member to be behind of")
			}
			continue
		}
		lag := f.last - h.Committed
		before := lag
		if h.Looks > 1 {
			before = f.first - h.FirstCommitted
		}
		var v *checks.Verdict
		switch {
		case lag > p.Whole(lagCriticalAt) && h.Looks > 1 && before > p.Whole(lagCriticalAt) && lag > before/2:
			v = p.Critical(m, "is %d entries behind the others, and was %d behind at the first look: it needs a whole snapshot", lag, before)
		case lag > p.Whole(lagWarnAt) && h.Looks > 1 && before > lag:
			v = p.Warn(m, "is %d entries behind the others, and catching up: it was %d behind at the first look", lag, before)
		case lag > p.Whole(lagWarnAt) && h.Looks > 1 && before > p.Whole(lagWarnAt):
			v = p.Warn(m, "is %d entries behind the others, and was %d behind at the first look", lag, before)
		case lag > p.Whole(lagWarnAt) && h.Looks == 1:
			v = p.Warn(m, "is %d entries behind the others; there was one look only", lag)
		default:
			v = p.OK(m, "is %d entries behind the others", lag)
		}
		v.Saw(h.By, "entries behind", fmt.Sprint(lag), fmt.Sprint(p.Whole(lagWarnAt)), lagSource).Number("lag", float64(lag))
	}
}
