package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/logs"
)

// All lists this package's checks.
var All = all()

func all() []*checks.Check {
	var out []*checks.Check
	for i := range logs.Signatures {
		out = append(out, newCheck(&logs.Signatures[i]))
	}
	return out
}

func newCheck(s *logs.Signature) *checks.Check {
	risk := checks.ReadOnly
	if s.Changes {
		risk = checks.Disruptive
	}
	return &checks.Check{
		ID: checks.ID(s.ID), Component: s.Component, Title: s.Healthy, Doc: page(s), Needs: []collectors.Any{logs.Seen},
		Remedies: []checks.Remedy{{Title: s.NextTitle, Command: s.Next, Risk: risk}},
		Run:      func(p *checks.Pass) { judge(p, s) },
	}
}

const (
	// What stopped an hour before the evidence ends is history.
	history = time.Hour
	// A component that starts meets others that do not run yet; what ends
	// within that time, while the log goes on, is no trouble.
	starting = 2 * time.Minute
	goesOn   = time.Minute
	// A log that goes on for so long without is the account of a trouble that
	// is over [exp].
	quiet = 10 * time.Minute
	// Shorter times are not worth telling.
	told = 100 * time.Millisecond

	signatureSource = "heuristic"
)

func judge(p *checks.Pass, s *logs.Signature) {
	whole := collectors.Target{Component: s.Component}
	t, gap := checks.One(p, logs.Seen)
	if gap != nil {
		p.Unknown(whole, gap)
		return
	}
	lines, looked, bad := 0, 0, false
	for _, l := range t.Logs {
		if !s.Of(l.Role) {
			continue
		}
		looked++
		lines += l.Lines
		for _, h := range l.Hits {
			if h.ID == s.ID {
				bad = true
				tell(p, s, l, h)
			}
		}
	}
	missed := slices.DeleteFunc(slices.Clone(t.Missed), func(m logs.Missed) bool { return !s.Of(m.Role) })
	switch {
	case bad:
	case looked == 0 && len(missed) > 0:
		p.Unknown(whole, missed[0].Gap)
	case looked == 0:
		p.Nothing(whole, "no log of a %s was given", s.Only)
	default:
		where := checks.Count(looked, "log")
		if len(missed) > 0 {
			where += fmt.Sprintf(" (%d more could not be read)", len(missed))
		}
		p.OK(whole, "none of %s in %s tells of %s", checks.Count(lines, "line"), where, s.Words).
			Saw(logs.Seen, "lines", "0", "", "")
	}
}

func tell(p *checks.Pass, s *logs.Signature, l logs.Log, h logs.Hit) {
	status, why := weigh(s, l, h)
	words := fmt.Sprintf("%s: %s", checks.Count(h.Count, "line"), s.Words)
	if !h.Last.IsZero() {
		words += ", " + span(h.First, h.Last, l.NoYear)
	}
	if h.Worst >= told {
		words += ", the longest took " + checks.Seconds(h.Worst.Seconds())
	}
	if c := h.Cause(); c != "" && c != s.Words {
		words += "; " + c
	}
	if why != "" {
		words += "; " + why
	}
	v := p.Judge(collectors.Target{Component: s.Component, Name: cmp.Or(l.Of, l.Name)}, status, "%s", words).
		Saw(logs.Seen, "line", h.Sample, "", "").
		Saw(logs.Seen, "lines", fmt.Sprint(h.Count), fmt.Sprint(max(1, s.Few)), signatureSource).
		Number("lines", float64(h.Count)).Number("longest", h.Worst.Seconds()).
		Mark("log") // the target may be a file
	if c := h.Cause(); c != "" {
		v.Mark("cause=" + c)
	}
}

// weigh says how much the lines of a log mean, and if little, why.
func weigh(s *logs.Signature, l logs.Log, h logs.Hit) (checks.Status, string) {
	dated := !h.Last.IsZero() && !l.At.IsZero()
	ago := l.At.Sub(h.Last)
	switch {
	case s.Severity == logs.Note:
		return checks.Info, ""
	case dated && ago > history:
		return checks.Info, "the last was " + checks.Span(ago) + " before the evidence ends"
	case s.Severity == logs.Terminal:
		return checks.Critical, ""
	case dated && l.Last.Sub(h.Last) > quiet:
		return checks.Info, "the log goes on for " + checks.Span(l.Last.Sub(h.Last)) + " without"
	case h.Count < s.Few:
		return checks.Info, "too few to mean more than an accident"
	case dated && h.Last.Sub(l.First) < starting && l.Last.Sub(h.Last) > goesOn:
		return checks.Info, "all of them from its start; the log goes on for " + checks.Span(l.Last.Sub(h.Last)) + " without"
	}
	return checks.Warning, ""
}

// span writes when something was, in UTC: the date once.
// A year that is a guess is left out.
func span(first, last time.Time, noYear bool) string {
	first, last = first.UTC(), last.UTC()
	day, clock := "2006-01-02 15:04:05", "15:04:05"
	if noYear {
		day = "Jan 2 15:04:05"
	}
	switch {
	case last.Sub(first) < time.Second:
		return "at " + last.Format(day)
	case first.Format(time.DateOnly) == last.Format(time.DateOnly):
		return first.Format(day) + " to " + last.Format(clock)
	}
	return first.Format(day) + " to " + last.Format(day)
}

// page makes the check's page of its signature.
func page(s *logs.Signature) string {
	var b strings.Builder
	whose := "the logs that were given"
	if s.Only != "" {
		whose = "the logs of " + string(s.Only) + " that were given, and those that do not say whose they are"
	}
	fmt.Fprintf(&b, "# %s\n\n## What it looks at\nLines in %s (`--from`), or read with `--logs`, about %s, such as\n\n", s.ID, whose, s.Words)
	for _, e := range s.Example {
		fmt.Fprintf(&b, "    %s\n", e)
	}
	level := map[logs.Severity]string{
		logs.Note:     "They are advice: they explain other findings.",
		logs.Trouble:  "They are a warning.",
		logs.Failure:  "They are a warning, however many there are: no source says how many make an outage. What they tell of is critical where the component itself confirms it.",
		logs.Terminal: "One of them is critical.",
	}[s.Severity]
	if s.Few > 1 {
		level += fmt.Sprintf(" Fewer than %d are no more than advice.", s.Few)
	}
	fmt.Fprintf(&b, "\n%s What stopped an hour before the evidence ends, or\nten minutes before the log does, is advice: it is history.\n", level)
	fmt.Fprintf(&b, "\n## Why it matters\n%s\n\n## What to do\n%s%s:\n\n    %s\n", s.Means, strings.ToUpper(s.NextTitle[:1]), s.NextTitle[1:], s.Next)
	b.WriteString("\n## When it is wrong\nA log tells of the past, and an excerpt of what somebody picked. What the components say of themselves counts more.\n")
	b.WriteString("\nTried: on the lines above, which are of the field; the lab's recordings hold no logs.\n")
	b.WriteString("\n## Facts\n`logs.seen`, which reads each log once and keeps a count, the times and one line.\n")
	return b.String()
}
