package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed encryption_kms.md
var encryptionKMSDoc string

// EncryptionKMS looks for a key management service that is slow or fails: what is
// encrypted by its keys can then be neither read nor written.
var EncryptionKMS = &checks.Check{
	ID:        "apiserver-encryption-kms",
	Component: collectors.APIServer,
	Title:     "the key service answers",
	Doc:       encryptionKMSDoc,
	Needs:     []collectors.Any{apiserver.Encryptions},
	Remedies: []checks.Remedy{
		{Title: "ask the API server", Command: "kubectl get --raw \"/healthz/kms-providers\"; kubectl get --raw \"/livez?verbose\" | grep kms", Risk: checks.ReadOnly},
		{Title: "see whether its plugin runs on every control-plane node", Command: "crictl ps -a | grep -i kms; ls -l $(grep -o \"unix://[^ ]*\" /etc/kubernetes/enc/*.yaml | cut -d: -f3-)", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{kmsSlowAt},
	Run:        encryptionKMS,
}

const (
	// No public source: the check ends at warning.
	kmsSlow   = 1.0 // seconds
	kmsSource = "heuristic"
)

var kmsLimits = []checks.Limit{{At: kmsSlowAt, Seconds: kmsSlow, Share: 0.01, Status: checks.Warning, Source: kmsSource}}

var kmsSlowAt = checks.NewThreshold("warn", checks.InSeconds, kmsSlow, "a call of the key service, which 99 of 100 must not exceed", kmsSource)

func encryptionKMS(p *checks.Pass) {
	for t, e := range checks.Each(p, apiserver.Encryptions) {
		failed, code := worstGrowth(e.Failed)
		if !e.Used && e.Reloads.Lifetime == 0 {
			p.Nothing(t, "it calls no key service")
			continue
		}
		j := checks.JudgeLatency(e.Calls, p.Limits(kmsLimits)...)
		in := "in " + checks.Span(e.Elapsed)
		var v *checks.Verdict
		switch {
		case e.Elapsed == 0 && failed.Lifetime > 0:
			v = p.Info(t, "%s of the key service failed since it started, most with %s; whether it goes on is not known: %s", checks.Count(failed.Lifetime, "call"), code, e.Broken)
		case failed.Window > 0:
			v = p.Warn(t, "%.0f of %s of the key service failed %s, most with %s", failed.Window, checks.Count(failed.Window+e.Done.Window, "call"), in, code).Mark("code=" + code)
		case e.Reloads.Window > 0:
			v = p.Warn(t, "the encryption configuration could not be read anew %s %s: the old one stays", in, checks.Count(e.Reloads.Window, "time")).Mark("reload")
		case j.Status == checks.Unknown:
			p.Nothing(t, "the key service was not called in the window; %s since it started", checks.Count(e.Done.Lifetime, "call"))
			continue
		default:
			v = p.Judge(t, j.Status, "the key service answers: %s", j)
			if j.TooFew {
				v.TooFew()
			}
		}
		v.Saw(apiserver.Encryptions, "failed", fmt.Sprintf("%.0f", failed.Window), "0", kmsSource).
			Saw(apiserver.Encryptions, "p99", checks.Quantile(j.P99), checks.Seconds(p.At(kmsSlowAt)), kmsSource).
			Number("failed", failed.Window).Number("p99", j.P99.Value)
	}
}
