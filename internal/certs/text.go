package certs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/term"
)

// width is that of a terminal on which nobody has touched anything.
const width = 80

// Text writes the table for a person.
func Text(t Table) string {
	var b strings.Builder
	w := 0
	rows := together(t.Rows)
	for _, r := range rows {
		w = max(w, len([]rune(what(r))))
	}
	w = min(w, 36)
	if len(rows) > 0 {
		fmt.Fprintf(&b, "%-8s %-10s  %-*s  %s\n", "LEFT", "UNTIL", w, "CERTIFICATE", "WHAT BREAKS WHEN IT ENDS")
	}
	for _, r := range rows {
		name := what(r)
		fmt.Fprintf(&b, "%-8s %-10s  %-*s", left(r, t.At), r.NotAfter.Format(time.DateOnly), w, name)
		if len([]rune(name)) > w {
			b.WriteString("\n" + strings.Repeat(" ", 21+w))
		}
		wrap(&b, 23+w, term.Clean(r.Breaks))
	}
	for _, k := range t.same() {
		fmt.Fprintf(&b, "\nservice-account keys of %s: %s\n", term.Clean(strings.Join(k.who, ", ")), term.Clean(strings.Join(k.keys, ", ")))
	}
	for _, q := range t.Requests {
		fmt.Fprintf(&b, "\n%s to %s not decided on, the oldest for %s\n",
			checks.Count(q.Pending, "request"), term.Clean(q.Signer), checks.Span(time.Duration(q.OldestSeconds*float64(time.Second))))
	}
	if len(t.Requests) == 0 && !slices.ContainsFunc(t.Unseen, func(u Unseen) bool { return u.Kind == "request" }) {
		b.WriteString("\nno request for a certificate waits for a decision\n")
	}
	if len(t.Unseen) == 0 {
		return b.String()
	}
	b.WriteString("\nNOT SEEN\n")
	for _, g := range merge(t.Unseen) {
		fmt.Fprintf(&b, "%s:", term.Clean(strings.Join(g.of, ", ")))
		text := string(g.Reason) + ": " + g.Detail
		if g.Remedy != "" {
			text += " (" + g.Remedy + ")"
		}
		b.WriteString("\n  ")
		wrap(&b, 0, term.Clean(text))
	}
	return b.String()
}

// together puts rows into one that say the same of several instances.
func together(rows []Row) []Row {
	var out []Row
	for _, r := range rows {
		kind, name, ok := strings.Cut(r.Of, "/")
		i := slices.IndexFunc(out, func(o Row) bool {
			of, _, _ := strings.Cut(o.Of, "/")
			return ok && r.Kind == Serving && o.Kind == Serving && of == kind && o.Breaks == r.Breaks && o.DaysLeft == r.DaysLeft
		})
		if i < 0 || kind == "service" {
			out = append(out, r)
			continue
		}
		out[i].Of += ", " + name
	}
	return out
}

func what(r Row) string { return term.Clean(r.Kind + " " + r.Of) }

// left is how long a certificate is valid yet.
func left(r Row, at time.Time) string {
	d := r.NotAfter.Sub(at)
	switch {
	case d < 0:
		return "EXPIRED"
	case d < 48*time.Hour:
		return checks.Span(d)
	}
	return fmt.Sprintf("%dd", r.DaysLeft)
}

// wrap writes words behind what stands in a line already, and goes on below.
func wrap(b *strings.Builder, indent int, s string) {
	at, first := indent, true
	if indent == 0 {
		at = 2
	}
	pad := max(indent, 4)
	for _, word := range strings.Fields(s) {
		n := len([]rune(word))
		switch {
		case first:
			if indent > 0 {
				b.WriteString("  ")
			}
		case at+1+n > max(width, pad+30):
			b.WriteString("\n" + strings.Repeat(" ", pad))
			at = pad
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
		first = false
	}
	b.WriteString("\n")
}

type keys struct{ who, keys []string }

// same puts API servers together that know the same keys.
func (t Table) same() []keys {
	var out []keys
	for _, k := range t.Keys {
		i := slices.IndexFunc(out, func(x keys) bool { return slices.Equal(x.keys, k.Keys) })
		if i < 0 {
			out = append(out, keys{keys: k.Keys})
			i = len(out) - 1
		}
		out[i].who = append(out[i].who, k.Of)
	}
	return out
}

type gaps struct {
	Unseen
	of []string
}

// merge puts together what is not seen for the same reason.
func merge(us []Unseen) []gaps {
	var out []gaps
	for _, u := range us {
		i := slices.IndexFunc(out, func(x gaps) bool { return x.Reason == u.Reason && x.Detail == u.Detail })
		if i < 0 {
			out = append(out, gaps{Unseen: u})
			i = len(out) - 1
		}
		if name := u.Kind + " " + u.Of; !slices.Contains(out[i].of, name) {
			out[i].of = append(out[i].of, name)
		}
	}
	return out
}
