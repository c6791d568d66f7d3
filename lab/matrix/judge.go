package matrix

import (
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/lab/faults"
)

// Judge lists what is wrong with ktriage's report on f; nothing, if the first
// problem is the cause and all others are symptoms or to be expected.
func Judge(r Report, f faults.Fault) []string {
	if f.Healthy() {
		return judgeHealthy(r, f)
	}
	var wrong []string
	if r.Exit == ExitOK {
		wrong = append(wrong, "exit code 0 on a broken cluster")
	}
	if len(r.Problems) == 0 {
		return append(wrong, "no problem found")
	}
	expected := append([]faults.Problem{f.Want}, f.Or...)
	first := r.Problems[0]
	if !slices.ContainsFunc(expected, first.is) {
		wrong = append(wrong, fmt.Sprintf("first is %s of %s, not %s", first.Check, first.Target, names(expected)))
	}
	for _, p := range falseAlarms(r, f) {
		wrong = append(wrong, fmt.Sprintf("%s of %s stands alone: %s", p.Check, p.Target, p.Summary))
	}
	return wrong
}

// falseAlarms lists what ktriage found beside the cause that is neither a symptom
// nor to be expected; of a healthy cluster, all that it found.
func falseAlarms(r Report, f faults.Fault) []Finding {
	var out []Finding
	if f.Healthy() {
		for _, x := range r.Findings {
			if x.Status == "warning" || x.Status == "critical" {
				out = append(out, x)
			}
		}
		return out
	}
	expected := append([]faults.Problem{f.Want}, f.Or...)
	for _, p := range r.Problems {
		own := slices.ContainsFunc(expected, func(e faults.Problem) bool { return e.Check == p.Check })
		if !own && !slices.Contains(f.Also, p.Check) {
			out = append(out, p.Finding)
		}
	}
	return out
}

func judgeHealthy(r Report, shape faults.Fault) []string {
	var wrong []string
	// What ktriage asks since a recording was made is unknown in it.
	if r.Exit != ExitOK && !(r.Recorded && r.Exit == exitUnknown) {
		wrong = append(wrong, fmt.Sprintf("exit code %d on a healthy cluster", r.Exit))
	}
	if len(r.Findings) == 0 {
		wrong = append(wrong, "no findings: nothing was looked at")
	}
	for _, f := range falseAlarms(r, shape) {
		wrong = append(wrong, fmt.Sprintf("%s from %s of %s: %s", f.Status, f.Check, f.Target, f.Summary))
	}
	return wrong
}

func (p Problem) is(want faults.Problem) bool {
	return p.Check == want.Check && (want.Target == "" || p.Target == want.Target)
}

func names(problems []faults.Problem) string {
	var s string
	for i, p := range problems {
		if i > 0 {
			s += " or "
		}
		s += p.Check
		if p.Target != "" {
			s += " of " + p.Target
		}
	}
	return s
}
