package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed hash_divergence.md
var hashDivergenceDoc string

// HashDivergence looks for members that hold different data at the same
// revision.
var HashDivergence = &checks.Check{
	ID:        "etcd-hash-divergence",
	Component: collectors.Etcd,
	Title:     "etcd members hold the same data at the same revision",
	Doc:       hashDivergenceDoc,
	Needs:     []collectors.Any{etcd.Hashes, etcd.Versions},
	Deep:      true,
	Remedies: []checks.Remedy{
		{Title: "see it once more, at one revision that every member has", Command: "etcdctl endpoint hashkv --cluster --rev=REVISION -w table", Risk: checks.ReadOnly},
		{Title: "keep a snapshot of each member before anything else", Command: "etcdctl --endpoints={name}:2379 snapshot save {name}.db", Risk: checks.ReadOnly},
		{Title: "take the member that differs out and add it anew, with an empty data directory", Command: "etcdctl member remove ID && etcdctl member add NAME --peer-urls=URL", Risk: checks.Dangerous},
	},
	Run: hashDivergence,
}

const hashSource = "etcd: data corruption, HashKV at one revision"

func hashDivergence(p *checks.Pass) {
	answers, gap := checks.All(p, etcd.Hashes)
	if gap == nil && len(answers) == 1 && answers[0].Gap == nil {
		p.Nothing(answers[0].Target, "there is no other member to compare with")
		return
	}
	for m, h := range checks.Each(p, etcd.Hashes) {
		same, differ, other, mixed := 0, 0, etcd.Hash{}, ""
		against := etcd.Hash{}
		version, _ := checks.Of(p, etcd.Versions, m)
		for _, a := range answers {
			switch {
			case a.Gap != nil || a.Target.Is(m):
			case !h.Comparable(a.Value):
				other = a.Value
			case h.Hash == a.Value.Hash:
				same++
			default:
				differ++
				against = a.Value
				if v, gap := checks.Of(p, etcd.Versions, a.Target); gap == nil && v.Version != version.Version {
					mixed = v.Version
				}
			}
		}
		most := same > 0 && same >= differ // of those that can be compared, with itself
		var v *checks.Verdict
		switch {
		case same+differ == 0 && other.At == 0:
			p.Unknown(m, collectors.Gapf(collectors.NotAsked, "no other member told its hash"))
			continue
		case same+differ == 0:
			p.Unknown(m, collectors.Gapf(collectors.Absent, "its hash is of what was left at revision %d after compaction at %d, that of another of revision %d after %d: they cannot be compared",
				h.Revision, h.Compacted, other.Revision, other.Compacted).With("run it again: compaction reaches the members at different times"))
			continue
		case mixed != "" && !most:
			// A compaction of 3.5.16 and 3.4.34 leaves what one before removed,
			// and others did before them. Source: etcd PR #18274.
			p.Unknown(m, collectors.Gapf(collectors.Absent, "its hash at revision %d is %08x, that of another %08x; versions %s and %s may keep different history, so that this proves nothing",
				h.Revision, h.Hash, against.Hash, version.Version, mixed).With("bring all members to one version, then compare again after the next compaction"))
			continue
		case most:
			v = p.OK(m, "hash %08x at revision %d is that of %s", h.Hash, h.Revision, checks.Count(same, "other member"))
		case differ == 1 && same == 0:
			v = p.Critical(m, "holds other data than the other member at revision %d: hash %08x against %08x; which of the two is right, two cannot tell", h.Revision, h.Hash, against.Hash)
		default:
			v = p.Critical(m, "holds other data than %s at revision %d: hash %08x against %08x", checks.Count(differ, "other member"), h.Revision, h.Hash, against.Hash)
		}
		v.Saw(etcd.Hashes, "hash", fmt.Sprintf("%08x", h.Hash), "that of the others", hashSource).
			Saw(etcd.Hashes, "compacted", fmt.Sprint(h.Compacted), "", "")
	}
}
