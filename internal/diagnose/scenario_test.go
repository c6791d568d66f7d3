package diagnose

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/suite"
	"github.com/ktriage/ktriage/collectors"
)

// Scenarios are written in two files of testdata, a line or two each; how is told
// at the head of each file. A finding is
//
//	CHECK[,CHECK…] [TARGET[@NODE]] [STATUS] [#NUMBER=X] [gap=REASON] [~"TEXT"] [MARK…]
//
// A target of "/cp-1" is of the check's component, none is the component as a
// whole; the status is warning unless it is said; TEXT is the summary, or a gap's
// detail, in which ' stands for "; what has spaces is quoted.

func componentOf(t *testing.T, id checks.ID) collectors.Component {
	t.Helper()
	for _, c := range suite.All() {
		if c.ID == id {
			return c.Component
		}
	}
	t.Fatalf("there is no check %q", id)
	return ""
}

// words splits a line at spaces that are not in quotes.
func words(t *testing.T, s string) []string {
	t.Helper()
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		end := 0
		for quoted := false; end < len(s) && (quoted || s[end] != ' '); end++ {
			if s[end] == '"' {
				quoted = !quoted
			}
		}
		out = append(out, strings.ReplaceAll(s[:end], `"`, ""))
		s = s[end:]
	}
	return out
}

// parse reads one finding for each of the checks that it names; all stands for
// what "*" means.
func parse(t *testing.T, s string, all []checks.ID) []checks.Finding {
	t.Helper()
	ws := words(t, s)
	if len(ws) == 0 {
		t.Fatalf("no finding in %q", s)
	}
	list := all
	if ws[0] != "*" {
		list = nil
		for id := range strings.SplitSeq(ws[0], ",") {
			list = append(list, checks.ID(id))
		}
	}
	var out []checks.Finding
	for _, id := range list {
		f := checks.Finding{Check: id, Status: checks.Warning, Numbers: map[string]float64{}}
		f.Target.Component = componentOf(t, id)
		for i, w := range ws[1:] {
			name, node, _ := strings.Cut(w, "@")
			component, rest, sub := strings.Cut(name, "/")
			switch {
			case i == 0 && sub && component == "":
				f.Target.Name, f.Target.Node = rest, node
			case i == 0 && slices.Contains(collectors.Components, collectors.Component(component)):
				f.Target = collectors.Target{Component: collectors.Component(component), Name: rest, Node: node}
			case strings.HasPrefix(w, "#"):
				name, x, _ := strings.Cut(w[1:], "=")
				n, err := strconv.ParseFloat(x, 64)
				if err != nil {
					t.Fatalf("%q: %v", w, err)
				}
				f.Numbers[name] = n
			case strings.HasPrefix(w, "gap="):
				f.Status, f.Gap = checks.Unknown, &collectors.Gap{Reason: collectors.Reason(w[4:])}
			case strings.HasPrefix(w, "~") && f.Gap != nil:
				f.Gap.Detail = strings.ReplaceAll(w[1:], "'", `"`)
			case strings.HasPrefix(w, "~"):
				f.Summary = w[1:]
			case slices.Contains([]string{"ok", "info", "warning", "critical"}, w):
				if err := f.Status.UnmarshalJSON([]byte(`"` + w + `"`)); err != nil {
					t.Fatal(err)
				}
			default:
				f.Marks = append(f.Marks, w)
			}
		}
		out = append(out, f)
	}
	return out
}

// lines reads a file of testdata without its comments.
func lines(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// TestLinks holds that each link fires where its evidence is, and does not where
// it is not.
func TestLinks(t *testing.T) {
	byID := map[string]Link{}
	for _, l := range Links {
		byID[l.ID] = l
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for n, line := range lines(t, "links.txt") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		left, right, ok := strings.Cut(line, " => ")
		id, cause, ok2 := strings.Cut(left, " ")
		l, ok3 := byID[id]
		if !ok || !ok2 || !ok3 {
			t.Errorf("line %d: no link, cause or effect: %s", n+1, line)
			continue
		}
		cause, not := strings.CutPrefix(strings.TrimSpace(cause), "! ")
		effect, rest, _ := strings.Cut(right, " | ")
		var others []checks.Finding
		if rest != "" {
			for o := range strings.SplitSeq(rest, "; ") {
				others = append(others, parse(t, o, nil)...)
			}
		}
		for _, c := range parse(t, cause, l.Causes) {
			for _, e := range parse(t, effect, l.Effects) {
				name := fmt.Sprintf("line %d: %s: %s => %s", n+1, id, c.Check, e.Check)
				if !slices.Contains(l.Causes, c.Check) || !l.Gaps && !slices.Contains(l.Effects, e.Check) {
					t.Errorf("%s: not of this link", name)
					continue
				}
				all := append([]checks.Finding{c, e}, others...)
				got := when(l, c, e, View{all}) != No
				switch folded := together(all); {
				case not && got:
					t.Errorf("%s: fires, and must not", name)
				case not && folded:
					t.Errorf("%s: does not fire, but is folded all the same:\n%s", name, show(Diagnose(all, Links)))
				case !not && !got:
					t.Errorf("%s: does not fire", name)
				case !not && !folded:
					t.Errorf("%s: fires, but is not folded:\n%s", name, show(Diagnose(all, Links)))
				}
				into := fires
				if not {
					into = silent
				}
				into[id], into[id+" "+string(e.Check)], into[id+" < "+string(c.Check)] = true, true, true
			}
		}
	}
	effects, spared := 0, 0
	for _, l := range Links {
		if !fires[l.ID] {
			t.Errorf("%s fires in no line of testdata/links.txt", l.ID)
		}
		if !silent[l.ID] {
			t.Errorf("%s has no line in testdata/links.txt in which it must not fire", l.ID)
		}
		for _, e := range l.Effects {
			effects++
			if !fires[l.ID+" "+string(e)] {
				t.Errorf("%s is not seen to explain %s", l.ID, e)
			}
			if silent[l.ID+" "+string(e)] {
				spared++
			}
		}
		for _, c := range l.Causes {
			if !fires[l.ID+" < "+string(c)] {
				t.Errorf("%s is not seen to explain by %s", l.ID, c)
			}
		}
	}
	t.Logf("%d links with %d effects, each seen; %d effects also where they must stand alone", len(Links), effects, spared)
}

// together reports whether the first of the findings explains the second, be it
// through others.
func together(all []checks.Finding) bool {
	is := func(f checks.Finding, n int) bool { return f.Check == all[n].Check && f.Target.Is(all[n].Target) }
	for _, p := range Diagnose(all, Links).Problems {
		for _, s := range p.Symptoms {
			if !is(s.Finding, 1) {
				continue
			}
			for s.Of > 0 {
				if s = p.Symptoms[s.Of-1]; is(s.Finding, 0) {
					return true
				}
			}
			return is(p.Root, 0) || slices.ContainsFunc(p.Siblings, func(f checks.Finding) bool { return is(f, 0) })
		}
	}
	return false
}

// TestFaults holds what comes of whole clusters in trouble: one fault, or two at
// once that must stay two.
func TestFaults(t *testing.T) {
	name := ""
	for n, line := range lines(t, "faults.txt") {
		if strings.HasPrefix(line, "#") || line == "" {
			name = strings.TrimSpace(strings.TrimLeft(line, "#"))
			continue
		}
		t.Run(name, func(t *testing.T) {
			given, want, ok := strings.Cut(line, " => ")
			if !ok {
				t.Fatalf("line %d: what is to come of it is missing", n+1)
			}
			var all []checks.Finding
			for f := range strings.SplitSeq(given, "; ") {
				all = append(all, parse(t, f, nil)...)
			}
			d := Diagnose(all, Links)
			if got := brief(d); got != want {
				t.Errorf("line %d:\ngot  %s\nwant %s\n%s", n+1, got, want, show(d))
			}
		})
	}
}

// brief writes a diagnosis in one line: the effects of each check in brackets
// behind it, siblings behind a plus, what is unknown behind a question mark.
func brief(d Diagnosis) string {
	var out []string
	for _, p := range d.Problems {
		s := string(p.Root.Check)
		for range p.Siblings {
			s += "+"
		}
		var below func(of int) string
		below = func(of int) string {
			var parts []string
			for i, x := range p.Symptoms {
				if x.Of == of {
					mark := ""
					if x.Status == checks.Unknown {
						mark = "?"
					}
					parts = append(parts, mark+string(x.Check)+below(i+1))
				}
			}
			if len(parts) == 0 {
				return ""
			}
			return "(" + strings.Join(parts, " ") + ")"
		}
		out = append(out, s+below(0))
	}
	for _, f := range d.Unknown {
		out = append(out, "?"+string(f.Check))
	}
	return strings.Join(out, " ")
}
