package deliver

import (
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

// A ReportAPI is an API by which clusters keep reports of policies.
type ReportAPI struct{ Group, Version, Resource, Kind string }

// ReportAPIs are those that ktriage can write, the newer one first: OpenReports,
// and the PolicyReport of the Kubernetes policy working group that it came of. A
// result has the same fields in both.
var ReportAPIs = []ReportAPI{
	{"openreports.io", "v1alpha1", "clusterreports", "ClusterReport"},
	{"wgpolicyk8s.io", "v1alpha2", "clusterpolicyreports", "ClusterPolicyReport"},
}

// ReportName is that of ktriage's object.
const ReportName = "ktriage"

// A PolicyReport is a report in the form of those APIs.
type PolicyReport struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Metadata   policyMeta       `json:"metadata"`
	Source     string           `json:"source,omitempty"` // OpenReports only; the older API has it with each result
	Summary    map[string]int64 `json:"summary"`
	Results    []policyResult   `json:"results"`
}

type policyMeta struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type policyResult struct {
	Source     string            `json:"source"`
	Policy     string            `json:"policy"`
	Rule       string            `json:"rule,omitempty"`
	Category   string            `json:"category"`
	Message    string            `json:"message"`
	Result     string            `json:"result"`
	Severity   string            `json:"severity,omitempty"`
	Scored     bool              `json:"scored"`
	Timestamp  policyTime        `json:"timestamp"`
	Properties map[string]string `json:"properties"`
}

type policyTime struct {
	Seconds int64 `json:"seconds"`
	Nanos   int32 `json:"nanos"`
}

// results are what those APIs call the statuses. "error" is a rule that could
// not be evaluated: neither a pass nor a failure.
var results = map[checks.Status]struct{ result, severity string }{
	checks.Critical:   {"fail", "critical"},
	checks.Warning:    {"warn", "medium"},
	checks.Unknown:    {"error", ""},
	checks.Info:       {"pass", "info"},
	checks.OK:         {"pass", ""},
	checks.OutOfScope: {"skip", ""},
	checks.Suppressed: {"skip", ""},
}

const (
	// maxResults bounds the object, which etcd keeps up to 1.5 MiB of. What is left
	// out is counted in the summary all the same; what is worst is listed first.
	maxResults = 1000
	// maxResult bounds the message of one.
	maxResult = 500
)

// ForReports makes the object of a report.
func ForReports(api ReportAPI, r *report.Report) PolicyReport {
	out := PolicyReport{
		APIVersion: api.Group + "/" + api.Version, Kind: api.Kind,
		Metadata: policyMeta{ReportName, map[string]string{managed: manager}, map[string]string{
			"ktriage.dev/started-at": r.StartedAt.UTC().Format("2006-01-02T15:04:05Z"), "ktriage.dev/status": r.Status.String(),
		}},
		Summary: map[string]int64{"pass": 0, "fail": 0, "warn": 0, "error": 0, "skip": 0},
		Results: []policyResult{},
	}
	if api.Group == "openreports.io" {
		out.Source = manager
	}
	fs := slices.Clone(r.Findings)
	slices.SortStableFunc(fs, func(a, b report.Finding) int { return b.Status.Severity() - a.Status.Severity() })
	for _, f := range fs {
		k := results[f.Status]
		out.Summary[k.result]++
		if len(out.Results) == maxResults {
			continue
		}
		x := policyResult{
			Source: manager, Policy: term.Clean(string(f.Check)), Rule: term.Clean(string(f.Check)), Category: term.Clean(string(f.Component)), Message: cut(term.Clean(f.Target.String()+": "+f.Summary), maxResult),
			Result: k.result, Severity: k.severity, Scored: true, Timestamp: policyTime{Seconds: r.StartedAt.Unix()},
			Properties: map[string]string{"target": cut(term.Clean(f.Target.String()), maxResult), "status": f.Status.String()},
		}
		if f.Explained {
			x.Properties["explained"] = "true"
		}
		out.Results = append(out.Results, x)
	}
	return out
}
