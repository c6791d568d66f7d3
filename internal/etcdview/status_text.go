package etcdview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
)

// unknown stands in a cell for what could not be asked; the reason is below
// the table. untold stands for what this version of etcd does not tell.
const (
	unknown = "?"
	untold  = "n/a"
)

// Text writes the document for a terminal: a column a member, or with wide a
// line a member.
func (d *Status) Text(wide bool) string {
	var b strings.Builder
	told := 0
	for _, m := range d.Members {
		if m.asked {
			told++
		}
	}
	head := fmt.Sprintf("etcd: %d of %s told their status", told, checks.Count(len(d.Members), "member"))
	if len(d.Members) == 0 {
		head = "etcd: no member is known"
	}
	if d.Leader != "" {
		head += " · leader " + d.Leader
	}
	if d.Votes != "" {
		head += " · " + d.Votes
	}
	if d.Source != "live" {
		head += " · from " + d.Source + " of " + d.At.Format(time.RFC3339)
	}
	said(&b, "", "  ", "%s", head)
	switch {
	case len(d.Members) == 0:
	case !d.Answered(): // all else would be unknown
		b.WriteString("\n")
		t := table{titles: []string{"member", "endpoint"}}
		for _, m := range d.Members {
			t.add(m.Name, cmp.Or(m.Endpoint, unknown))
		}
		t.rowwise(&b)
	default:
		b.WriteString("\n")
		t := table{titles: []string{"member", "id", "endpoint", "role", "version", "storage", "db size>", "in use>", "fragmented>", "quota>", "term>", "index>", "applied>", "behind>", "revision>", "alarms", "errors", "hash", "took>"}}
		for _, m := range d.Members {
			t.add(d.cells(m)...)
		}
		if wide {
			t.rowwise(&b)
		} else {
			for i, s := range t.titles {
				t.titles[i] = cmp.Or(map[string]string{"behind>": "behind leader", "took>": "answered in"}[s], strings.TrimSuffix(s, ">"))
			}
			t.columnwise(&b)
		}
	}
	d.remarks(&b)
	return b.String()
}

func (d *Status) cells(m Member) []string {
	num := func(n *int64, fallback string) string {
		if n == nil {
			return fallback
		}
		return fmt.Sprint(*n)
	}
	size := func(n *int64, fallback string) string {
		switch {
		case n == nil:
			return fallback
		case *n < 0:
			return "unlimited"
		}
		return checks.Bytes(*n)
	}
	dash := unknown // of what only the status tells
	metric := unknown
	if m.asked {
		dash, metric = untold, untold
	}
	frag, term, took := metric, dash, dash
	if m.Fragmented != nil {
		frag = checks.Percent(*m.Fragmented)
	}
	if m.Term != nil {
		term = fmt.Sprint(*m.Term)
	}
	if m.Took != nil {
		took = checks.Seconds(*m.Took)
	}
	alarms := strings.Join(m.Alarms, ",")
	switch {
	case alarms != "":
	case d.Alarms == nil, m.By == "":
		alarms = unknown
	default:
		alarms = "none"
	}
	errs := "none"
	if others := slices.DeleteFunc(slices.Clone(m.Errors), isAlarm); len(others) > 0 {
		errs = fmt.Sprintf("%d, below", len(others))
	} else if !m.asked {
		errs = unknown
	}
	hash := ""
	switch {
	case d.Hash == nil:
	case m.differs:
		hash = m.Hash + " DIFFERS"
	case m.Hash != "":
		hash = m.Hash
	default:
		hash = unknown
	}
	behind := num(m.Behind, metric)
	if m.asked && m.Behind == nil && d.Leader == "" {
		behind = "no leader"
	}
	out := []string{m.Name, cmp.Or(m.ID, unknown), cmp.Or(m.Endpoint, unknown), cmp.Or(m.Role, unknown), cmp.Or(m.Version, metric), cmp.Or(m.StorageVersion, dash),
		size(m.DBSize, metric), size(m.DBInUse, metric), frag, size(m.Quota, metric), term, num(m.Index, metric), num(m.Applied, metric), behind,
		num(m.Revision, metric), alarms, errs, hash, took}
	if m.Role == "unstarted" {
		for i := 4; i < len(out); i++ {
			if out[i] != "" {
				out[i] = untold
			}
		}
	}
	return out
}

func isAlarm(s string) bool {
	return strings.HasPrefix(s, "memberID:") || strings.HasPrefix(s, "alarm:")
}

// remarks writes what does not fit in a cell: alarms, errors, who sees another
// leader, what the hashes show, and what could not be asked.
func (d *Status) remarks(b *strings.Builder) {
	var lines []string
	if d.Alarms != nil {
		for _, a := range *d.Alarms {
			if !slices.ContainsFunc(d.Members, func(m Member) bool { return m.Name == a.Member }) {
				lines = append(lines, fmt.Sprintf("alarm %s, raised by %s", a.Type, cmp.Or(a.Member, "a member that is not told")))
			}
		}
	}
	for _, m := range d.Members {
		for _, e := range m.Errors {
			if !isAlarm(e) {
				lines = append(lines, fmt.Sprintf("%s: error: %s", m.Name, e))
			}
		}
		if m.SeesLeader != "" && d.Leader != "" && m.SeesLeader != d.Leader {
			lines = append(lines, fmt.Sprintf("%s: takes %s for the leader, not %s", m.Name, m.SeesLeader, d.Leader))
		}
	}
	if d.Hash != nil {
		for _, f := range d.Hash.Findings {
			if f.Status != checks.OK && f.Status != checks.Unknown {
				line := fmt.Sprintf("%s: %s", cmp.Or(f.Member, "etcd"), f.Summary)
				if f.Status.Bad() {
					line = strings.ToUpper(f.Status.String()) + " " + line
				}
				lines = append(lines, line)
			}
		}
		if d.Hash.Status == checks.OK && len(d.Hash.Findings) > 0 {
			lines = append(lines, "all hashes are the same: "+d.Hash.Findings[0].Summary)
		}
	}
	if len(lines) > 0 {
		b.WriteString("\n")
	}
	for _, l := range lines {
		said(b, "", "  ", "%s", l)
	}
	d.store(b)
	gaps(b, d.Gaps)
}

func (d *Status) store(b *strings.Builder) {
	if len(d.Store) == 0 {
		return
	}
	b.WriteString("\n")
	said(b, "", "", "No member of etcd answers; this is what the API servers tell of it. Roles, versions, free pages, quota, raft, alarms are not known.")
	t := table{titles: []string{"api server", "db size>", "objects>", "calls p99>", "calls>", "failed>"}}
	for _, s := range d.Store {
		var sizes []string
		for _, n := range slices.Sorted(maps.Keys(s.Size)) {
			sizes = append(sizes, checks.Bytes(s.Size[n]))
		}
		row := []string{s.APIServer, cmp.Or(strings.Join(sizes, ", "), unknown), unknown, unknown, unknown, unknown}
		if s.Objects != nil {
			row[2] = fmt.Sprint(*s.Objects)
		}
		if s.P99 != nil {
			row[3] = checks.Seconds(*s.P99)
		}
		if s.Calls != nil {
			row[4], row[5] = fmt.Sprintf("%.0f", *s.Calls), fmt.Sprintf("%.0f", *s.Failed)
		}
		t.add(row...)
	}
	b.WriteString("\n")
	t.rowwise(b)
}

// gaps writes what could not be asked.
func gaps(b *strings.Builder, gs []Gap) {
	if len(gs) == 0 {
		return
	}
	b.WriteString("\nnot known:\n")
	last := ""
	for i, g := range gs {
		said(b, "  ", "    ", "%s: %s: %s: %s", g.Of, g.What, g.Reason, g.Detail)
		if i+1 < len(gs) && gs[i+1].Remedy == g.Remedy {
			continue
		}
		if g.Remedy != "" && g.Remedy != last {
			said(b, "    → ", "      ", "%s", g.Remedy)
			last = g.Remedy
		}
	}
}
