package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/diagnose"
)

// A Suppression says that the user knows of trouble, why it is left alone, and
// until when. What it meets is told, and neither counts as ok nor raises the
// exit code.
type Suppression struct {
	Check  string `json:"check"`            // an ID, with * for any part
	Target string `json:"target,omitempty"` // as reports spell it, with * for any part; empty for all
	Reason string `json:"reason"`
	// Expires is when it ends; zero for one that was said to last for ever.
	Expires time.Time `json:"expires,omitzero"`
	// AtMost is the worst that it covers: a warning that becomes critical is
	// told again. Empty for whatever is not ok.
	AtMost string `json:"atMost,omitempty"`
	From   string `json:"from"` // where it is written: "/etc/ktriage/ktriage.yaml:12"
	// Expired is set by New for one that had ended when the run began.
	Expired bool `json:"expired,omitempty"`
	Met     int  `json:"met"` // verdicts that it suppresses or, expired, no longer does
}

// SuppressedBy says what a verdict was, and why it is suppressed.
type SuppressedBy struct {
	Status  checks.Status `json:"status"` // what it would be
	Reason  string        `json:"reason"`
	Expires time.Time     `json:"expires,omitzero"`
	From    string        `json:"from,omitempty"`
}

// Told is the suppression in one line: "warning, suppressed until 2026-12-31:
// the disk is being replaced (ktriage.yaml:12)".
func (s *SuppressedBy) Told() string {
	out := fmt.Sprintf("%s, suppressed %s: %s", s.Status, until(s.Expires), s.Reason)
	if s.From != "" {
		out += " (" + s.From + ")"
	}
	return out
}

func until(t time.Time) string {
	switch {
	case t.IsZero():
		return "for ever"
	case t.Equal(t.Truncate(24 * time.Hour)):
		return "until the end of " + t.UTC().Add(-time.Hour).Format(time.DateOnly)
	}
	return "until " + t.UTC().Format(time.RFC3339)
}

// Ends tells until when the suppression holds.
func (s Suppression) Ends() string { return until(s.Expires) }

// A SuppressionLine is about one verdict that is suppressed, or about one
// suppression that has expired.
type SuppressionLine struct {
	Text    string
	Expired bool
}

// SuppressionLines tells in plain words which verdicts are suppressed, and which
// suppressions have expired while what they are about goes on.
func (r *Report) SuppressionLines() []SuppressionLine {
	var out []SuppressionLine
	for _, f := range r.Findings {
		if f.Suppressed != nil {
			out = append(out, SuppressionLine{Text: fmt.Sprintf("%s: %s: %s: %s", f.Target, f.Check, f.Summary, f.Suppressed.Told())})
		}
	}
	for _, s := range r.Suppressions {
		if s.Expired {
			out = append(out, SuppressionLine{s.told(), true})
		}
	}
	return out
}

func (s Suppression) told() string {
	what := s.Check
	if s.Target != "" {
		what += " on " + s.Target
	}
	end := "what it was about is no longer found: take it away"
	if s.Met > 0 {
		end = fmt.Sprintf("%s again", checks.Count(s.Met, "verdict")+" that it was about count")
		if s.Met == 1 {
			end = "the verdict that it was about counts again"
		}
	}
	return fmt.Sprintf("the suppression of %s (%s) has expired, it was %s: %s (%s)", what, s.Reason, until(s.Expires), end, s.From)
}

// covers reports whether a verdict is what the suppression is about.
func (s Suppression) covers(f checks.Finding) bool {
	switch f.Status {
	case checks.Critical:
		if s.AtMost != "" && s.AtMost != checks.Critical.String() {
			return false
		}
	case checks.Unknown:
		if s.AtMost == checks.Warning.String() {
			return false
		}
	case checks.Warning, checks.Info:
	default:
		return false
	}
	return Glob(s.Check, string(f.Check)) && (s.Target == "" || Glob(s.Target, f.Target.String()))
}

// Glob reports whether a pattern, in which * stands for any text, is all of s.
func Glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, last)
}

// suppress marks the findings that suppressions cover at the time at. With a
// cause goes what could not be judged because of it: who has said that a member
// is down knows that it cannot be asked. Trouble that a suppressed cause brings
// about is trouble still.
func suppress(fs []checks.Finding, ss []Suppression, at time.Time) (out []checks.Finding, by []*SuppressedBy, told []Suppression) {
	by = make([]*SuppressedBy, len(fs))
	if len(ss) == 0 {
		return fs, by, nil
	}
	told = slices.Clone(ss)
	for i, f := range fs {
		for n := range told {
			s := &told[n]
			if !s.covers(f) {
				continue
			}
			s.Expired = !s.Expires.IsZero() && !at.Before(s.Expires)
			s.Met++
			if !s.Expired && by[i] == nil {
				by[i] = &SuppressedBy{f.Status, s.Reason, s.Expires, s.From}
			}
		}
	}
	for n := range told {
		told[n].Expired = !told[n].Expires.IsZero() && !at.Before(told[n].Expires)
	}
	follow(fs, by)
	out = slices.Clone(fs)
	for i := range out {
		if by[i] != nil {
			out[i].Status, out[i].Gap = checks.Suppressed, nil
		}
	}
	return out, by, told
}

// follow suppresses the gaps whose cause is suppressed.
func follow(fs []checks.Finding, by []*SuppressedBy) {
	type key struct {
		check  checks.ID
		target string
	}
	at := map[key]int{}
	for i, f := range fs {
		at[key{f.Check, f.Target.String()}] = i
	}
	of := func(f checks.Finding) *SuppressedBy { return by[at[key{f.Check, f.Target.String()}]] }
	for _, p := range diagnose.Diagnose(fs, diagnose.Links).Problems {
		for _, s := range p.Symptoms {
			i := at[key{s.Check, s.Target.String()}]
			if s.Status != checks.Unknown || by[i] != nil {
				continue
			}
			cause, on := reason(p, s, of)
			if cause != nil {
				c := *cause
				c.Status, c.Reason = checks.Unknown, fmt.Sprintf("it cannot be known while %s is so, which is suppressed: %s", on, cause.Reason)
				by[i] = &c
			}
		}
	}
}

// reason returns the suppression of the direct cause of a gap. Of a cause on
// several targets it is that on the gap's own place, or else all must be suppressed.
func reason(p diagnose.Problem, s diagnose.Symptom, of func(checks.Finding) *SuppressedBy) (*SuppressedBy, string) {
	told := func(f checks.Finding) string { return fmt.Sprintf("%s on %s", f.Check, f.Target) }
	if s.Of > 0 {
		f := p.Symptoms[s.Of-1].Finding
		return of(f), told(f)
	}
	roots := append([]checks.Finding{p.Root}, p.Siblings...)
	for _, f := range roots {
		if f.Target.Is(s.Target) || f.Target.Node != "" && f.Target.Node == s.Target.Node {
			return of(f), told(f)
		}
	}
	for _, f := range roots {
		if of(f) == nil {
			return nil, ""
		}
	}
	return of(p.Root), told(p.Root)
}

// seen leaves out what is suppressed: it takes no part in the diagnosis.
func seen(fs []checks.Finding) []checks.Finding {
	return slices.DeleteFunc(slices.Clone(fs), func(f checks.Finding) bool { return f.Status == checks.Suppressed })
}
