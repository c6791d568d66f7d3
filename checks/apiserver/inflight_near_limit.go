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
	Needs:     []collectors.Any{apiserver.Fairness, apiserver.CommandLines},
	Remedies: []checks.Remedy{
		{Title: "see which requests hold the seats, and whose they are", Command: "kubectl get --raw /debug/api_priority_and_fairness/dump_requests", Risk: checks.ReadOnly},
		{Title: "if CPU and memory have room, raise both limits in the static pod's manifest, one node at a time", Command: "vi /etc/kubernetes/manifests/kube-apiserver.yaml # --max-requests-inflight, --max-mutating-requests-inflight", Risk: checks.Disruptive},
	},
	Thresholds: []*checks.Threshold{inflightAdviceAt, inflightWarnAt, inflightUrgentAt},
	Run:        inflightNearLimit,
}

const (
	// No public source: both end at warning.
	inflightWarn   = 0.80
	inflightUrgent = 0.95
	inflightSource = "expert heuristic"
	// inflightAdvice is from when on limits that somebody lowered are worth a
	// word: the defaults would leave as much again.
	inflightAdvice = 0.50
	// Source: kube-apiserver, --max-requests-inflight and
	// --max-mutating-requests-inflight.
	defaultReading  = 400
	defaultMutating = 200
)

var (
	inflightAdviceAt = checks.NewThreshold("info", checks.InRatio, inflightAdvice, "of the requests that may be in flight", inflightSource)
	inflightWarnAt   = checks.NewThreshold("warn", checks.InRatio, inflightWarn, "of the requests that may be in flight", inflightSource)
	inflightUrgentAt = checks.NewThreshold("urgent", checks.InRatio, inflightUrgent, "of the requests that may be in flight", inflightSource)
)

func inflightNearLimit(p *checks.Pass) {
	for t, f := range checks.Each(p, apiserver.Fairness) {
		reading, mutating, told := limits(p, t)
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
		status, limit := checks.OK, p.At(inflightWarnAt)
		switch {
		case used >= p.At(inflightUrgentAt):
			status, limit = checks.Warning, p.At(inflightUrgentAt)
		case used >= p.At(inflightWarnAt):
			status = checks.Warning
		case used >= p.At(inflightAdviceAt) && told && reading+mutating < defaultReading+defaultMutating:
			status, limit = checks.Info, p.At(inflightAdviceAt)
		}
		whence := ""
		if status != checks.OK && told {
			whence = chosen(reading, mutating)
		}
		p.Judge(t, status, "%.0f of %.0f %s in flight (%s)%s", worst.n, worst.limit, worst.what, checks.Percent(used), whence).
			Saw(apiserver.Fairness, "in flight", fmt.Sprintf("%.0f", worst.n), checks.Percent(limit)+fmt.Sprintf(" of %.0f", worst.limit), inflightSource).
			Saw(apiserver.Fairness, "limit", fmt.Sprintf("%.0f", worst.limit), "", worst.from).
			Number("used", used).Number("inflight", all)
	}
}

// chosen says, of limits that are used, what they are and whether somebody chose
// them.
func chosen(reading, mutating float64) string {
	words := "which is the default together"
	switch all := reading + mutating; {
	case all < defaultReading+defaultMutating:
		words = fmt.Sprintf("lowered from the default, together %d", defaultReading+defaultMutating)
	case all > defaultReading+defaultMutating:
		words = fmt.Sprintf("raised from the default, together %d", defaultReading+defaultMutating)
	}
	return fmt.Sprintf("; --max-requests-inflight=%.0f, --max-mutating-requests-inflight=%.0f, %s", reading, mutating, words)
}

// limits are those on an instance's command line. Where the instance cannot be
// told apart they are those of all, if they are the same. Without a command line
// they are the defaults, and not told.
func limits(p *checks.Pass, t collectors.Target) (reading, mutating float64, told bool) {
	reading, mutating = defaultReading, defaultMutating
	answers, _ := checks.All(p, apiserver.CommandLines)
	for _, a := range answers {
		if a.Gap != nil || t.Name != "" && !a.Target.Is(t) {
			continue
		}
		r, m := limit(a.Value, "max-requests-inflight", defaultReading), limit(a.Value, "max-mutating-requests-inflight", defaultMutating)
		if told && (r != reading || m != mutating) {
			return defaultReading, defaultMutating, false
		}
		reading, mutating, told = r, m, true
	}
	return reading, mutating, told
}

func limit(f apiserver.Flags, name string, otherwise float64) float64 {
	if v, err := strconv.ParseFloat(f.Get(name, ""), 64); err == nil && v >= 0 {
		return v
	}
	return otherwise
}
