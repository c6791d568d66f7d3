package apiserver

import (
	_ "embed"
	"fmt"
	"strconv"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed inflight_near_limit.md
var inflightNearLimitDoc string

// InflightNearLimit looks for instances that execute nearly as many requests at
// a time as they may.
var InflightNearLimit = &checks.Check{
	ID:        "apf-inflight-near-limit",
	Component: collectors.APIServer,
	Title:     "API servers are far from their limit of requests in flight",
	Doc:       inflightNearLimitDoc,
	Needs:     []collectors.Any{apiserver.Fairness, apiserver.Instances},
	Remedies: []checks.Remedy{
		{Title: "see which requests hold the seats, and whose they are", Command: "kubectl get --raw /debug/api_priority_and_fairness/dump_requests", Risk: checks.ReadOnly},
		{Title: "if CPU and memory have room, raise both limits in the static pod's manifest, one node at a time", Command: "vi /etc/kubernetes/manifests/kube-apiserver.yaml # --max-requests-inflight, --max-mutating-requests-inflight", Risk: checks.Disruptive},
	},
	Run: inflightNearLimit,
}

const (
	// No public source: both end at warning.
	inflightWarn   = 0.80
	inflightUrgent = 0.95
	inflightSource = "expert heuristic"
	// Source: kube-apiserver, --max-requests-inflight and
	// --max-mutating-requests-inflight.
	defaultReading  = 400
	defaultMutating = 200
)

func inflightNearLimit(p *checks.Pass) {
	fleet, _ := checks.One(p, apiserver.Instances)
	for t, f := range checks.Each(p, apiserver.Fairness) {
		reading, mutating := limits(fleet, t)
		type use struct {
			what, from string
			n, limit   float64
		}
		all := f.Inflight.Reading + f.Inflight.Mutating
		uses := []use{{"requests", "apiserver_flowcontrol_nominal_limit_seats", all, f.Seats()}}
		if len(f.Levels) == 0 { // then each kind has a limit of its own
			uses = []use{{"reading requests", "--max-requests-inflight", f.Inflight.Reading, reading}, {"mutating requests", "--max-mutating-requests-inflight", f.Inflight.Mutating, mutating}}
		}
		worst, used := uses[0], 0.0
		for _, u := range uses {
			if u.limit > 0 && u.n/u.limit >= used {
				worst, used = u, u.n/u.limit
			}
		}
		if worst.limit <= 0 {
			p.OK(t, "%.0f requests in flight, without a limit", all).Number("inflight", all)
			continue
		}
		status, limit := checks.OK, inflightWarn
		switch {
		case used >= inflightUrgent:
			status, limit = checks.Warning, inflightUrgent
		case used >= inflightWarn:
			status = checks.Warning
		}
		p.Judge(t, status, "%.0f of %.0f %s in flight (%s)", worst.n, worst.limit, worst.what, checks.Percent(used)).
			Saw(apiserver.Fairness, "in flight", fmt.Sprintf("%.0f", worst.n), checks.Percent(limit)+fmt.Sprintf(" of %.0f", worst.limit), inflightSource).
			Saw(apiserver.Fairness, "limit", fmt.Sprintf("%.0f", worst.limit), "", worst.from).
			Number("used", used).Number("inflight", all)
	}
}

// limits are those on an instance's command line: its own, or where it cannot
// be told apart, that of any.
func limits(fleet apiserver.Fleet, t collectors.Target) (reading, mutating float64) {
	flags := map[string]string{}
	for _, i := range fleet.Known {
		if i.Pod.Pod != "" && (i.Name == t.Name || t.Name == "") {
			flags = i.Pod.Flags
		}
	}
	read := func(flag string, otherwise float64) float64 {
		if v, err := strconv.ParseFloat(flags[flag], 64); err == nil && v >= 0 {
			return v
		}
		return otherwise
	}
	return read("max-requests-inflight", defaultReading), read("max-mutating-requests-inflight", defaultMutating)
}
