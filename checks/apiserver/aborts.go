package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/metrics"
)

//go:embed aborts.md
var abortsDoc string

// Aborts looks for requests that were cut off, and for handlers that hang on
// after their time or panic.
var Aborts = &checks.Check{
	ID:        "apiserver-aborts",
	Component: collectors.APIServer,
	Title:     "API servers finish what they begin to answer",
	Doc:       abortsDoc,
	Needs:     []collectors.Any{apiserver.AbortMetrics},
	Remedies: []checks.Remedy{
		{Title: "read which requests they are", Command: "kubectl -n kube-system logs -l component=kube-apiserver --since=10m --tail=-1 | grep -E 'Timeout or abort|apiserver panic|post-timeout' | tail -20", Risk: checks.ReadOnly},
		{Title: "see what its goroutines wait for", Command: "kubectl get --raw \"/debug/pprof/goroutine?debug=2\" | head -200", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{abortsShareAt},
	Run:        aborts,
}

const (
	// No public source: the check ends at warning. RULES has any abort, and any
	// panic as critical; one cut-off proves nothing, as a client may cause it.
	abortsShare  = 0.01
	abortsSource = "heuristic"
)

var abortsShareAt = checks.NewThreshold("warn", checks.InRatio, abortsShare, "of the requests that are aborted", abortsSource)

func aborts(p *checks.Pass) {
	for t, a := range checks.Each(p, apiserver.AbortMetrics) {
		pending, panics := a.Late["pending"], a.Late["panic"]
		in := "in " + checks.Span(a.Elapsed)
		var v *checks.Verdict
		switch {
		case a.Elapsed == 0 && panics.Lifetime > 0:
			v = p.Info(t, "%s panicked after their time since it started; whether it goes on is not known: %s", checks.Count(panics.Lifetime, "request"), a.Broken)
		case a.Elapsed == 0:
			v = p.OK(t, "%.0f of %s cut off since it started", a.Aborted.Lifetime, checks.Count(a.Requests.Lifetime, "request"))
		case panics.Window > 0:
			v = p.Warn(t, "%s panicked %s", checks.Count(panics.Window, "request"), in).Mark("panic")
		case metrics.Exceeds(a.Requests.Window, a.Aborted.Window, p.At(abortsShareAt)):
			v = p.Warn(t, "%.0f of %s cut off %s%s", a.Aborted.Window, checks.Count(a.Requests.Window, "request"), in, mostAborted(a)).Mark("aborted")
		case pending.Window > 0:
			v = p.Warn(t, "%s went on after their time %s, and hang", checks.Count(pending.Window, "request"), in).Mark("pending")
		case a.Aborted.Window > 0:
			v = p.Info(t, "%.0f of %s cut off %s%s", a.Aborted.Window, checks.Count(a.Requests.Window, "request"), in, mostAborted(a))
		default:
			v = p.OK(t, "no request cut off %s, %.0f since it started", in, a.Aborted.Lifetime)
		}
		v.Saw(apiserver.AbortMetrics, "cut off", fmt.Sprintf("%.0f", a.Aborted.Window), checks.Percent(p.At(abortsShareAt)), abortsSource).
			Saw(apiserver.AbortMetrics, "hanging, panicked", fmt.Sprintf("%.0f, %.0f", pending.Window, panics.Window), "0", abortsSource).
			Number("aborted", a.Aborted.Window).Number("pending", pending.Window)
	}
}

// mostAborted names what is cut off the most.
func mostAborted(a apiserver.Aborts) string {
	var top apiserver.Operation
	most := 0.0
	for o, g := range a.By {
		if g.Window > most || g.Window == most && most > 0 && o.String() < top.String() {
			top, most = o, g.Window
		}
	}
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("; most: %s (%.0f)", top, most)
}
