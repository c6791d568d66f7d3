// Package config reads ktriage.yaml: how a run is made, which checks judge by
// which thresholds, and what is known and left alone. A key that means nothing
// is an error, with its line: a threshold that was mistyped is one that does not
// work, and nobody would see.
package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/internal/report"
)

// A Config is what a file says.
type Config struct {
	File string
	Part
	// Contexts are parts that hold for the contexts of a kubeconfig whose names
	// match, in the file's order; the later wins.
	Contexts []Context
}

// A Context is what holds for some clusters only.
type Context struct {
	Name string // with * for any part
	Line int
	Part
}

// A Part is what can be said for all clusters or for some.
type Part struct {
	Settings     []Setting
	Checks       []Check
	Suppressions []Suppression
}

// A Setting is the value of a flag.
type Setting struct {
	Flag  string
	Value string
	Line  int
}

// A Check is what is said of checks whose IDs match.
type Check struct {
	ID         string // with * for any part
	Line       int
	Enabled    *bool
	Thresholds []Threshold
}

// A Threshold is a value in place of a check's own. What it is a number of is
// known to the check alone.
type Threshold struct {
	Name  string
	Value string
	Line  int
}

// A Suppression is one of a report, with its line.
type Suppression struct {
	report.Suppression
	Line int
}

// At names a line of the file: "/etc/ktriage/ktriage.yaml:12".
func (c *Config) At(line int) string { return fmt.Sprintf("%s:%d", c.File, line) }

// For returns what holds for a context of the kubeconfig: what is said of all,
// and after it what is said of those that match. A context that is not known has
// the name "".
func (c *Config) For(context string) Part {
	out := Part{slices.Clone(c.Settings), slices.Clone(c.Checks), slices.Clone(c.Suppressions)}
	for _, x := range c.Contexts {
		if context != "" && report.Glob(x.Name, context) {
			out.Settings = append(out.Settings, x.Settings...)
			out.Checks = append(out.Checks, x.Checks...)
			out.Suppressions = append(out.Suppressions, x.Suppressions...)
		}
	}
	return out
}

// An Error is what is wrong in a file, and where.
type Error struct {
	File         string
	Line, Column int
	Text         string
}

// Error names the place first, as compilers do.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text)
}

// Errors are all that is wrong in a file.
type Errors []*Error

// Error writes the errors a line each, the first of many.
func (es Errors) Error() string {
	const most = 10
	var out []string
	for i, e := range es {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(es)-most))
			break
		}
		out = append(out, e.Error())
	}
	return strings.Join(out, "\n")
}

// parseExpiry reads until when a suppression holds: a day, to its end, a moment,
// or "never".
func parseExpiry(s string) (time.Time, error) {
	if s == "never" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t.Add(24 * time.Hour), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, fmt.Errorf("%q is neither a day such as 2026-12-31, nor a time such as 2026-12-31T18:00:00Z, nor never", s)
	}
	return t, nil
}

// Nearest returns the word that a mistyped one most likely is, or "".
func Nearest(word string, words []string) string {
	best, least := "", len(word)/2+1
	for _, w := range words {
		if d := distance(strings.ToLower(word), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance is how many letters must be put in, taken out, changed or swapped
// with their neighbour.
func distance(a, b string) int {
	prev2, prev, row := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			d := 1
			if a[i-1] == b[j-1] {
				d = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+d)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, make([]int, len(b)+1)
	}
	return prev[len(b)]
}
