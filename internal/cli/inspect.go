package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
	"github.com/ktriage/ktriage/collectors/redact"
	"github.com/ktriage/ktriage/internal/term"
)

// inspect shows what a recording holds.
func (a *app) inspect(file string) error {
	r, err := os.Open(file)
	if err != nil {
		return usageError{fmt.Errorf("--inspect: %w", err)}
	}
	defer r.Close()
	rec, err := capture.Open(r)
	if err != nil {
		return hinted{fmt.Errorf("--inspect %s: %w", file, err), "it shows what ktriage capture -o FILE.tar.gz wrote"}
	}
	var b strings.Builder
	inspection(&b, file, rec)
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(a.Stdout, term.Clean(strings.TrimSuffix(line, "\n")))
	}
	return nil
}

// A portion is what a recording has of one sort.
type portion struct {
	what    string
	records int
	items   int // objects, lines; 0 where they are not counted
	bytes   int
	gaps    int
}

func inspection(b *strings.Builder, file string, rec *capture.Recording) {
	m := rec.Meta
	fmt.Fprintf(b, "%s: of %s, by ktriage %s, watched for %s\n", file, m.StartedAt.UTC().Format(time.RFC3339), m.Tool, checks.Span(seconds(m.WindowSeconds)))
	portions := map[string]*portion{}
	public, private := map[netip.Addr]bool{}, map[netip.Addr]bool{}
	for r := range rec.All() {
		what, items := sortOf(r)
		p := portions[what]
		if p == nil {
			p = &portion{what: what}
			portions[what] = p
		}
		p.records++
		p.items += items
		p.bytes += len(r.Body)
		if r.Gap != nil {
			p.gaps++
		}
		addressesIn(append([]byte(r.Request.URL+" "), r.Body...), public, private)
	}
	all := make([]*portion, 0, len(portions))
	for _, p := range portions {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *portion) int { return cmp.Or(b.bytes-a.bytes, cmp.Compare(a.what, b.what)) })
	b.WriteString("\nit holds:\n")
	for _, p := range all {
		fmt.Fprintf(b, "  %-44s %9s", p.what, checks.Bytes(int64(p.bytes)))
		if p.items > 0 {
			fmt.Fprintf(b, "  %d", p.items)
		}
		if p.gaps > 0 {
			fmt.Fprintf(b, "  (%d of %s without an answer)", p.gaps, checks.Count(p.records, "request"))
		}
		b.WriteString("\n")
	}
	if m.Left > 0 {
		fmt.Fprintf(b, "  %s left out, for it had reached its size\n", checks.Count(m.Left, "reply"))
	}
	b.WriteString("\ntaken out of it:\n")
	if m.Redacted == nil {
		b.WriteString("  private keys; tokens, passwords and e-mail addresses were not looked for\n")
	} else {
		for _, c := range m.Redacted.Replaced {
			fmt.Fprintf(b, "  %s replaced in %s%s\n", c.Kind, checks.Count(c.Places, "place"), values(c))
		}
		if len(m.Redacted.Replaced) == 0 {
			b.WriteString("  nothing had to be replaced: no key, token, password or e-mail address was found\n")
		}
		for _, n := range m.Redacted.Never {
			fmt.Fprintf(b, "  %s\n", n)
		}
	}
	b.WriteString("\nstill in it: names of nodes, namespaces, pods, images and users, the command lines of the control plane,\n")
	fmt.Fprintf(b, "  %d private and %d public IP addresses", len(private), len(public))
	if len(public) > 0 {
		b.WriteString(" (capture --redact-ips replaces those)")
	}
	fmt.Fprintf(b, "\n\nsee a reply as it is: tar -xOzf %s requests/00001.body\n", file)
}

func values(c redact.Count) string {
	if c.Values == 0 {
		return ""
	}
	return fmt.Sprintf(", %d different", c.Values)
}

// sortOf says in an operator's words what a record is, and how many items it has.
func sortOf(r capture.Record) (string, int) {
	u := r.Request.URL
	_, path, _ := strings.Cut(u, ":")
	path, _, _ = strings.Cut(path, "?")
	switch {
	case r.Request.Verb == collectors.List:
		var v struct{ Items []json.RawMessage }
		_ = json.Unmarshal(r.Body, &v) // what is broken has no items
		return path[strings.LastIndexByte(path, '/')+1:], len(v.Items)
	case r.Request.Verb == collectors.Scrape:
		return "metrics", 0
	case strings.HasSuffix(path, "/log"):
		return "logs, lines", bytes.Count(r.Body, []byte("\n"))
	case r.Request.Verb == collectors.Call:
		return "answers of etcd", 0
	case r.Request.Verb == collectors.Greet:
		return "serving certificates", 0
	case r.Request.Verb == collectors.Review:
		return "access reviews", 0
	case strings.HasPrefix(u, "config:"):
		return "what the run was given", 0
	}
	return "health, versions and other answers", 0
}

var address = regexp.MustCompile(`(?:\d{1,3}\.){3}\d{1,3}`)

func addressesIn(b []byte, public, private map[netip.Addr]bool) {
	for _, m := range address.FindAllIndex(b, -1) {
		if m[0] > 0 && (b[m[0]-1] == '.' || b[m[0]-1] >= '0' && b[m[0]-1] <= '9') || m[1] < len(b) && b[m[1]] == '.' {
			continue
		}
		a, err := netip.ParseAddr(string(b[m[0]:m[1]]))
		switch {
		case err != nil:
		case redact.Private(a):
			private[a] = true
		default:
			public[a] = true
		}
	}
}
