package apiserver

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed compaction_interval.md
var compactionIntervalDoc string

// CompactionInterval looks at how often each instance is told to cut off
// etcd's history.
var CompactionInterval = &checks.Check{
	ID:        "apiserver-compaction-interval",
	Component: collectors.APIServer,
	Title:     "API servers compact etcd's history every five minutes",
	Doc:       compactionIntervalDoc,
	Needs:     []collectors.Any{apiserver.CommandLines},
	Remedies: []checks.Remedy{
		{Title: "see what each API server was told", Command: "kubectl -n kube-system get pods -l component=kube-apiserver -o yaml | grep -E 'name: kube-apiserver-|etcd-compaction-interval'", Risk: checks.ReadOnly},
		{Title: "drop the flag in the static pod's manifest, one node at a time", Command: "vi /etc/kubernetes/manifests/kube-apiserver.yaml # --etcd-compaction-interval", Risk: checks.Disruptive},
	},
	Run: compactionInterval,
}

// Source: kube-apiserver, --etcd-compaction-interval: "If 0, the compaction
// request from apiserver is disabled".
const (
	compactionDefault = 5 * time.Minute
	compactionSource  = "kube-apiserver --etcd-compaction-interval=5m by default, 0 for never"
	// compactionMost keeps the history of an hour or two: what
	// etcd-compaction-stalled calls stalled long before.
	compactionMost = time.Hour
)

func compactionInterval(p *checks.Pass) {
	for t, f := range checks.Each(p, apiserver.CommandLines) {
		given := f.Get("etcd-compaction-interval", compactionDefault.String())
		every, err := time.ParseDuration(given)
		var v *checks.Verdict
		switch {
		case err != nil || every < 0:
			p.Unknown(t, collectors.Gapf(collectors.Malformed, "its --etcd-compaction-interval is %q, which is no time", given))
			continue
		case every == 0:
			v = p.Info(t, "told not to compact etcd's history: another API server or etcd itself must, or its database only grows")
		case every < compactionDefault:
			v = p.Info(t, "told to compact etcd's history every %s: watches and paged lists that go back further must start anew", checks.Span(every))
		case every >= compactionMost:
			v = p.Info(t, "told to compact etcd's history every %s only: etcd keeps all changes of up to twice that", checks.Span(every))
		default:
			v = p.OK(t, "told to compact etcd's history every %s", checks.Span(every))
		}
		v.Saw(apiserver.CommandLines, "--etcd-compaction-interval, by "+f.By, given, compactionDefault.String(), compactionSource)
	}
}
