package host

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

//go:embed component_unhealthy.md
var componentUnhealthyDoc string

// ComponentUnhealthy looks whether every part of the control plane says that it is healthy.
var ComponentUnhealthy = &checks.Check{
	ID:        "host-component-unhealthy",
	Component: collectors.Host,
	Title:     "every part of the control plane says that it is healthy",
	Doc:       componentUnhealthyDoc,
	Needs:     []collectors.Any{host.Nodes, host.Health, host.Ends},
	Remedies: []checks.Remedy{
		{Title: "ask it yourself", Command: `curl -sk https://127.0.0.1:6443/readyz?verbose`, Risk: checks.ReadOnly},
		{Title: "see what it said last", Command: `crictl ps -a --name {name} -q | head -1 | xargs crictl logs --tail 30`, Risk: checks.ReadOnly},
	},
	Run: componentUnhealthy,
}

func componentUnhealthy(p *checks.Pass) {
	n, ok := controlPlane(p)
	if !ok {
		return
	}
	es, gap := checks.One(p, host.Health)
	if gap != nil {
		p.Unknown(self(p), gap)
		return
	}
	ends, _ := checks.One(p, host.Ends)
	for _, r := range host.Components {
		var mine []host.Endpoint
		for _, e := range es {
			if e.Role == r {
				mine = append(mine, e)
			}
		}
		t := roleTarget(p, r)
		if len(mine) == 0 {
			if r == host.Etcd && len(n.Args(r)) > 0 {
				p.Unknown(t, collectors.Gapf(collectors.OutOfScope, "it has no --listen-metrics-urls of plain HTTP to be asked at"))
			}
			continue
		}
		bad := -1
		for i, e := range mine {
			if !e.Healthy() && bad < 0 {
				bad = i
			}
		}
		if bad < 0 {
			p.OK(t, "%s answers %d", mine[0].URL, mine[0].Status).Saw(host.Health, "status", fmt.Sprint(mine[0].Status), "200", "")
			continue
		}
		e := mine[bad]
		tail, _ := ends.Of(r)
		cause, line := tail.Why()
		if r == host.Etcd && !e.Refused && cause != host.NoSpace && cause != host.DataDamaged {
			cause, line = "", "" // what an etcd that serves logs in passing
		}
		what := e.Failed
		if what == "" {
			what = fmt.Sprintf("%d, %s", e.Status, failing(e.Body))
		}
		if len(n.Of(r)) == 0 && e.Failed == "" {
			p.Warn(t, "%s answers though no process of %s is seen: %s", e.URL, r, what).Saw(host.Health, "status", what, "200", "")
			continue
		}
		words := fmt.Sprintf("%s answers %s with %s", r, e.URL, what)
		if e.Failed != "" {
			words = fmt.Sprintf("%s, asked for %s: %s", r, e.URL, what)
		}
		v := p.Critical(t, "%s%s", words, said(line, cause)).Saw(host.Health, "answer", what, "200", "")
		v.Mark("role="+string(r), "says="+string(cause))
		if e.Silent {
			v.Mark("silent")
		}
		if e.Refused {
			v.Mark("refused")
		}
		if strings.Contains(e.Body, "[-]etcd") {
			v.Mark("without=etcd")
		}
	}
}
