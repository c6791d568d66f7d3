package etcdview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/collectors/keyspace"
	"github.com/ktriage/ktriage/internal/term"
)

// A Top is what fills the store, and what is written to it.
type Top struct {
	SchemaVersion string         `json:"schemaVersion"`
	Source        string         `json:"source"`
	At            time.Time      `json:"at"`
	From          string         `json:"from"` // "etcd" or "apiserver"
	Member        string         `json:"member,omitempty"`
	Role          string         `json:"role,omitempty"`
	Revision      int64          `json:"revision,omitempty"`
	Prefix        string         `json:"prefix,omitempty"` // of the keys that were read; empty for all
	Keys          int64          `json:"keys"`
	Bytes         *int64         `json:"bytes"`     // of the newest keys and values
	Estimated     bool           `json:"estimated"` // some sizes rest on a sample
	Unsized       int            `json:"unsized"`   // rows whose size is not known, and is not in bytes
	DBInUse       *int64         `json:"dbInUseBytes,omitempty"`
	Stopped       string         `json:"stopped,omitempty"` // why not all was read
	StoppedAt     string         `json:"stoppedAtKey,omitempty"`
	Window        *TopWindow     `json:"window,omitempty"` // null if nothing is known of it
	Groups        []TopGroup     `json:"groups"`
	Hot           []keyspace.Key `json:"hottestKeys,omitempty"` // most writes in the window
	Revised       []keyspace.Key `json:"mostRevised,omitempty"` // most writes since they were made
	Largest       []keyspace.Key `json:"largestKeys,omitempty"`
	Gaps          []Gap          `json:"gaps"`
}

// A TopWindow is what was written while the store was watched.
type TopWindow struct {
	Seconds float64 `json:"seconds"`
	Writes  int64   `json:"writes"`
	Bytes   *int64  `json:"bytesWritten"`
	Cut     bool    `json:"cut,omitempty"` // there was more than was read
}

// A TopGroup is a resource, or what it has in one namespace.
type TopGroup struct {
	keyspace.Group
	Keys      int64    `json:"keys"`
	AtLeast   bool     `json:"atLeast,omitempty"`
	Bytes     *int64   `json:"bytes"`
	Estimated bool     `json:"estimated,omitempty"`
	Max       *int64   `json:"largestBytes,omitempty"`
	Revisions *float64 `json:"revisionsPerKey,omitempty"` // writes since a key was made, on average
	Writes    *int64   `json:"writes"`                    // in the window
	PerSecond *float64 `json:"writesPerSecond"`
	Written   *int64   `json:"bytesWritten,omitempty"`
	Growth    *int64   `json:"growth"` // keys, in the window
}

// TopFacts are what tells which member to read; StoreTopFacts what there is
// where etcd cannot be read.
var (
	TopFacts      = []collectors.Any{etcd.Members, etcd.Status}
	StoreTopFacts = []collectors.Any{apiserver.ResourceFootprints, apiserver.StorageSize}
)

// A Reader is the member that is read.
type Reader struct {
	Name, Role, Addr string
	InUse            int64
}

// WhomToRead picks the follower that answered fastest, so that the leader has
// no more to do, or the leader of a single member. The gap says why there is
// none.
func WhomToRead(s *collectors.Snapshot) (Reader, *collectors.Gap) {
	m, gap := etcd.Members.One(s)
	if gap != nil {
		return Reader{}, gap
	}
	var best Reader
	var took time.Duration
	var why *collectors.Gap
	for _, x := range m.Members {
		if !x.Started || x.Client == "" {
			continue
		}
		st, gap := etcd.Status.Of(s, x.Target())
		switch {
		case gap != nil:
			why = cmp.Or(why, gap)
			continue
		case st.Learner, st.Leader == 0: // behind for as long as it has been alone
			why = cmp.Or(why, collectors.Gapf(collectors.Absent, "%s has no leader, or no vote: its data may be old", x.Name))
			continue
		}
		r := Reader{x.Name, "follower", "etcd://" + x.Client, st.DBSizeInUse}
		if st.IsLeader() {
			r.Role = "leader"
		}
		better := best.Name == "" || best.Role == "leader" && r.Role == "follower" || best.Role == r.Role && st.Took < took
		if better {
			best, took = r, st.Took
		}
	}
	if best.Name == "" {
		return best, cmp.Or(why, collectors.Gapf(collectors.Absent, "no member is known by an address"))
	}
	return best, nil
}

// NewTop makes the document of a scan.
func NewTop(source string, r Reader, prefix string, u *keyspace.Usage) *Top {
	d := &Top{SchemaVersion: SchemaVersion, Source: source, At: u.At.UTC(), From: "etcd", Member: r.Name, Role: r.Role, Revision: u.Revision, Prefix: prefix,
		Stopped: u.Stopped, StoppedAt: u.StoppedA, Groups: []TopGroup{}, Gaps: []Gap{}, Largest: u.Largest, Revised: u.Revised}
	if r.InUse > 0 {
		d.DBInUse = ptr(r.InUse)
	}
	w := u.Writes
	written := map[string]*keyspace.Written{}
	if w != nil {
		d.Window = &TopWindow{Seconds: w.Elapsed.Seconds(), Writes: w.Events, Bytes: ptr(w.Bytes), Cut: w.Cut}
		d.Hot = w.Hot
		written = maps.Clone(w.ByPrefix)
	} else if u.WritesNo != nil {
		d.Gaps = append(d.Gaps, Gap{r.Name, "what was written in the window", u.WritesNo.Reason, u.WritesNo.Detail, u.WritesNo.Remedy})
	}
	total := int64(0)
	for _, c := range u.Groups {
		n, est := c.Size()
		g := TopGroup{Group: c.Group, Keys: c.Keys, AtLeast: c.AtLeast, Bytes: ptr(n), Estimated: est, Max: ptr(c.Max)}
		if c.Weighed > 0 {
			g.Revisions = ptr(float64(c.Versions) / float64(c.Weighed))
		}
		g.watch(w, written[c.Prefix])
		delete(written, c.Prefix)
		d.Keys += c.Keys
		total += n
		d.Estimated = d.Estimated || est
		d.Groups = append(d.Groups, g)
	}
	for _, p := range slices.Sorted(maps.Keys(written)) { // all of whose keys are gone again, or were not reached
		g := TopGroup{Group: written[p].Group, AtLeast: u.Stopped != ""}
		g.watch(w, written[p])
		d.Groups = append(d.Groups, g)
	}
	d.Bytes = ptr(total)
	return d
}

func (g *TopGroup) watch(w *keyspace.Writes, x *keyspace.Written) {
	if w == nil {
		return
	}
	if x == nil {
		x = &keyspace.Written{}
	}
	g.Writes, g.PerSecond, g.Written, g.Growth = ptr(x.Events), ptr(w.PerSecond(x.Events)), ptr(x.Bytes), ptr(x.Created-x.Deleted)
}

// NewStoreTop makes the document of what the API servers tell. Each counts all
// objects, so that the one that has most is taken; writes add up.
func NewStoreTop(s *collectors.Snapshot, source string, why *collectors.Gap) *Top {
	d := &Top{SchemaVersion: SchemaVersion, Source: source, At: s.At.UTC(), From: "apiserver", Groups: []TopGroup{}, Gaps: []Gap{}}
	if why != nil {
		d.Gaps = append(d.Gaps, Gap{"etcd", "its keys; this is what the API servers count", why.Reason, why.Detail, why.Remedy})
	}
	answers, gap := apiserver.ResourceFootprints.Answers(s)
	if gap != nil {
		d.Gaps = append(d.Gaps, Gap{"apiserver", "objects by resource", gap.Reason, gap.Detail, gap.Remedy})
		return d
	}
	by := map[string]*TopGroup{}
	watched, sizes := 0.0, false
	for _, a := range answers {
		if a.Gap != nil {
			d.Gaps = append(d.Gaps, Gap{cmp.Or(a.Target.Name, "apiserver"), "objects by resource", a.Gap.Reason, a.Gap.Detail, a.Gap.Remedy})
			continue
		}
		f := a.Value
		d.Member = cmp.Or(d.Member, a.Target.Name)
		sizes = sizes || f.Sizes
		if f.Watched > 0 {
			watched = max(watched, f.Watched.Seconds())
		} else {
			d.Gaps = append(d.Gaps, Gap{cmp.Or(a.Target.Name, "apiserver"), "growth and writes", collectors.Absent, cmp.Or(f.Why, "there was one look only"), ""})
		}
		for r, x := range f.By {
			g := by[r]
			if g == nil {
				g = &TopGroup{Group: keyspace.Group{Resource: r}, Keys: -1}
				by[r] = g
			}
			g.Keys = max(g.Keys, x.Objects)
			if x.Bytes >= 0 && (g.Bytes == nil || x.Bytes > *g.Bytes) {
				g.Bytes, g.Estimated = ptr(x.Bytes), true
			}
			if f.Watched > 0 {
				n := int64(x.Writes())
				if g.Writes != nil {
					n += *g.Writes
				}
				g.Writes = ptr(n)
				if g.Growth == nil || abs(x.Grown) > abs(*g.Growth) {
					g.Growth = ptr(x.Grown)
				}
			}
		}
	}
	total, writes := int64(0), int64(0)
	var uncounted []string
	for _, r := range slices.Sorted(maps.Keys(by)) {
		g := by[r]
		if g.Keys < 0 {
			uncounted = append(uncounted, r)
			g.Keys, g.AtLeast = 0, true
		}
		if g.Writes != nil && watched > 0 {
			g.PerSecond = ptr(float64(*g.Writes) / watched)
			writes += *g.Writes
		}
		if g.Bytes != nil {
			total += *g.Bytes
		} else {
			d.Unsized++
		}
		d.Keys += g.Keys
		d.Groups = append(d.Groups, *g)
	}
	if len(uncounted) > 0 {
		d.Gaps = append(d.Gaps, Gap{"apiserver", "how many there are", collectors.Absent, "not counted by the API server: " + checks.List(uncounted, 8), ""})
	}
	if watched > 0 {
		d.Window = &TopWindow{Seconds: watched, Writes: writes}
	}
	switch {
	case sizes:
		d.Bytes, d.Estimated = ptr(total), true
	case len(by) > 0:
		d.Gaps = append(d.Gaps, Gap{"apiserver", "sizes", collectors.Absent, "this version does not estimate the size of resources; 1.34 and later do", ""})
	}
	if all, gap := apiserver.StorageSize.Answers(s); gap == nil {
		for _, a := range all {
			if _, n := a.Value.Largest(); a.Gap == nil && n > 0 && (d.DBInUse == nil || n > *d.DBInUse) {
				d.DBInUse = ptr(n)
			}
		}
	}
	return d
}

func abs(n int64) int64 { return max(n, -n) }

// Orders are what groups can be sorted by.
var Orders = []string{"bytes", "keys", "writes", "growth"}

// Sort puts the groups that have most of something first, and keeps the first
// limit of them; 0 keeps all. It returns how many it left out.
func (d *Top) Sort(by string, limit int) (left int) {
	val := func(g TopGroup) float64 {
		p := func(n *int64) float64 {
			if n == nil {
				return -1
			}
			return float64(*n)
		}
		switch by {
		case "keys":
			return float64(g.Keys)
		case "writes":
			return p(g.Writes)
		case "growth":
			return p(g.Growth)
		}
		return p(g.Bytes)
	}
	slices.SortStableFunc(d.Groups, func(a, b TopGroup) int {
		return cmp.Or(cmp.Compare(val(b), val(a)), cmp.Compare(b.Keys, a.Keys))
	})
	if limit > 0 {
		left = max(0, len(d.Groups)-limit)
		d.Groups = d.Groups[:len(d.Groups)-left]
		for _, k := range []*[]keyspace.Key{&d.Hot, &d.Revised, &d.Largest} {
			*k = (*k)[:min(len(*k), limit)]
		}
	}
	return left
}

// Text writes the document for a terminal. Left is how many groups were left
// out.
func (d *Top) Text(wide bool, left int) string {
	var b strings.Builder
	head := checks.Count(d.Keys, "key")
	if d.From == "apiserver" {
		head = checks.Count(d.Keys, "object")
	}
	if len(d.Groups) == 0 && len(d.Gaps) > 0 {
		said(&b, "", "  ", "nothing is known of what fills the store")
		gaps(&b, d.Gaps)
		return b.String()
	}
	if d.Bytes != nil {
		about := ""
		if d.Estimated {
			about = "about "
		}
		head += ", " + about + checks.Bytes(*d.Bytes)
		if d.Unsized > 0 {
			head += " besides " + checks.Count(d.Unsized, "resource") + " whose size is not known"
		}
	}
	switch {
	case d.From == "etcd":
		head += fmt.Sprintf(" of keys and newest values · read from %s (%s) at revision %d", d.Member, d.Role, d.Revision)
		if d.Prefix != "" {
			head += fmt.Sprintf(" · only below %q", d.Prefix)
		} else if d.DBInUse != nil && d.Stopped == "" {
			head += fmt.Sprintf(" · %s of its database are in use, the rest of that is history and structure", checks.Bytes(*d.DBInUse))
		}
	default:
		head += " · as the API servers count them, up to a minute ago"
		if d.DBInUse != nil {
			head += " · the database has " + checks.Bytes(*d.DBInUse)
		}
	}
	if d.Source != "live" {
		head += " · from " + d.Source + " of " + d.At.Format(time.RFC3339)
	}
	said(&b, "", "  ", "%s", head)
	if w := d.Window; w != nil {
		rate := float64(w.Writes) / max(w.Seconds, 0.001)
		line := fmt.Sprintf("in %s: %s, %.2g a second", checks.Seconds(w.Seconds), checks.Count(w.Writes, "write"), rate)
		if w.Bytes != nil {
			line += ", " + checks.Bytes(*w.Bytes)
		}
		if w.Cut {
			line += "; there were more after that, which were not read"
		}
		said(&b, "", "  ", "%s", line)
	}
	if d.Stopped != "" {
		said(&b, "", "  ", "NOT ALL WAS READ: %s; what follows %q is not in the table", d.Stopped, d.StoppedAt)
	}
	if len(d.Groups) > 0 {
		b.WriteString("\n")
		d.table(&b, wide)
	}
	if left > 0 {
		said(&b, "", "  ", "and %s more: --limit 0 shows all", checks.Count(left, "row"))
	}
	d.topKeys(&b, wide)
	gaps(&b, d.Gaps)
	return b.String()
}

func (d *Top) table(b *strings.Builder, wide bool) {
	nums := []string{"keys>", "bytes>", "share>", "average>", "largest>", "revs/key>", "writes/s>", "growth>"}
	t := table{titles: append([]string{"resource"}, nums...)}
	if !wide {
		t.titles = []string{"resource", "keys>", "bytes>", "share>", "revs/key>", "writes/s>", "growth>"}
	}
	total := int64(0)
	if d.Bytes != nil {
		total = *d.Bytes
	}
	for _, g := range d.Groups {
		name := g.Resource
		if g.Namespace != "" {
			name += " " + g.Namespace
		}
		if wide && g.Prefix != "" {
			name += "  " + g.Prefix
		}
		keys, size, share, avg, largest, revs, rate, grown := fmt.Sprint(g.Keys), unknown, unknown, unknown, "", unknown, unknown, unknown
		if g.AtLeast {
			keys = "≥" + keys
			if d.From == "apiserver" {
				keys = unknown
			}
		}
		if g.Bytes != nil {
			about := ""
			if g.Estimated {
				about = "~"
			}
			size = about + checks.Bytes(*g.Bytes)
			if total > 0 && d.Unsized == 0 {
				share = checks.Percent(float64(*g.Bytes) / float64(total))
			}
			if g.Keys > 0 {
				avg = about + checks.Bytes(*g.Bytes/g.Keys)
			} else {
				avg = ""
			}
		}
		if g.Max != nil {
			largest = checks.Bytes(*g.Max)
		}
		if g.Revisions != nil {
			revs = fmt.Sprintf("%.1f", *g.Revisions)
		} else if d.From == "apiserver" || g.Keys == 0 {
			revs = ""
		}
		if g.PerSecond != nil {
			rate, grown = fmt.Sprintf("%.2g", *g.PerSecond), "0"
			if *g.PerSecond >= 100 {
				rate = fmt.Sprintf("%.0f", *g.PerSecond)
			}
			if g.Growth != nil && *g.Growth != 0 {
				grown = fmt.Sprintf("%+d", *g.Growth)
			}
		}
		row := []string{name, keys, size, share, avg, largest, revs, rate, grown}
		if !wide {
			row = slices.Delete(row, 4, 6)
		}
		t.add(row...)
	}
	if !wide {
		t.fit(width)
	}
	t.rowwise(b)
}

func (d *Top) topKeys(b *strings.Builder, wide bool) {
	const few = 5
	write := func(title string, keys []keyspace.Key, val func(keyspace.Key) string) {
		var t table
		t.titles = []string{title + ">", "key"}
		for _, k := range keys[:min(few, len(keys))] {
			if v := val(k); v != "" {
				t.add(v, k.Key)
			}
		}
		if len(t.rows) == 0 {
			return
		}
		b.WriteString("\n")
		if !wide {
			t.fit(width)
		}
		t.rowwise(b)
	}
	write("writes", d.Hot, func(k keyspace.Key) string { return fmt.Sprint(k.Writes) })
	write("revisions", d.Revised, func(k keyspace.Key) string {
		if k.Version < 2 {
			return ""
		}
		return fmt.Sprint(k.Version)
	})
	write("bytes", d.Largest, func(k keyspace.Key) string { return checks.Bytes(k.Bytes) })
}

// fit shortens the cells of the column of names, which are the longest, in
// their middle: both ends of a name tell something.
func (t *table) fit(total int) {
	col := slices.IndexFunc(t.titles, func(s string) bool { return !strings.HasSuffix(s, ">") })
	rest := 0
	for i, title := range t.titles {
		if i == col {
			continue
		}
		w := term.Columns(strings.TrimSuffix(title, ">"))
		for _, r := range t.rows {
			w = max(w, term.Columns(term.Clean(r[i])))
		}
		rest += w + 2
	}
	room := max(16, total-rest)
	for _, r := range t.rows {
		s := []rune(term.Clean(r[col]))
		if len(s) > room {
			head := (room - 1) / 2
			r[col] = string(s[:head]) + "…" + string(s[len(s)-(room-1-head):])
		}
	}
}
