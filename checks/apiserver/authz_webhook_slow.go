package apiserver

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed authz_webhook_slow.md
var authzWebhookSlowDoc string

// AuthzWebhookSlow looks for webhooks that decide on rights and are slow or away: each
// request waits for them.
var AuthzWebhookSlow = &checks.Check{
	ID:        "apiserver-authz-webhook-slow",
	Component: collectors.APIServer,
	Title:     "authorization webhooks answer",
	Doc:       authzWebhookSlowDoc,
	Needs:     []collectors.Any{apiserver.Accesses},
	Remedies: []checks.Remedy{
		{Title: "see how it is called, and what happens when it fails", Command: "grep -E 'authorization-(config|webhook)' /etc/kubernetes/manifests/kube-apiserver.yaml", Risk: checks.ReadOnly},
	},
	Run: authzWebhookSlow,
}

const (
	// No public source: the check ends at warning.
	authzSlow     = 0.5 // seconds
	authzFailures = 0.01
	authzSource   = "heuristic"
)

var authzLimits = []checks.Limit{{Seconds: authzSlow, Share: 0.01, Status: checks.Warning, Source: authzSource}}

func authzWebhookSlow(p *checks.Pass) {
	for t, a := range checks.Each(p, apiserver.Accesses) {
		if len(a.Webhooks) == 0 {
			p.Nothing(t, "it asks no webhook for rights, or is older than 1.31, which does not tell")
			continue
		}
		worst, words := checks.OK, ""
		var rest []string
		var p99 float64
		few, opened := false, 0.0
		for _, name := range slices.Sorted(maps.Keys(a.Webhooks)) {
			w := a.Webhooks[name]
			j := checks.JudgeLatency(w.Calls, authzLimits...)
			k, n := w.Failed.Window, w.Calls.Window.Count
			opened += w.Opened.Window
			s, what := j.Status, fmt.Sprintf("webhook %s answers: %s", name, j)
			if metrics.Exceeds(max(n, k), k, authzFailures) {
				s, what = checks.Warning, fmt.Sprintf("webhook %s gave no verdict in %s", name, shareOf(k, max(n, k), "call"))
			}
			if s == checks.Unknown {
				continue
			}
			few = few || j.TooFew
			if words == "" || s.Severity() > worst.Severity() {
				worst, words, p99 = s, what, j.P99.Value
			} else {
				rest = append(rest, name)
			}
		}
		if words == "" {
			p.Nothing(t, "no webhook was asked for rights in the window")
			continue
		}
		if opened > 0 {
			worst = checks.Warning
			words += fmt.Sprintf("; %s passed without its verdict", checks.Count(opened, "request"))
		}
		v := p.Judge(t, worst, "%s%s", words, also(rest)).
			Saw(apiserver.Accesses, "p99", checks.Seconds(p99), checks.Seconds(authzSlow), authzSource).
			Saw(apiserver.Accesses, "passed", fmt.Sprintf("%.0f", opened), "0", authzSource).Number("p99", p99)
		if few && worst == checks.OK {
			v.TooFew()
		}
	}
}

// also names the other webhooks that were asked.
func also(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; also asked: " + checks.List(names, 3)
}
