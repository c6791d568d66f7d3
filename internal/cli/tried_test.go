package cli_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/suite"
)

// TestTried demands of each check's page that it says what was seen when the
// check was tried on a real control plane, and that it is so: what a page names
// as trouble that the check told in a recording, it tells there.
//
//	go test ./internal/cli -run Tried -update
//
// writes those paragraphs anew. Others are written by people: "By hand:" is what
// was seen of a trouble that is in no recording, "Elsewhere:" what was seen on
// other clusters, and "Not tried:" why a check has met no trouble but that of its
// cases.
func TestTried(t *testing.T) {
	tried, pages := tryAll(t), pageFiles(t)
	for _, c := range suite.All() {
		t.Run(string(c.ID), func(t *testing.T) {
			file := pages[c.ID]
			want := tried.paragraph(c.ID)
			got, rest := paragraph(c.Doc, "Tried:")
			if filepath.Base(filepath.Dir(file)) == "logs" { // which says it in the same words of all
				if got == "" {
					t.Error("its page does not say what was seen when it was tried")
				}
				return
			}
			if flag.Lookup("update").Value.String() == "true" {
				rewrite(t, file, c.Doc, got, want)
				return
			}
			if got == "" {
				t.Fatal("its page does not say what was seen when it was tried")
			}
			told := tried.told(c.ID)
			for _, m := range trialRE.FindAllStringSubmatch(got, -1) {
				if told[m[1]] != m[2] {
					t.Errorf("its page says %s of %s; it says %q", m[2], m[1], told[m[1]])
				}
			}
			hand, _ := paragraph(rest, "By hand:")
			no, _ := paragraph(rest, "Not tried:")
			if len(told) == 0 && no == "" && hand == "" && explained[filepath.Base(filepath.Dir(file))] {
				t.Error("it has met no trouble, and its page does not say why")
			}
		})
	}
}

// A trial is the worst that a check said of a recording.
type trial struct {
	recording string
	verdict
}

type trials struct {
	lab, public map[checks.ID][]trial // by recording
}

// tryAll judges all recordings of the lab and the evidence of all public incidents.
func tryAll(t *testing.T) trials {
	t.Helper()
	all := trials{map[checks.ID][]trial{}, map[checks.ID][]trial{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	limit := make(chan struct{}, 4)
	judge := func(into map[checks.ID][]trial, pattern, suffix string) {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("nothing is recorded as %s (%v)", pattern, err)
		}
		for _, file := range files {
			wg.Go(func() {
				limit <- struct{}{}
				defer func() { <-limit }()
				var got struct {
					Findings []verdict `json:"findings"`
				}
				err := judged(file, &got)
				if err != nil && suffix != "" {
					t.Error(err)
				}
				// Of some incidents there is nothing that ktriage reads; TestIncidents
				// knows which.
				worst := map[checks.ID]verdict{}
				for _, f := range got.Findings {
					if w, ok := worst[checks.ID(f.Check)]; !ok || grave(f.Status) > grave(w.Status) {
						worst[checks.ID(f.Check)] = f
					}
				}
				mu.Lock()
				defer mu.Unlock()
				for id, f := range worst {
					into[id] = append(into[id], trial{strings.TrimSuffix(filepath.Base(file), suffix), f})
				}
			})
		}
	}
	judge(all.lab, "testdata/recordings/*.tar.gz", ".tar.gz")
	judge(all.public, "../../checks/suite/testdata/incidents/*", "")
	wg.Wait()
	for _, m := range []map[checks.ID][]trial{all.lab, all.public} {
		for _, ts := range m {
			slices.SortFunc(ts, func(a, b trial) int { return strings.Compare(a.recording, b.recording) })
		}
	}
	return all
}

// grave orders statuses by how much they say of a check that was tried.
func grave(status string) int {
	return slices.Index([]string{"outOfScope", "unknown", "ok", "info", "warning", "critical"}, status)
}

func trouble(status string) bool { return grave(status) >= grave("info") }

// told is in which recordings the check told trouble, and how grave.
func (a trials) told(id checks.ID) map[string]string {
	out := map[string]string{}
	for _, ts := range [][]trial{a.lab[id], a.public[id]} {
		for _, x := range ts {
			if trouble(x.Status) {
				out[x.recording] = x.Status
			}
		}
	}
	return out
}

// trialRE is how a page names what was told in a recording: `name` (warning).
var trialRE = regexp.MustCompile("`([^`]+)` \\((info|warning|critical)\\)")

// named is how many recordings a page names.
const named = 5

// paragraph is what a check's page says of its trials.
func (a trials) paragraph(id checks.ID) string {
	if len(a.lab[id])+len(a.public[id]) == 0 { // as of those that look at a node from within
		return "Tried: by its cases alone; it is run in no recording."
	}
	out := "Tried: on " + told(a.lab[id], "a control plane of the lab, well and broken", true)
	if public := slices.DeleteFunc(slices.Clone(a.public[id]), func(x trial) bool { return !trouble(x.Status) }); len(public) > 0 {
		out += " On " + told(public, "what is public of real incidents", false)
	}
	return wrap(out, 130)
}

// told says what a check told of some recordings.
func told(ts []trial, what string, rest bool) string {
	how := map[string]int{}
	var bad []trial
	for _, x := range ts {
		if trouble(x.Status) {
			bad = append(bad, x)
		} else {
			how[x.Status]++
		}
	}
	// The gravest first, and the first of them in its own words.
	slices.SortStableFunc(bad, func(a, b trial) int { return grave(b.Status) - grave(a.Status) })
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", what)
	if len(bad) == 0 {
		b.WriteString(" no trouble told")
	}
	for n, x := range bad {
		switch {
		case n == 0:
			fmt.Fprintf(&b, " `%s` (%s), “%s”", x.recording, x.Status, strings.ReplaceAll(x.Summary, "`", "'"))
		case n < named:
			fmt.Fprintf(&b, ", `%s` (%s)", x.recording, x.Status)
		case n == named:
			fmt.Fprintf(&b, ", and %d more", len(bad)-named)
		}
	}
	if rest {
		var parts []string
		for _, s := range slices.Sorted(maps.Keys(how)) {
			part := fmt.Sprintf("%s in %d", strings.ReplaceAll(s, "outOfScope", "out of scope"), how[s])
			if s != "ok" && how["ok"] == 0 && len(bad) == 0 { // never judged: say why
				why := slices.IndexFunc(ts, func(x trial) bool { return x.Status == s })
				part += fmt.Sprintf(" (“%s”)", ts[why].Summary)
			}
			parts = append(parts, part)
		}
		if len(parts) > 0 {
			fmt.Fprintf(&b, "; %s", strings.Join(parts, ", "))
		}
	}
	b.WriteString(".")
	return b.String()
}

// paragraph finds the paragraph of a page that begins so, and the rest of it.
func paragraph(page, begin string) (found, rest string) {
	i := strings.Index(page, "\n"+begin)
	if i < 0 {
		return "", page
	}
	end := strings.Index(page[i+1:], "\n\n")
	if end < 0 {
		return page[i+1:], page[:i]
	}
	return page[i+1 : i+1+end], page[:i] + page[i+1+end:]
}

// explained are the packages of checks whose pages must say why they have met no
// trouble.
var explained = map[string]bool{"etcd": true, "apiserver": true}

// pageFiles finds the files of the checks' pages, by their heading.
func pageFiles(t *testing.T) map[checks.ID]string {
	t.Helper()
	files, err := filepath.Glob("../../checks/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[checks.ID]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		heading, _, _ := strings.Cut(string(b), "\n")
		out[checks.ID(strings.TrimPrefix(heading, "# "))] = f
	}
	return out
}

// rewrite puts the paragraph into a page: in the old one's place, or before what
// people wrote of their trials, or at the end of what is before its facts.
func rewrite(t *testing.T, file, page, old, paragraph string) {
	t.Helper()
	switch {
	case file == "":
		t.Fatal("its page was not found")
	case old != "":
		page = strings.Replace(page, old, paragraph, 1)
	default:
		at := strings.Index(page, "\n## Facts\n")
		for _, by := range []string{"\nBy hand:", "\nElsewhere:", "\nNot tried:"} {
			if i := strings.Index(page, by); i >= 0 {
				at = min(at, i)
			}
		}
		page = page[:at] + "\n" + paragraph + "\n" + page[at:]
	}
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wrap breaks a text into lines.
func wrap(text string, width int) string {
	var b strings.Builder
	line := 0
	for n, w := range strings.Fields(text) {
		switch {
		case n == 0:
		case line+1+len(w) > width:
			b.WriteString("\n")
			line = -1
		default:
			b.WriteString(" ")
		}
		b.WriteString(w)
		line += 1 + len(w)
	}
	return b.String()
}
