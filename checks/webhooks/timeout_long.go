package webhooks

import (
	_ "embed"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/webhooks"
)

//go:embed timeout_long.md
var timeoutLongDoc string

// TimeoutLong looks for webhooks that may hold up what everybody writes.
var TimeoutLong = &checks.Check{
	ID:        "webhook-timeout-long",
	Component: collectors.Webhooks,
	Title:     "no webhook may hold up writes of pods and the like for long",
	Doc:       timeoutLongDoc,
	Needs:     []collectors.Any{webhooks.Configured, webhooks.Reach},
	Remedies: []checks.Remedy{
		{Title: "lower its timeoutSeconds to 5 or less", Command: "kubectl edit {ns} {obj}", Risk: checks.Safe},
	},
	Thresholds: []*checks.Threshold{longTimeoutAt},
	Run:        timeoutLong,
}

// longTimeout is experience; no number is published. The default is 10 s, the
// most that is allowed 30 s, and many clients give up a request after 30 s.
const longTimeout = 15 * time.Second

var longTimeoutAt = checks.NewThreshold("warn", checks.InSeconds, checks.Secs(longTimeout), "that a webhook may take", "experience; no public source")

func timeoutLong(p *checks.Pass) {
	for c := range each(p) {
		t := c.target()
		var longest, hot *hook
		for _, h := range c {
			if longest == nil || h.Wait > longest.Wait {
				longest = &h
			}
			if len(h.Vital()) > 0 && h.Wait >= p.Span(longTimeoutAt) && (hot == nil || h.Wait > hot.Wait) {
				hot = &h
			}
		}
		if hot != nil {
			p.Info(t, "%sit may hold up writes of %s for %s", c.name(*hot), checks.List(hot.Vital(), 3), checks.Span(hot.Wait)).
				Saw(webhooks.Configured, hot.Name+" timeoutSeconds", checks.Span(hot.Wait), checks.Span(p.Span(longTimeoutAt)), "experience; no public source")
			continue
		}
		p.OK(t, "its timeout is %s", checks.Span(longest.Wait)).
			Saw(webhooks.Configured, longest.Name+" timeoutSeconds", checks.Span(longest.Wait), checks.Span(p.Span(longTimeoutAt)), "experience; no public source")
	}
}
