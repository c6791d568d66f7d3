package pending

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/internal/fit"
)

// A Tally counts what came of holding the model against the scheduler.
type Tally struct {
	Worlds, Judged, Fits, Again int
	Wrong, Miscounted           int
	Changes, Unhelpful          int
	Hopeless, Held              int
	// Reasons counts on how many pods each reason of the scheduler was seen, Kinds how
	// often each kind of edit was tried.
	Reasons map[string]int
	Kinds   map[fit.ChangeKind]int
	// Differences are all there were; NotTaken what the API server did not admit.
	Differences []string
	NotTaken    map[string]int
}

// NewTally is an empty one.
func NewTally() *Tally {
	return &Tally{Reasons: map[string]int{}, Kinds: map[fit.ChangeKind]int{}, NotTaken: map[string]int{}}
}

// Agreed notes a pod of which both said the same.
func (t *Tally) Agreed(v fit.Verdict, attempt int) {
	if attempt > 0 {
		t.Again++
	}
	if v.State == fit.Fits {
		t.Fits++
		return
	}
	if len(v.Blocked) > 0 {
		t.Reasons[plain(v.Blocked[0].Reason)]++
		return
	}
	for _, c := range v.Reasons {
		t.Reasons[plain(c.Reason)]++
	}
}

// plain leaves out names of a world.
func plain(reason string) string {
	words := strings.Fields(reason)
	for i, w := range words {
		trimmed := strings.Trim(w, `"`)
		if len(trimmed) > 1 && trimmed[0] == 'w' && trimmed[1] >= '0' && trimmed[1] <= '9' {
			words[i] = "NAME"
		}
	}
	return strings.Join(words, " ")
}

// Differ notes a pod of which they said other things.
func (t *Tally) Differ(what string, sameVerdict bool, want, got Ruling) {
	if sameVerdict {
		t.Miscounted++
	} else {
		t.Wrong++
	}
	t.Differences = append(t.Differences, fmt.Sprintf("%s. The scheduler: fits %v, error %v, %q. ktriage: fits %v, error %v, %q.", what, want.Fits, want.Error, want.Message, got.Fits, got.Error, got.Message))
}

// Refused notes what the API server did not admit.
func (t *Tally) Refused(err error) {
	s := err.Error()
	if i := strings.Index(s, "is invalid:"); i > 0 {
		s = s[i:]
	}
	t.NotTaken[plain(s)]++
}

// Tried notes a change that was made.
func (t *Tally) Tried(c fit.Change, placed bool) {
	t.Changes++
	for _, e := range c.Edits {
		t.Kinds[e.Kind]++
	}
	if !placed {
		t.Unhelpful++
		t.Differences = append(t.Differences, "did not help: "+c.Summary)
	}
}

func (t *Tally) String() string {
	return fmt.Sprintf("%d pods in %d worlds judged, %d fit; %d verdicts and %d counts differ; %d changes tried, %d did not help, %d pods had none; %d asked again; %d not admitted",
		t.Judged, t.Worlds, t.Fits, t.Wrong, t.Miscounted, t.Changes, t.Unhelpful, t.Hopeless, t.Again, len(t.NotTaken))
}

// Markdown is the report.
func (t *Tally) Markdown(seed uint64, library []string) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# ktriage pending against the real scheduler")
	p("")
	p("Random clusters of up to 20 nodes and 50 pods, and random pods of all constraint kinds, were given to the real")
	p("kube-scheduler of Kubernetes 1.37.2 behind a real API server and to ktriage's model of it. Of each pod the verdict")
	p("(can it be scheduled) and the count of each reason in the scheduler's own message were compared, to the letter. For")
	p("a third of the pods that fit nowhere the smallest change that ktriage proposes was made, and the scheduler asked to place the pod.")
	p("Made by `make differential CASES=%d` (first seed %d); the same numbers make the same clusters.", t.Judged, seed)
	p("")
	p("| | |")
	p("|---|---|")
	p("| pods judged | %d, in %d clusters |", t.Judged, t.Worlds)
	p("| of them fit | %d |", t.Fits)
	p("| of them not even tried by the scheduler, as ktriage said | %d |", t.Held)
	p("| verdicts that differ | %d |", t.Wrong)
	p("| same verdict, other counts of reasons | %d |", t.Miscounted)
	p("| changes made | %d |", t.Changes)
	p("| after which the scheduler did not place the pod | %d |", t.Unhelpful)
	p("| pods for which no change was found | %d |", t.Hopeless)
	p("| pods asked about again, because the scheduler had not seen the last writes | %d |", t.Again)
	if len(library) > 0 {
		p("")
		p("The same scheduler as a library, which judges faster and places nothing:")
		p("")
		for _, s := range library {
			p("- %s", s)
		}
	}
	p("")
	p("## Reasons seen")
	p("")
	p("On how many pods each reason of the scheduler stood in a message on which both agree:")
	p("")
	p("| reason | pods |")
	p("|---|---|")
	for _, r := range slices.SortedFunc(maps.Keys(t.Reasons), func(a, b string) int {
		if t.Reasons[a] != t.Reasons[b] {
			return t.Reasons[b] - t.Reasons[a]
		}
		return strings.Compare(a, b)
	}) {
		p("| %s | %d |", strings.ReplaceAll(r, "|", `\|`), t.Reasons[r])
	}
	p("")
	p("## Changes made")
	p("")
	p("| edit | times |")
	p("|---|---|")
	for _, k := range slices.Sorted(maps.Keys(t.Kinds)) {
		p("| %s | %d |", k, t.Kinds[k])
	}
	p("")
	p("## Differences")
	p("")
	if len(t.Differences) == 0 {
		p("None.")
	}
	for _, d := range t.Differences {
		p("- %s", d)
	}
	if len(t.NotTaken) > 0 {
		p("")
		p("## Not admitted")
		p("")
		p("What the API server refused of the random objects, which then were not compared:")
		p("")
		for _, k := range slices.Sorted(maps.Keys(t.NotTaken)) {
			p("- %d: %s", t.NotTaken[k], k)
		}
	}
	return b.String()
}
