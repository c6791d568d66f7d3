package apiserver

import (
	_ "embed"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed leader_election_starved.md
var leaderElectionStarvedDoc string

// LeaderElectionStarved looks for lease renewals that wait for a seat, or get
// none: leaders are about to lose their leases.
var LeaderElectionStarved = &checks.Check{
	ID:        "apf-leader-election-starved",
	Component: collectors.APIServer,
	Title:     "lease renewals get a seat at once",
	Doc:       leaderElectionStarvedDoc,
	Needs:     []collectors.Any{apiserver.Fairness},
	Remedies: []checks.Remedy{
		{Title: "see who holds the seats of the level", Command: "kubectl get --raw /debug/api_priority_and_fairness/dump_requests", Risk: checks.ReadOnly},
		{Title: "see which requests the level takes in", Command: "kubectl get flowschemas -o wide", Risk: checks.ReadOnly},
	},
	Run: leaderElectionStarved,
}

// leaderElection is the level of the suggested configuration that takes in the
// leases of the cluster's own components.
const leaderElection = "leader-election"

var (
	// A leader tries to renew every 2 s and gives up after 10 s. Source:
	// kube-scheduler and kube-controller-manager, --leader-elect-retry-period,
	// --leader-elect-renew-deadline.
	renewCritical = checks.Limit{Seconds: 2, Share: 0.01, Status: checks.Critical, Source: "leader election: retry period of 2 s"}
	renewWarn     = checks.Limit{Seconds: 0.5, Share: 0.01, Status: checks.Warning, Source: "a quarter of the retry period"}
)

func leaderElectionStarved(p *checks.Pass) {
	for t, f := range eachFairness(p) {
		l, ok := f.Level(leaderElection)
		if !ok {
			p.Nothing(t, "there is no priority level %s", leaderElection)
			continue
		}
		v := checks.JudgeLatency(l.Wait, renewCritical, renewWarn)
		refused := l.Refused().Window
		switch {
		case refused > 0 && v.Status != checks.Critical:
			p.Warn(t, "%s for leases rejected in %s, beside %.0f executed", checks.Count(refused, "request"), checks.Span(f.Elapsed), l.Dispatched.Window).
				Saw(apiserver.Fairness, "rejected", checks.Count(refused, "request"), "0", "leader election: each renewal counts").
				Number("rejected", refused).Number("p99", v.P99.Value)
		case v.Status == checks.Unknown:
			p.Nothing(t, "no request for a lease in the window")
		default:
			f := p.Judge(t, v.Status, "requests for leases wait for a seat: %s", v).
				Saw(apiserver.Fairness, "waits above "+checks.Seconds(v.Edge), checks.Percent(v.Above/v.Count), checks.Percent(v.Limit.Share), v.Limit.Source).
				Number("p99", v.P99.Value).Number("rejected", refused)
			if v.TooFew {
				f.TooFew()
			}
		}
	}
}
