package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed revision_divergence.md
var revisionDivergenceDoc string

// RevisionDivergence looks for members that applied the same log and hold
// different data.
var RevisionDivergence = &checks.Check{
	ID:        "etcd-revision-divergence",
	Component: collectors.Etcd,
	Title:     "etcd members that applied the same log are at the same revision",
	Doc:       revisionDivergenceDoc,
	Needs:     []collectors.Any{etcd.Positions},
	Remedies: []checks.Remedy{
		{Title: "compare the hashes of the data at one revision", Command: "etcdctl endpoint hashkv --cluster -w table", Risk: checks.ReadOnly},
		{Title: "keep a snapshot of each member before anything else", Command: "etcdctl --endpoints={name}:2379 snapshot save {name}.db", Risk: checks.ReadOnly},
		{Title: "take the member that differs out and add it anew, with an empty data directory", Command: "etcdctl member remove ID && etcdctl member add NAME --peer-urls=URL", Risk: checks.Dangerous},
	},
	Run: revisionDivergence,
}

// revisionSlack is how far a status may be off by itself: it reads revision and
// index one after the other, while writes go on.
const (
	revisionSlack  = 1000
	revisionSource = "etcd: an entry of the log raises the revision by one or not at all"
)

// apart is by how many revisions two members are further apart than their
// places in the log allow: the one that applied more entries has at least the
// revision of the other, and at most one more for each entry.
func apart(a, b etcd.Position) int64 {
	if a.Applied > b.Applied {
		a, b = b, a
	}
	entries, revisions := b.Applied-a.Applied, b.Revision-a.Revision
	return max(0, -revisions, revisions-entries)
}

func revisionDivergence(p *checks.Pass) {
	answers, gap := checks.All(p, etcd.Positions)
	if gap == nil && len(answers) == 1 {
		p.Nothing(answers[0].Target, "there is no other member to compare with")
		return
	}
	for m, s := range checks.Each(p, etcd.Positions) {
		others, against, worst := 0, 0, int64(0)
		var of etcd.Position
		for _, a := range answers {
			if a.Gap != nil || a.Target.Is(m) {
				continue
			}
			others++
			d := apart(s, a.Value)
			if d > revisionSlack {
				against++
			}
			if d >= worst {
				worst, of = d, a.Value
			}
		}
		var v *checks.Verdict
		switch {
		case others == 0:
			p.Nothing(m, "no other member tells its revision and how far it applied the log")
			continue
		case 2*against > others || against > 0 && others == 1:
			v = p.Critical(m, "at revision %d with %d entries applied, where %s: its data is not that of the others", s.Revision, s.Applied, where(of, s))
		case against > 0:
			v = p.OK(m, "revision %d agrees with that of %s", s.Revision, checks.Count(others-against, "other member"))
		default:
			v = p.OK(m, "revision %d agrees with that of %s", s.Revision, checks.Count(others, "other member"))
		}
		v.Saw(s.By, "revisions apart beyond the log", fmt.Sprint(worst), fmt.Sprint(revisionSlack), revisionSource).Number("apart", float64(worst))
	}
}

// where tells what another member holds.
func where(of, s etcd.Position) string {
	if of.Applied == s.Applied {
		return fmt.Sprintf("another has revision %d at the same entry, %d apart", of.Revision, max(of.Revision-s.Revision, s.Revision-of.Revision))
	}
	return fmt.Sprintf("another has revision %d with %d applied", of.Revision, of.Applied)
}
