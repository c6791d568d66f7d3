// Package prometheus writes a report as metrics in the text format, for a
// textfile collector or a scrape.
package prometheus

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
)

var statuses = []checks.Status{checks.Critical, checks.Warning, checks.Unknown, checks.Info, checks.Suppressed, checks.OK, checks.OutOfScope}

// Write writes the metrics. Those of rules are there with 0 too, so that an alert
// ends when the trouble does.
func Write(w io.Writer, r *report.Report) error {
	var out families
	out.add("ktriage_run_timestamp_seconds", "When the run began, in seconds since 1970.", float64(r.StartedAt.UnixMilli())/1000)
	out.add("ktriage_run_duration_seconds", "How long the run took.", r.DurationSeconds)
	out.add("ktriage_run_window_seconds", "How long counters were watched.", r.WindowSeconds)
	out.add("ktriage_run_requests", "Requests that the run made.", float64(r.Cost.Requests))
	out.add("ktriage_info", "The version of ktriage and the cluster that was looked at; always 1.", 1,
		"version", r.Tool.Version, "cluster", r.Cluster.Name, "cluster_version", r.Cluster.Version, "distribution", r.Cluster.Distribution, "mode", r.Cluster.Mode)
	for _, s := range statuses {
		out.add("ktriage_status", "1 for the status of the run, 0 for all others.", one(s == r.Status), "status", s.String())
	}
	out.checks(r)
	out.problems(r)
	for _, c := range r.Cluster.Reached {
		out.add("ktriage_instances_known", "Instances of a component that are known of.", float64(c.Known), "component", string(c.Component))
		out.add("ktriage_instances_answered", "Instances of a component that answered.", float64(c.Answered), "component", string(c.Component))
	}
	out.vitals(r)
	return out.write(w)
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (fs *families) checks(r *report.Report) {
	type key struct {
		check  checks.ID
		status checks.Status
	}
	count := map[key]int{}
	component := map[checks.ID]string{}
	var ids []checks.ID
	for _, f := range r.Findings {
		if _, ok := component[f.Check]; !ok {
			component[f.Check] = string(f.Component)
			ids = append(ids, f.Check)
		}
		count[key{f.Check, f.Status}]++
	}
	for _, id := range ids {
		for _, s := range []checks.Status{checks.Critical, checks.Warning, checks.Unknown, checks.Suppressed} {
			fs.add("ktriage_check_verdicts", "Verdicts of a rule that are trouble, unknown or suppressed, by status.", float64(count[key{id, s}]),
				"check", string(id), "component", component[id], "status", s.String())
		}
	}
	total := map[checks.Status]int{}
	for _, f := range r.Findings {
		total[f.Status]++
	}
	for _, s := range statuses {
		fs.add("ktriage_verdicts", "All verdicts by status.", float64(total[s]), "status", s.String())
	}
}

func (fs *families) problems(r *report.Report) {
	count := map[checks.Status]int{}
	for _, p := range r.Problems {
		count[p.Status]++
		fs.add("ktriage_problem_symptoms", "Problems, which nothing else explains, with how many verdicts each of them explains.", float64(len(p.Symptoms)),
			"check", string(p.Check), "component", string(p.Component), "target", p.Target.String(), "status", p.Status.String())
	}
	for _, s := range []checks.Status{checks.Critical, checks.Warning} {
		fs.add("ktriage_problems", "Problems by status.", float64(count[s]), "status", s.String())
	}
}

// units are the metrics of vitals by their unit, in base units.
var units = map[string]struct {
	name, help string
	factor     float64
}{
	"s":   {"ktriage_vital_seconds", "Vitals that are times.", 1},
	"B":   {"ktriage_vital_bytes", "Vitals that are sizes.", 1},
	"%":   {"ktriage_vital_ratio", "Vitals that are ratios.", 0.01},
	"1/s": {"ktriage_vital_per_second", "Vitals that are rates.", 1},
	"":    {"ktriage_vital_number", "Vitals that are numbers of things.", 1},
}

func (fs *families) vitals(r *report.Report) {
	for _, v := range r.Vitals {
		u, ok := units[v.Unit]
		if !ok {
			continue
		}
		fs.add(u.name, u.help, v.Value*u.factor, "component", string(v.Component), "target", v.Target.String(), "name", v.Name, "of", v.Of, "basis", string(v.Basis), "text", v.Text)
	}
}

// families are metrics by name, in the order in which they were added.
type families struct{ all []*dto.MetricFamily }

func (fs *families) add(name, help string, value float64, labels ...string) {
	i := slices.IndexFunc(fs.all, func(f *dto.MetricFamily) bool { return f.GetName() == name })
	if i < 0 {
		i = len(fs.all)
		kind := dto.MetricType_GAUGE
		fs.all = append(fs.all, &dto.MetricFamily{Name: &name, Help: &help, Type: &kind})
	}
	m := &dto.Metric{Gauge: &dto.Gauge{Value: &value}}
	for n := 0; n < len(labels); n += 2 {
		if labels[n+1] == "" {
			continue // an empty label is none
		}
		clean := term.Clean(labels[n+1])
		m.Label = append(m.Label, &dto.LabelPair{Name: &labels[n], Value: &clean})
	}
	fs.all[i].Metric = append(fs.all[i].Metric, m)
}

func (fs *families) write(w io.Writer) error {
	var b bytes.Buffer
	for _, f := range fs.all {
		f.Metric = unique(f.Metric)
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// unique keeps the first of the series with the same labels: two would make a
// scraper refuse all.
func unique(ms []*dto.Metric) []*dto.Metric {
	seen := map[string]bool{}
	return slices.DeleteFunc(ms, func(m *dto.Metric) bool {
		var words []string
		for _, l := range m.Label {
			words = append(words, l.GetName()+"\x00"+l.GetValue())
		}
		slices.SortFunc(words, cmp.Compare[string])
		k := strings.Join(words, "\x01")
		defer func() { seen[k] = true }()
		return seen[k]
	})
}
