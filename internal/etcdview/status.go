package etcdview

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// SchemaVersion is of the JSON documents. Within it, fields are only added.
const SchemaVersion = "1"

// A Status is all members in one document.
type Status struct {
	SchemaVersion string    `json:"schemaVersion"`
	Source        string    `json:"source"`
	At            time.Time `json:"at"`
	Listed        bool      `json:"listed"` // the members are those of etcd's own list, not only its pods
	Leader        string    `json:"leader,omitempty"`
	Members       []Member  `json:"members"`
	Alarms        *[]Alarm  `json:"alarms"` // null if not known
	Votes         string    `json:"votes,omitempty"`
	Hash          *Hash     `json:"hash,omitempty"` // with --hash only
	Store         []Store   `json:"store,omitempty"`
	Gaps          []Gap     `json:"gaps"`
}

// A Member is one member. What is null could not be learned, and is named in a
// gap or is not told by its version of etcd.
type Member struct {
	Name           string   `json:"name"`
	ID             string   `json:"id,omitempty"` // hexadecimal
	Node           string   `json:"node,omitempty"`
	Endpoint       string   `json:"endpoint,omitempty"`
	Role           string   `json:"role,omitempty"` // leader, follower, learner, no leader, unstarted
	SeesLeader     string   `json:"seesLeader,omitempty"`
	Version        string   `json:"version,omitempty"`
	StorageVersion string   `json:"storageVersion,omitempty"`
	DBSize         *int64   `json:"dbSizeBytes"`
	DBInUse        *int64   `json:"dbInUseBytes"`
	Fragmented     *float64 `json:"fragmented"` // share of the file that is free pages
	Quota          *int64   `json:"quotaBytes"` // negative: unlimited
	Term           *uint64  `json:"raftTerm"`
	Index          *int64   `json:"raftIndex"`
	Applied        *int64   `json:"raftAppliedIndex"`
	Behind         *int64   `json:"behindLeaderEntries"` // committed by the leader and not applied here
	Revision       *int64   `json:"revision"`
	Alarms         []string `json:"alarms,omitempty"`
	Errors         []string `json:"errors,omitempty"`
	Hash           string   `json:"hash,omitempty"`
	Took           *float64 `json:"answeredInSeconds"`
	By             string   `json:"answeredBy"` // "status", "metrics", "health"; empty if by nothing

	asked   bool // its status was had
	differs bool // its hash
}

// An Alarm is one that is raised.
type Alarm struct {
	Type   string `json:"type"`
	Member string `json:"member,omitempty"`
}

// A Gap says what could not be asked, of whom and why.
type Gap struct {
	Of     string            `json:"of"`
	What   string            `json:"what"`
	Reason collectors.Reason `json:"reason"`
	Detail string            `json:"detail"`
	Remedy string            `json:"remedy,omitempty"`
}

// A Hash tells whether all members hold the same.
type Hash struct {
	Status   checks.Status `json:"status"`
	Findings []HashFinding `json:"findings"`
}

// A HashFinding is the verdict on one member.
type HashFinding struct {
	Member  string        `json:"member"`
	Status  checks.Status `json:"status"`
	Summary string        `json:"summary"`
}

// A Store is what an API server tells of the etcd that it uses, where etcd
// itself cannot be asked.
type Store struct {
	APIServer string           `json:"apiserver"`
	Size      map[string]int64 `json:"sizeBytes,omitempty"` // by endpoint or cluster
	P99       *float64         `json:"callP99Seconds"`      // of calls that touch one key, since it started
	Calls     *float64         `json:"calls"`
	Failed    *float64         `json:"callsFailed"`
	Objects   *int64           `json:"objects"`
}

// StatusFacts are what NewStatus reads. StoreFacts are what it reads besides
// where etcd itself does not answer.
var (
	StatusFacts = []collectors.Any{etcd.Members, etcd.Status, etcd.ServerMetrics, etcd.DB, etcd.Versions, etcd.Roles, etcd.HowFar,
		etcd.HistoryMetrics, etcd.RaisedAlarms, etcd.Reached, etcd.WhoIsWho, etcd.Votes, etcd.HealthEndpoint}
	StoreFacts = []collectors.Any{apiserver.StorageSize, apiserver.StoreLatency, apiserver.StoreErrors, apiserver.ObjectCounts}
)

// NewStatus makes the document. Findings are those of the check of hashes;
// deep says that it was wanted.
func NewStatus(s *collectors.Snapshot, source string, deep bool, findings []checks.Finding) *Status {
	d := &Status{SchemaVersion: SchemaVersion, Source: source, At: s.At.UTC(), Members: []Member{}, Gaps: []Gap{}}
	m, gap := etcd.Members.One(s)
	if gap != nil {
		d.gap("etcd", "who its members are", gap)
		return d
	}
	d.Listed = m.Listed
	if !m.Listed {
		d.gap("etcd", "its own list of members; these are its pods", m.Why)
	}
	for _, x := range m.Members {
		d.Members = append(d.Members, d.member(s, x))
	}
	d.compare(s)
	slices.SortFunc(d.Members, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	if a, gap := etcd.RaisedAlarms.One(s); gap != nil {
		d.gap("etcd", "alarms", gap)
	} else {
		d.alarms(a)
	}
	if v, gap := etcd.Votes.One(s); gap == nil {
		d.Votes = v.String()
	}
	if deep {
		d.hash(s, findings)
	}
	return d
}

// Answered reports whether any member said anything.
func (d *Status) Answered() bool {
	return slices.ContainsFunc(d.Members, func(m Member) bool { return m.By != "" })
}

// Whole reports whether every member told its status.
func (d *Status) Whole() bool {
	return len(d.Members) > 0 && len(d.Gaps) == 0
}

func (d *Status) gap(of, what string, g *collectors.Gap) {
	if g == nil {
		return
	}
	d.Gaps = append(d.Gaps, Gap{of, what, g.Reason, g.Detail, g.Remedy})
}

func (d *Status) member(s *collectors.Snapshot, x etcd.Member) Member {
	t := x.Target()
	out := Member{Name: x.Name, Node: x.Node, Endpoint: x.Client}
	if x.ID != 0 {
		out.ID = fmt.Sprintf("%x", x.ID)
	}
	if !x.Started {
		out.Role = "unstarted"
		d.gap(x.Name, "everything", collectors.Gapf(collectors.Absent, "it is in the list of members and never started"))
		return out
	}
	st, stGap := etcd.Status.Of(s, t)
	sv, svGap := etcd.ServerMetrics.Of(s, t)
	h, hGap := etcd.HealthEndpoint.Of(s, t)
	switch {
	case stGap == nil:
		out.By, out.asked = "status", true
		out.Took, out.Term, out.Revision = ptr(st.Took.Seconds()), ptr(st.Term), ptr(st.Revision)
		out.StorageVersion, out.Errors = st.Storage, st.Errors
		if out.ID == "" {
			out.ID = fmt.Sprintf("%x", st.MemberID)
		}
		who, _ := etcd.WhoIsWho.One(s)
		if st.Leader != 0 {
			out.SeesLeader = cmp.Or(who.Name(st.Leader), fmt.Sprintf("%x", st.Leader))
		}
	case svGap == nil:
		out.By = "metrics"
		if hist, gap := etcd.HistoryMetrics.Of(s, t); gap == nil {
			out.Revision = ptr(hist.Revision)
		}
		if out.ID == "" && sv.ID != 0 {
			out.ID = fmt.Sprintf("%x", sv.ID)
		}
	case hGap == nil:
		out.By = "health"
		if h.Reason != "" {
			out.Errors = []string{h.Reason}
		}
	}
	r, roleGap := etcd.Roles.Of(s, t)
	if stGap == nil { // of the same instant as the rest
		r, roleGap = etcd.Role{HasLeader: st.Leader != 0, IsLeader: st.IsLeader(), Learner: st.Learner, By: etcd.Status}, nil
	}
	if roleGap == nil {
		switch {
		case r.Learner:
			out.Role = "learner"
		case !r.HasLeader:
			out.Role = "no leader"
		case r.IsLeader:
			out.Role = "leader"
			d.Leader = x.Name
		case r.By.Name() != etcd.HealthEndpoint.ID: // which tells no more than that there is a leader
			out.Role = "follower"
		}
	}
	if v, gap := etcd.Versions.Of(s, t); gap == nil {
		out.Version = v.Version
	}
	if db, gap := etcd.DB.Of(s, t); gap == nil {
		out.DBSize = ptr(db.Size)
		// Before 3.4 etcd does not tell what is in use.
		told := stGap == nil && st.DBSizeInUse > 0
		if v, err := cluster.ParseRelease(out.Version); stGap != nil && err == nil {
			told = v.Major > 3 || v.Minor > 3
		}
		if told {
			out.DBInUse = ptr(db.InUse)
		}
		if told && db.Size > 0 {
			out.Fragmented = ptr(float64(db.Free()) / float64(db.Size))
		}
		if db.Quota != 0 {
			out.Quota = ptr(db.Quota)
		}
	}
	switch {
	case stGap == nil:
	case out.By == "":
		c, gap := etcd.Reached.Of(s, t)
		switch {
		case gap == nil && c.Down != "":
			d.gap(x.Name, "everything; it looks down", collectors.Gapf(stGap.Reason, "%s", c.Down).With(stGap.Remedy))
		case gap == nil && c.Gap != nil:
			d.gap(x.Name, "everything", c.Gap)
		default:
			d.gap(x.Name, "everything", stGap)
		}
	case out.By == "health":
		d.gap(x.Name, "its status and metrics; only its health is known", stGap)
	default:
		d.gap(x.Name, "its status: no term, storage version, errors; the rest is of its metrics", stGap)
	}
	return out
}

// compare holds each member against the leader. Indexes of two members are
// compared only if they come from the same kind of answer, as these were asked
// at about the same time.
func (d *Status) compare(s *collectors.Snapshot) {
	committed := map[string]int64{} // by the fact that tells
	m, _ := etcd.Members.One(s)
	for i, x := range m.Members {
		p, gap := progress(s, x)
		if gap != nil {
			continue
		}
		d.Members[i].Index, d.Members[i].Applied = ptr(p.Committed), ptr(p.Applied)
		committed[p.By.Name()] = max(committed[p.By.Name()], p.Committed)
	}
	for i, x := range m.Members {
		if p, gap := progress(s, x); gap == nil && d.Leader != "" {
			d.Members[i].Behind = ptr(max(0, committed[p.By.Name()]-p.Applied))
		}
	}
}

// progress prefers the status, whose indexes are of one instant, to metrics.
func progress(s *collectors.Snapshot, x etcd.Member) (etcd.Progress, *collectors.Gap) {
	if !x.Started {
		return etcd.Progress{}, collectors.Gapf(collectors.OutOfScope, "it never started")
	}
	if st, gap := etcd.Status.Of(s, x.Target()); gap == nil && st.AppliedIndex > 0 {
		return etcd.Progress{Committed: int64(st.RaftIndex), Applied: int64(st.AppliedIndex), By: etcd.Status}, nil
	}
	return etcd.HowFar.Of(s, x.Target())
}

func (d *Status) alarms(a etcd.Alarms) {
	all := []Alarm{}
	for _, r := range a.Raised {
		all = append(all, Alarm{r.Type, r.Member})
		for i := range d.Members {
			if m := &d.Members[i]; m.Name == r.Member && !slices.Contains(m.Alarms, r.Type) {
				m.Alarms = append(m.Alarms, r.Type)
			}
		}
	}
	d.Alarms = &all
	if a.Hidden {
		d.gap("etcd", "alarms besides the first, and who raised it", collectors.Gapf(collectors.Absent, "its health endpoint tells one").With(etcd.Remedy))
	}
}

func (d *Status) hash(s *collectors.Snapshot, findings []checks.Finding) {
	d.Hash = &Hash{Status: checks.Worst(findings), Findings: []HashFinding{}}
	for _, f := range findings {
		d.Hash.Findings = append(d.Hash.Findings, HashFinding{f.Target.Name, f.Status, f.Summary})
		for i := range d.Members {
			m := &d.Members[i]
			if m.Name != f.Target.Name {
				continue
			}
			m.differs = f.Status == checks.Critical
			if h, gap := etcd.Hashes.Of(s, f.Target); gap == nil {
				m.Hash = fmt.Sprintf("%08x", h.Hash)
			}
		}
		silent := slices.ContainsFunc(d.Members, func(m Member) bool { return m.Name == f.Target.Name && m.By == "" })
		if f.Status == checks.Unknown && !silent {
			d.gap(cmp.Or(f.Target.Name, "etcd"), "whether it holds what the others hold", f.Gap)
		}
	}
}

// AddStore adds what the API servers tell of their etcd.
func (d *Status) AddStore(s *collectors.Snapshot) {
	sizes, gap := apiserver.StorageSize.Answers(s)
	if gap != nil {
		d.gap("apiserver", "what it tells of its etcd", gap)
		return
	}
	for _, a := range sizes {
		out := Store{APIServer: cmp.Or(a.Target.Name, "apiserver"), Size: a.Value.Bytes}
		if a.Gap != nil {
			d.gap(out.APIServer, "the size of its store", a.Gap)
		}
		if l, gap := apiserver.StoreLatency.Of(s, a.Target); gap == nil {
			if q, ok := l.Point().Lifetime.Quantile(0.99); ok {
				out.P99 = ptr(q.Value)
			}
		}
		if c, gap := apiserver.StoreErrors.Of(s, a.Target); gap == nil {
			out.Calls, out.Failed = ptr(c.Calls.Lifetime), ptr(c.Failed().Lifetime)
		}
		if o, gap := apiserver.ObjectCounts.Of(s, a.Target); gap == nil {
			n := int64(0)
			for _, c := range o.Counts {
				n += c
			}
			out.Objects = ptr(n)
		}
		if out.Size != nil || out.P99 != nil || out.Calls != nil || out.Objects != nil {
			d.Store = append(d.Store, out)
		}
	}
}

func ptr[T any](v T) *T { return &v }
