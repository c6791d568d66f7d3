package apiserver

import (
	"bufio"
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// A Holder is who has requests executed or waiting in a priority level.
type Holder struct {
	Level, Schema string
	Flow          string // what tells flows of the schema apart: a user or a namespace; may be empty
	User          string // empty where the row cannot be read without doubt
	What          string // of its requests, the most frequent kind: "list pods"
	Requests      int    // executed and waiting; older versions list those that wait only
	Waiting       int    // of these
	Seats         int    // that its requests take or ask for
}

// Holders is who holds the seats of one instance, the largest first.
type Holders []Holder

// Of returns who holds the most of a level, and how many requests the level has
// from all.
func (h Holders) Of(level string) (most Holder, all int) {
	for _, x := range h {
		if x.Level != level {
			continue
		}
		if all == 0 {
			most = x
		}
		all += x.Requests
	}
	return most, all
}

// SeatHolders is who holds the seats of each instance at the moment, and whose
// requests wait. Not everyone may ask; checks that read it do without. The path
// of a request is in it as the client chose it, so it tells whom to look at and
// is never what a verdict rests on.
var SeatHolders = &collectors.Fact[Holders]{
	ID:      "apiserver.holders",
	Doc:     "whose requests each instance executes and lets wait, by flow and user",
	Needs:   []collectors.Any{Ways},
	Targets: targets,
	Ask: func(_ *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Get, URL: t.Addr + "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1"}}
	},
	Read: func(rs []collectors.Answered) (Holders, error) {
		if rs[0].Status == 404 {
			return nil, collectors.Gapf(collectors.Absent, "the API server serves no dump of its requests")
		}
		return readHolders(rs[0].Body)
	},
}

// readHolders reads the table of requests. Its columns changed over time, so
// they are found by their names; the misspelt one is the API server's own. It
// escapes nothing: a row with more columns than it should have names a user or
// a path with a comma, and one with fewer is torn by a line break. Of the former
// only the level and the schema are read, which are names without either; the
// latter are not counted.
// Source: k8s.io/apiserver 0.37, util/flowcontrol/apf_controller_debug.go.
func readHolders(body []byte) (Holders, error) {
	in := bufio.NewScanner(bytes.NewReader(body))
	in.Buffer(nil, 1<<20)
	if !in.Scan() {
		return nil, collectors.Gapf(collectors.Malformed, "the dump of requests is empty")
	}
	head := columns(in.Text())
	if !slices.Contains(head, "PriorityLevelName") || !slices.Contains(head, "FlowSchemaName") {
		return nil, collectors.Gapf(collectors.Malformed, "the reply is not a dump of requests")
	}
	type key struct{ level, schema, flow, user string }
	by := map[key]*Holder{}
	kinds := map[key]map[string]int{}
	for in.Scan() {
		row := columns(in.Text())
		if len(row) < len(head) {
			continue
		}
		whole := len(row) == len(head)
		col := func(name string) string {
			if i := slices.Index(head, name); i >= 0 && i < len(row) {
				return row[i]
			}
			return ""
		}
		k := key{level: col("PriorityLevelName"), schema: col("FlowSchemaName")}
		if k.level == "" || k.schema == "" || k.schema == "<none>" { // a level without requests
			continue
		}
		if whole {
			k.flow, k.user = col("FlowDistingsher"), col("UserName")
		}
		h := by[k]
		if h == nil {
			h = &Holder{Level: k.level, Schema: k.schema, Flow: k.flow, User: k.user}
			by[k], kinds[k] = h, map[string]int{}
		}
		h.Requests++
		if at := col("RequestIndexInQueue"); at != "-1" { // which is one that is executed
			h.Waiting++
		}
		if !whole {
			h.Seats++
			continue
		}
		h.Seats += max(1, number(col("InitialSeats")))
		if v := col("Verb"); v != "" {
			kinds[k][strings.TrimSpace(v+" "+cmp.Or(col("Resource"), col("APIPath")))]++
		}
	}
	if err := in.Err(); err != nil {
		return nil, collectors.Gapf(collectors.Malformed, "the dump of requests: %v", err)
	}
	out := Holders{}
	for k, h := range by {
		for what, n := range kinds[k] {
			if m := kinds[k][h.What]; n > m || n == m && what < h.What {
				h.What = what
			}
		}
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b Holder) int {
		return cmp.Or(-cmp.Compare(a.Seats, b.Seats), cmp.Compare(a.Level, b.Level), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Flow, b.Flow), cmp.Compare(a.User, b.User))
	})
	return out, nil
}

func columns(line string) []string {
	parts := strings.Split(line, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// number reads a small number; 0 if it is none.
func number(s string) int {
	n := 0
	for _, r := range s {
		if r < '0' || r > '9' || n > 1e6 {
			return 0
		}
		n = n*10 + int(r-'0')
	}
	return n
}
