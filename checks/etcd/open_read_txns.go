package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed open_read_txns.md
var openReadTxnsDoc string

// OpenReadTxns looks for members with very many reads under way.
var OpenReadTxns = &checks.Check{
	ID:        "etcd-open-read-txns",
	Component: collectors.Etcd,
	Title:     "etcd ends its read transactions",
	Doc:       openReadTxnsDoc,
	Needs:     []collectors.Any{etcd.OpenReads},
	Remedies: []checks.Remedy{
		{Title: "see which reads take long", Command: "crictl logs --tail 2000 $(crictl ps -q --name etcd) 2>&1 | grep 'took too long' | tail -20", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{openReadsWarnAt},
	Run:        openReadTxns,
}

const (
	openReadsWarn   = 1000.0 // at both looks [exp]
	openReadsSource = "heuristic"
)

var openReadsWarnAt = checks.NewThreshold("warn", checks.InNumber, openReadsWarn, "read transactions open, at both looks", openReadsSource)

func openReadTxns(p *checks.Pass) {
	for m, g := range checks.Each(p, etcd.OpenReads) {
		s := checks.OK
		switch {
		case g.Least() > p.At(openReadsWarnAt) && g.Looks > 1:
			s = checks.Warning
		case g.Least() > p.At(openReadsWarnAt):
			s = checks.Info
		}
		first := ""
		if g.Looks > 1 {
			first = fmt.Sprintf(", %.0f at the first look", g.First)
		}
		p.Judge(m, s, "%s open%s", checks.Count(g.Last, "read transaction"), first).
			Saw(etcd.OpenReads, "open", fmt.Sprintf("%.0f, %.0f", g.First, g.Last), fmt.Sprintf("%.0f", p.At(openReadsWarnAt)), openReadsSource).
			Number("open", g.Last)
	}
}
