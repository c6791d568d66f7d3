package html

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/report"
	"github.com/ktriage/ktriage/internal/term"
	"github.com/ktriage/ktriage/internal/vitals"
)

//go:embed index.tmpl
var index string

// A Run is one of several runs, as the page over time tells it.
type Run struct {
	Page     string // where its own page is, relative to the page over time
	At       time.Time
	Lost     string // why it cannot be told; nothing below is set then
	Cluster  report.Cluster
	Status   checks.Status
	Totals   report.Totals
	Problems []Trouble
	Vitals   []vitals.Vital
	// Changes are since the run before it; nil of the first.
	Changes *report.Changes
}

// A Trouble is a problem of a run.
type Trouble struct {
	report.Also
	Since time.Time // of the first of the runs without a break that tell it
	Runs  int       // how many those are
}

// Index writes the page over runs, of which the earliest is first. Older is how
// many there are that it does not tell.
func Index(w io.Writer, runs []Run, older int) error {
	t, err := template.New("index").Funcs(template.FuncMap{
		"clean": term.Clean,
		"count": checks.Count[int],
		"upper": func(s checks.Status) string { return word(s) },
		"rfc":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"short": func(t time.Time) string { return t.UTC().Format("01-02 15:04") },
	}).Parse(index)
	if err != nil {
		return err
	}
	told := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Lost != "" })
	var last *Run
	if len(told) > 0 {
		last = &told[len(told)-1]
	}
	var b bytes.Buffer
	if err := t.Execute(&b, struct {
		Policy  string
		Style   template.CSS
		Last    *Run
		Strip   template.HTML
		Runs    int
		Older   int
		Courses []component
		News    []news
	}{Policy(), template.CSS(style), last, strip(runs), len(runs), older, components(told), newest(runs)}); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

const (
	stripHeight = 36
	slotWidth   = 7
)

// strip draws the status of each run, the latest at the right. Height tells it
// too, for who sees no colours.
func strip(runs []Run) template.HTML {
	if len(runs) == 0 {
		return ""
	}
	width := slotWidth * len(runs)
	svg := fmt.Sprintf(`<svg class="strip" role="img" aria-label="the status of %s" width="%d" height="%d" viewBox="0 0 %d %d">`, checks.Count(len(runs), "run"), width, stripHeight, width, stripHeight)
	for i, r := range runs {
		status, word := r.Status.String(), r.Status.String()
		height := map[checks.Status]int{checks.Critical: stripHeight, checks.Unknown: 28, checks.Warning: 20, checks.Info: 8, checks.Suppressed: 8, checks.OK: 8}[r.Status]
		if r.Lost != "" {
			status, word, height = "lost", "cannot be read", 4
		}
		svg += fmt.Sprintf(`<a href="%s"><rect class="slot" x="%d" y="0" width="%d" height="%d"/><rect class="dot %s" x="%d" y="%d" width="%d" height="%d"/><title>%s: %s</title></a>`,
			escaped(r.Page), i*slotWidth, slotWidth-1, stripHeight, status, i*slotWidth, stripHeight-height, slotWidth-1, height, r.At.UTC().Format("2006-01-02 15:04:05 UTC"), escaped(word))
	}
	return template.HTML(svg + "</svg>")
}

// A component has the courses of its vitals.
type component struct {
	Name string
	Rows []over
}

// over is a number over runs.
type over struct {
	Name, Now   string
	Least, Most string
	Course      template.HTML
}

// components are the numbers of the last run that earlier runs have too.
func components(runs []Run) []component {
	if len(runs) < 2 {
		return nil
	}
	var past []Past
	for _, r := range runs[:len(runs)-1] {
		past = append(past, Past{r.At, r.Vitals})
	}
	before := courses(past)
	var out []component
	for _, v := range runs[len(runs)-1].Vitals {
		ps := before[key(v)]
		drawn := course(v, ps)
		if drawn == "" {
			continue
		}
		least, most := v.Value, v.Value
		for _, p := range ps {
			least, most = min(least, p.value), max(most, p.value)
		}
		at := func(x float64) string {
			return term.Clean(vitals.Vital{Value: x, Unit: v.Unit}.String())
		}
		name := term.Clean(string(v.Component))
		if len(out) == 0 || out[len(out)-1].Name != name {
			out = append(out, component{Name: name})
		}
		c := &out[len(out)-1]
		c.Rows = append(c.Rows, over{
			Name: strings.TrimSpace(term.Clean(v.Name+" "+v.Of) + " " + term.Clean(v.Target.Name)),
			Now:  term.Clean(v.String()), Least: at(least), Most: at(most), Course: drawn,
		})
	}
	return out
}

// news is what a run says otherwise than the one before it; of runs in a row that
// say nothing new there is one.
type news struct {
	Run
	Items  []report.Change
	Unseen int // verdicts that are not to be had any more
	Quiet  int // runs in a row, this one included, that say nothing new
	From   time.Time
}

// newest lists the news, the latest first.
func newest(runs []Run) []news {
	var out []news
	for i := len(runs) - 1; i >= 0; i-- {
		n := news{Run: runs[i], From: runs[i].At}
		if n.Changes != nil {
			for _, c := range n.Changes.Changes {
				switch {
				case c.Of != 0 || c.Kind == report.Seen:
				case c.Kind == report.Unseen && (c.Before == nil || !c.Before.Status.Bad()):
					n.Unseen++
				default:
					n.Items = append(n.Items, c)
				}
			}
			if len(n.Items) == 0 && n.Unseen == 0 {
				n.Quiet = 1
				if last := len(out) - 1; last >= 0 && out[last].Quiet > 0 && out[last].Status == n.Status {
					out[last].Quiet++
					out[last].From = n.At
					continue
				}
			}
		}
		out = append(out, n)
	}
	return out
}
