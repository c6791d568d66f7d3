package etcd

import (
	_ "embed"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed db_size_divergence.md
var dbSizeDivergenceDoc string

// DBSizeDivergence looks for a member whose database is much larger than the
// others'.
var DBSizeDivergence = &checks.Check{
	ID:        "etcd-db-size-divergence",
	Component: collectors.Etcd,
	Title:     "etcd databases are of similar size",
	Doc:       dbSizeDivergenceDoc,
	Needs:     []collectors.Any{etcd.DB},
	Remedies: []checks.Remedy{
		{Title: "compare what is in use, and the hashes of the data", Command: "etcdctl endpoint status --cluster -w table && etcdctl endpoint hashkv --cluster -w table", Risk: checks.ReadOnly},
		{Title: "if it is only free pages, defragment, one member at a time, followers first; a member answers nothing meanwhile", Command: "etcdctl defrag --endpoints=https://MEMBER:2379 --command-timeout=300s", Risk: checks.Disruptive, Recipe: "etcd-defrag"},
	},
	Thresholds: []*checks.Threshold{divergenceRatioAt, divergenceSizeAt},
	Run:        dbSizeDivergence,
}

const (
	divergenceRatio  = 1.5       // of the others' median [exp]
	divergenceSize   = 200 << 20 // below it, pages freed and filled make such a difference by themselves [exp]
	divergenceSource = "heuristic"
)

var (
	divergenceRatioAt = checks.NewThreshold("times", checks.InNumber, divergenceRatio, "the median of the other members", divergenceSource)
	divergenceSizeAt  = checks.NewThreshold("size", checks.InBytes, divergenceSize, "of the file, below which it does not matter", divergenceSource)
)

func dbSizeDivergence(p *checks.Pass) {
	answers, _ := checks.All(p, etcd.DB)
	for m, db := range checks.Each(p, etcd.DB) {
		var others []int64
		for _, a := range answers {
			if a.Gap == nil && !a.Target.Is(m) {
				others = append(others, a.Value.Size)
			}
		}
		switch {
		case len(others) == 0 && len(answers) > 1:
			p.Unknown(m, collectors.Gapf(collectors.NotAsked, "no other member told its size"))
			continue
		case len(others) == 0:
			p.Nothing(m, "there is no other member to compare with")
			continue
		}
		slices.Sort(others)
		median := others[len(others)/2]
		if len(others)%2 == 0 {
			median = (median + others[len(others)/2-1]) / 2
		}
		ratio := float64(db.Size) / float64(max(1, median))
		var v *checks.Verdict
		if ratio > p.At(divergenceRatioAt) && db.Size > p.Whole(divergenceSizeAt) {
			v = p.Warn(m, "database has %s, of which %s are in use; those of the others have %s", checks.Bytes(db.Size), checks.Bytes(db.InUse), checks.Bytes(median))
		} else {
			v = p.OK(m, "database has %s; those of the others have %s", checks.Bytes(db.Size), checks.Bytes(median))
		}
		v.Saw(etcd.DB, "size", checks.Bytes(db.Size), checks.Bytes(int64(p.At(divergenceRatioAt)*float64(median))), divergenceSource).
			Number("ratio", ratio)
	}
}
