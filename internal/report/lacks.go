package report

import (
	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
)

// A Lack is what is not known, and nothing that was seen explains: verdicts that
// one thing would mend.
type Lack struct {
	Reason   collectors.Reason
	Detail   string // of the first of them
	Remedy   string
	Findings []Finding
}

// Lacks groups what is not known by what would mend it: ten checks that lack one
// credential are one lack.
func (r *Report) Lacks() []Lack {
	type key struct {
		reason         collectors.Reason
		remedy, detail string
	}
	var out []Lack
	at := map[key]int{}
	for _, f := range r.Findings {
		if f.Status != checks.Unknown || f.Explained || f.Gap == nil {
			continue
		}
		k := key{reason: f.Gap.Reason, remedy: f.Gap.Remedy}
		if k.remedy == "" {
			k.detail = f.Gap.Detail
		}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, Lack{Reason: f.Gap.Reason, Detail: f.Gap.Detail, Remedy: f.Gap.Remedy})
		}
		out[i].Findings = append(out[i].Findings, f)
	}
	return out
}
