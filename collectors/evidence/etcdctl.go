package evidence

import (
	"encoding/json"
	"errors"
	"math"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A status is what etcdctl endpoint status says of one member.
type status struct {
	file     string
	endpoint string // host:port
	id       uint64
	rank     int    // of the part of the evidence
	body     []byte // as the remote procedure's own reply
}

// A member is an entry of etcd's member list.
type member struct {
	file       string
	ID         uint64   `json:"ID"`
	Name       string   `json:"name,omitempty"`
	PeerURLs   []string `json:"peerURLs,omitempty"`
	ClientURLs []string `json:"clientURLs,omitempty"`
	IsLearner  bool     `json:"isLearner,omitempty"`
	cluster    uint64
}

// A report is what a health endpoint said, in its own words.
type report struct {
	file     string
	of       string // "etcd" or "kube-apiserver"
	path     string // "/health", "/readyz", "/livez", "/healthz"
	endpoint string // of etcdctl endpoint health; empty if it is not told
	id       uint64 // of the member; 0 if it is not told
	code     int
	body     []byte
}

// readArray reads the items of a JSON array, whose opening was read: etcdctl's.
func (e *Evidence) readArray(in *input, d *json.Decoder, g *guard) error {
	read := 0
	for d.More() {
		var raw map[string]json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return brokenJSON(err)
		}
		g.rest()
		if read > maxObjects {
			return errNotRecognised
		}
		if err := e.readItem(in, raw); err != nil {
			return err
		}
		read++
	}
	if _, err := d.Token(); err != nil {
		return brokenJSON(err)
	}
	if read == 0 {
		return errNotRecognised
	}
	return nil
}

// readItem reads an element of an array: an object of Kubernetes or a reply.
func (e *Evidence) readItem(in *input, v map[string]json.RawMessage) error {
	var kind, apiVersion string
	whole, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if json.Unmarshal(v["kind"], &kind) != nil || json.Unmarshal(v["apiVersion"], &apiVersion) != nil {
		if apiVersion, kind = kindByShape(whole); kind == "" {
			return e.readReply(in, v)
		}
	}
	_, err = e.readObject(in, whole, apiVersion, kind)
	return err
}

// readReply reads a JSON object that is none of Kubernetes'.
func (e *Evidence) readReply(in *input, v map[string]json.RawMessage) error {
	text := func(keys ...string) string {
		var s string
		for _, k := range keys {
			if json.Unmarshal(v[k], &s) == nil && s != "" {
				return s
			}
		}
		return ""
	}
	switch {
	case text("gitVersion") != "":
		e.release = text("gitVersion")
		return nil
	case v["serverVersion"] != nil: // kubectl version -o json
		var sv struct{ GitVersion string }
		if json.Unmarshal(v["serverVersion"], &sv) != nil || sv.GitVersion == "" {
			return errNotRecognised
		}
		e.release = sv.GitVersion
		return nil
	case v["info"] != nil && v["string"] != nil: // cluster_version.json of a support bundle
		var info struct{ GitVersion string }
		if json.Unmarshal(v["info"], &info) != nil || info.GitVersion == "" {
			return errNotRecognised
		}
		e.release = info.GitVersion
		return nil
	case v["input"] != nil && v["results"] != nil: // of etcd-diagnosis
		return e.readDiagnosis(in, v["results"])
	case v["Endpoint"] != nil && v["Status"] != nil:
		return e.addStatus(in, text("Endpoint"), v["Status"])
	case v["Endpoint"] != nil && v["HashKV"] != nil:
		return e.addHash(in, v["HashKV"])
	case v["header"] != nil && v["hash"] != nil && v["compact_revision"] != nil:
		whole, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return e.addHash(in, whole)
	case v["alarms"] != nil:
		return e.readAlarms(in, v["alarms"])
	case strings.Contains(strings.ToLower(path.Base(in.name)), "alarm") && (len(v) == 0 || len(v) == 1 && v["header"] != nil):
		return nil // a list of none: etcd's JSON leaves out what is empty
	case v["fio version"] != nil && v["jobs"] != nil:
		return e.readFioJSON(in, v["jobs"])
	case v["header"] != nil && v["raftTerm"] != nil && v["version"] != nil: // the reply itself
		whole, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return e.addStatus(in, "", whole)
	case v["header"] != nil && v["members"] != nil:
		return e.addMembers(in, v["header"], v["members"])
	case v["endpoint"] != nil && v["health"] != nil:
		e.addHealth(in, text("endpoint"), string(v["health"]) == "true", text("error"))
		return nil
	case v["health"] != nil && v["endpoint"] == nil:
		whole, err := json.Marshal(v)
		if err != nil {
			return err
		}
		e.reports = append(e.reports, &report{file: in.name, of: "etcd", path: "/health", code: 200, body: whole})
		return nil
	}
	return errNotRecognised
}

// readDiagnosis reads the report of etcd-diagnosis: of its parts, those that are
// etcd's own answers.
func (e *Evidence) readDiagnosis(in *input, raw []byte) error {
	var parts []struct {
		MemberList   map[string]json.RawMessage
		EpStatusList []struct {
			Endpoint string
			EpStatus json.RawMessage
		}
	}
	if json.Unmarshal(raw, &parts) != nil {
		return errNotRecognised
	}
	read := 0
	for _, p := range parts {
		if p.MemberList != nil {
			if err := e.addMembers(in, p.MemberList["header"], p.MemberList["members"]); err != nil {
				return err
			}
			read++
		}
		for _, s := range p.EpStatusList {
			if err := e.addStatus(in, s.Endpoint, s.EpStatus); err != nil {
				return err
			}
			read++
		}
	}
	if read == 0 {
		return errNotRecognised
	}
	return nil
}

// exact is a JSON number as etcd's clients write one: with or without quotes.
type exact uint64

// UnmarshalJSON reads a number or a string of one.
func (n *exact) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseUint(strings.Trim(string(b), `"`), 10, 64)
	*n = exact(v)
	return err
}

func (e *Evidence) addStatus(in *input, endpoint string, raw []byte) error {
	var h struct {
		Header struct {
			MemberID exact `json:"member_id"`
		} `json:"header"`
	}
	if err := json.Unmarshal(raw, &h); err != nil || h.Header.MemberID == 0 {
		return errors.New("a status in it does not name its member")
	}
	e.statuses = append(e.statuses, &status{file: in.name, endpoint: hostPort(endpoint), id: uint64(h.Header.MemberID), rank: in.rank, body: slices.Clone(raw)})
	return nil
}

func (e *Evidence) addMembers(in *input, header, list []byte) error {
	var h struct {
		ClusterID exact `json:"cluster_id"`
	}
	var ms []struct {
		ID         exact    `json:"ID"`
		Name       string   `json:"name"`
		PeerURLs   []string `json:"peerURLs"`
		ClientURLs []string `json:"clientURLs"`
		IsLearner  bool     `json:"isLearner"`
	}
	if err := errors.Join(json.Unmarshal(header, &h), json.Unmarshal(list, &ms)); err != nil {
		return errors.New("it is no list of etcd's members")
	}
	for _, m := range ms {
		e.addMember(&member{in.name, uint64(m.ID), m.Name, m.PeerURLs, m.ClientURLs, m.IsLearner, uint64(h.ClusterID)})
	}
	return nil
}

func (e *Evidence) addMember(m *member) {
	if m.ID == 0 || slices.ContainsFunc(e.members, func(o *member) bool { return o.ID == m.ID }) {
		return
	}
	e.members = append(e.members, m)
}

var activeAlarm = regexp.MustCompile(`Active Alarm\(s\): *([A-Z]+)`)

// addHealth keeps a line of etcdctl endpoint health, in the words of etcd's
// own health endpoint.
func (e *Evidence) addHealth(in *input, endpoint string, ok bool, why string) {
	if endpoint != "" && hostPort(endpoint) == "" {
		return // etcdctl cannot reach a socket of another machine: what it says of it is no news
	}
	v := map[string]string{"health": strconv.FormatBool(ok)}
	if m := activeAlarm.FindStringSubmatch(why); m != nil {
		v["reason"] = "ALARM " + m[1]
	} else if why != "" {
		v["reason"] = clip(why)
	}
	body, err := json.Marshal(v)
	if err != nil {
		return
	}
	e.reports = append(e.reports, &report{file: in.name, of: "etcd", path: "/health", endpoint: hostPort(endpoint), code: 200, body: body})
}

// readEtcdTable reads what etcdctl -w table prints.
func (e *Evidence) readEtcdTable(in *input, text string) error {
	var header []string
	var rows [][]string
	for _, line := range lines(text) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case header == nil:
			header = cells
		case len(cells) != len(header) || len(rows) == maxFiles:
		case cells[0] == "" && len(rows) > 0: // a cell that did not fit goes on
			last := rows[len(rows)-1]
			for i, c := range cells {
				if c != "" {
					last[i] = strings.TrimSpace(last[i] + " " + c)
				}
			}
		default:
			rows = append(rows, cells)
		}
	}
	if len(rows) == 0 {
		return errors.New("the table has no rows")
	}
	column := func(row []string, names ...string) string {
		for i, h := range header {
			if slices.Contains(names, h) && i < len(row) {
				return row[i]
			}
		}
		return ""
	}
	switch {
	case slices.Contains(header, "DB SIZE"):
		var out []line
		for _, r := range rows {
			out = append(out, line{
				endpoint: column(r, "ENDPOINT"), id: column(r, "ID"), version: column(r, "VERSION"), size: column(r, "DB SIZE"), inUse: column(r, "IN USE", "DB SIZE IN USE"),
				leader: column(r, "IS LEADER"), learner: column(r, "IS LEARNER"), term: column(r, "RAFT TERM"), index: column(r, "RAFT INDEX"),
				applied: column(r, "RAFT APPLIED INDEX"), errors: column(r, "ERRORS"),
			})
		}
		return e.addLines(in, out)
	case slices.Contains(header, "PEER ADDRS"):
		for _, r := range rows {
			id, _ := strconv.ParseUint(column(r, "ID"), 16, 64)
			e.addMember(&member{file: in.name, ID: id, Name: column(r, "NAME"), PeerURLs: list(column(r, "PEER ADDRS")), ClientURLs: list(column(r, "CLIENT ADDRS")), IsLearner: column(r, "IS LEARNER") == "true"})
		}
		return nil
	case slices.Contains(header, "HASH"):
		return errors.New("a hash without the revision that it is of cannot be compared; use etcdctl endpoint hashkv --cluster -w json")
	case slices.Contains(header, "HEALTH"):
		for _, r := range rows {
			e.addHealth(in, column(r, "ENDPOINT"), column(r, "HEALTH") == "true", column(r, "ERROR"))
		}
		return nil
	}
	return errNotRecognised
}

// list splits addresses; an empty cell holds none.
func list(s string) []string {
	var out []string
	for u := range strings.SplitSeq(s, ",") {
		if u = strings.TrimSpace(u); u != "" {
			out = append(out, u)
		}
	}
	return out
}

// readEtcdSimple reads etcdctl endpoint status -w simple: endpoint, ID,
// version, size, in 3.6 also storage version, size in use and quota; is
// leader, from 3.4 is learner, term, index, applied index, errors.
func (e *Evidence) readEtcdSimple(in *input, text string) error {
	var out []line
	for _, l := range lines(text) {
		c := strings.Split(l, ", ")
		i := slices.IndexFunc(c, func(s string) bool { return s == "true" || s == "false" })
		if i < 4 || len(c) < i+3 || len(out) == maxFiles {
			continue
		}
		x := line{endpoint: c[0], id: c[1], version: c[2], size: c[3], leader: c[i]}
		if i > 4 { // 3.6: storage version before the size
			x.size = c[4]
		}
		c = c[i+1:]
		if c[0] == "true" || c[0] == "false" {
			x.learner, c = c[0], c[1:]
		}
		if len(c) < 2 {
			continue
		}
		x.term, x.index = c[0], c[1]
		if len(c) > 2 {
			x.applied = c[2]
		}
		if len(c) > 3 {
			x.errors = strings.Trim(strings.Join(c[3:], ", "), ", ")
		}
		out = append(out, x)
	}
	return e.addLines(in, out)
}

// A line is one member's row of a status as text.
type line struct {
	endpoint, id, version, size, inUse, leader, learner, term, index, applied, errors string
}

// someLeader stands for a leader of which only is known that it is another
// member: a row says whether its member leads, not who does.
const someLeader = 1

// addLines makes statuses of rows. Sizes are what the row rounds them to.
func (e *Evidence) addLines(in *input, rows []line) error {
	leader := uint64(someLeader)
	for _, r := range rows {
		if r.leader == "true" {
			leader, _ = strconv.ParseUint(r.id, 16, 64)
		}
	}
	read := 0
	for _, r := range rows {
		id, err := strconv.ParseUint(r.id, 16, 64)
		if err != nil || id == 0 {
			continue
		}
		number := func(s string) uint64 {
			n, _ := strconv.ParseUint(s, 10, 64)
			return n
		}
		var v struct {
			Header struct {
				MemberID uint64 `json:"member_id"`
				Term     uint64 `json:"raft_term"`
			} `json:"header"`
			Version string   `json:"version"`
			Size    int64    `json:"dbSize"`
			InUse   int64    `json:"dbSizeInUse,omitempty"`
			Leader  uint64   `json:"leader"`
			Learner bool     `json:"isLearner"`
			Term    uint64   `json:"raftTerm"`
			Index   uint64   `json:"raftIndex"`
			Applied uint64   `json:"raftAppliedIndex"`
			Errors  []string `json:"errors,omitempty"`
		}
		v.Header.MemberID, v.Header.Term = id, number(r.term)
		v.Version, v.Size, v.InUse, v.Leader, v.Learner = r.version, size(r.size), size(r.inUse), leader, r.learner == "true"
		v.Term, v.Index, v.Applied = number(r.term), number(r.index), number(r.applied)
		v.Errors = alarmsIn(r.errors)
		if strings.Contains(r.errors, "no leader") {
			v.Leader = 0
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := e.addStatus(in, r.endpoint, raw); err != nil {
			return err
		}
		read++
	}
	if read == 0 {
		return errors.New("no line of it is the status of a member")
	}
	return nil
}

var alarmText = regexp.MustCompile(`memberID: *\d+ +alarm: *\w+`)

// alarmsIn takes apart a cell of errors, which may hold several.
func alarmsIn(s string) []string {
	out := alarmText.FindAllString(s, -1)
	if rest := strings.Trim(alarmText.ReplaceAllString(s, ""), " ,"); rest != "" {
		out = append(out, clip(rest))
	}
	return out
}

// size reads "25 kB" or "1.2 GB", as go-humanize writes bytes.
func size(s string) int64 {
	num, unit, _ := strings.Cut(strings.TrimSpace(s), " ")
	x, err := strconv.ParseFloat(num, 64)
	factor, ok := map[string]float64{"": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]
	if x *= factor; err != nil || !ok || !(x >= 0 && x < math.MaxInt64/2) {
		return 0
	}
	return int64(x)
}

// hostPort returns host:port of an endpoint, which may be a URL.
func hostPort(endpoint string) string {
	endpoint = strings.TrimSpace(endpoint)
	if strings.HasPrefix(endpoint, "unix") { // a socket of the member's own machine
		return ""
	}
	if u, err := url.Parse(endpoint); err == nil && u.Host != "" && strings.Contains(endpoint, "://") {
		endpoint = u.Host
	}
	endpoint, _, _ = strings.Cut(endpoint, "/")
	return clip(endpoint)
}

// reachable reports whether an address means the same thing from anywhere.
func reachable(hostPort string) bool {
	h, _, err := net.SplitHostPort(hostPort)
	if err != nil || h == "" || h == "localhost" {
		return false
	}
	ip := net.ParseIP(h)
	return ip == nil || !ip.IsLoopback() && !ip.IsUnspecified()
}
