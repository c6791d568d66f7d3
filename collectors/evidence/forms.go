package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Other forms of etcdctl's output than JSON, tables and the plain status.
var (
	fieldLine      = regexp.MustCompile(`^"(\w+)" : (.*)$`)
	memberSimple   = regexp.MustCompile(`^[0-9a-f]{1,16}, (started|unstarted), `)
	healthSimple   = regexp.MustCompile(`^(\S+) is (healthy|unhealthy): (.*)$`)
	alarmSimple    = regexp.MustCompile(`^memberID: ?(\d+) alarm: ?([A-Z]+)\s*$`)
	checkPerf      = regexp.MustCompile(`^(PASS: (Throughput|Slowest request|Stddev)|FAIL: Throughput|Slowest request took too long|Stddev too high)`)
	etcdctlStarted = "started"
)

// readEtcdLines reads etcdctl's lines about members, health and alarms.
func (e *Evidence) readEtcdLines(in *input, text string) error {
	read := 0
	for _, l := range lines(text) {
		switch {
		case memberSimple.MatchString(l):
			c := strings.Split(l, ", ")
			id, err := strconv.ParseUint(c[0], 16, 64)
			if err != nil || len(c) < 5 {
				continue
			}
			m := &member{file: in.name, ID: id, PeerURLs: list(c[3]), ClientURLs: list(c[4]), IsLearner: len(c) > 5 && c[5] == "true"}
			if c[1] == etcdctlStarted {
				m.Name = c[2]
			}
			e.addMember(m)
		case alarmSimple.MatchString(l):
			m := alarmSimple.FindStringSubmatch(l)
			id, err := strconv.ParseUint(m[1], 10, 64)
			if err != nil {
				continue
			}
			e.addAlarm(in, id, m[2])
		case healthSimple.MatchString(l):
			m := healthSimple.FindStringSubmatch(l)
			why := m[3]
			if m[2] == "healthy" {
				why = ""
			}
			e.addHealth(in, m[1], m[2] == "healthy", why)
		default:
			continue
		}
		read++
	}
	if read == 0 {
		return errNotRecognised
	}
	return nil
}

// readAlarms reads etcdctl alarm list -w json. One that lists none is an empty
// object, of which nobody can tell what it is of.
func (e *Evidence) readAlarms(in *input, raw []byte) error {
	var as []struct {
		MemberID exact `json:"memberID"`
		Alarm    int   `json:"alarm"`
	}
	if json.Unmarshal(raw, &as) != nil {
		return errors.New("it is no list of alarms")
	}
	for _, a := range as {
		if name := map[int]string{1: "NOSPACE", 2: "CORRUPT"}[a.Alarm]; name != "" {
			e.addAlarm(in, uint64(a.MemberID), name)
		}
	}
	return nil
}

// addAlarm keeps an alarm as etcd's own health endpoint tells it.
func (e *Evidence) addAlarm(in *input, id uint64, alarm string) {
	body, err := json.Marshal(map[string]string{"health": "false", "reason": "ALARM " + clip(alarm)})
	if err == nil {
		e.reports = append(e.reports, &report{file: in.name, of: "etcd", path: "/health", id: id, code: 200, body: body})
	}
}

// readEtcdFields reads etcdctl -w fields: of a status, what ends with its
// endpoint; of a member list, what begins with a member's ID.
func (e *Evidence) readEtcdFields(in *input, text string) error {
	read := 0
	var pairs [][2]string
	get := func(name string) string { // the last of that name: RaftTerm is in the header too
		for _, p := range slices.Backward(pairs) {
			if p[0] == name {
				return p[1]
			}
		}
		return ""
	}
	hex := func(s string) string {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return ""
		}
		return strconv.FormatUint(n, 16)
	}
	leader := map[string]bool{}
	var rows []line
	member := func() {
		id, err := strconv.ParseUint(get("ID"), 10, 64)
		if err != nil {
			return
		}
		m := &member{file: in.name, ID: id, Name: get("Name"), IsLearner: get("IsLearner") == "true"}
		for _, p := range pairs {
			switch p[0] {
			case "PeerURL":
				m.PeerURLs = append(m.PeerURLs, p[1])
			case "ClientURL":
				m.ClientURLs = append(m.ClientURLs, p[1])
			}
		}
		e.addMember(m)
		read++
	}
	for _, l := range lines(text) {
		m := fieldLine.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		if m[1] == "ID" && get("ID") != "" {
			member()
			pairs = nil
		}
		pairs = append(pairs, [2]string{m[1], clip(strings.Trim(m[2], `"`))})
		if m[1] == "Endpoint" && get("DBSize") != "" {
			leader[get("Leader")] = true
			rows = append(rows, line{
				endpoint: get("Endpoint"), id: hex(get("MemberID")), version: get("Version"), size: get("DBSize"), inUse: get("DBSizeInUse"),
				leader: strconv.FormatBool(get("Leader") == get("MemberID")), learner: get("IsLearner"), term: get("RaftTerm"), index: get("RaftIndex"),
				applied: get("RaftAppliedIndex"), errors: strings.Trim(get("Errors"), "[]\""),
			})
			pairs = nil
			read++
		}
	}
	if get("ID") != "" {
		member()
	}
	if len(rows) > 0 {
		return e.addLines(in, rows)
	}
	if read == 0 {
		return errNotRecognised
	}
	return nil
}

// addHash keeps a hash of what a member holds. Before etcd 3.6 it does not say of
// which revision it is, and cannot be held against another.
func (e *Evidence) addHash(in *input, raw []byte) error {
	var h struct {
		Header struct {
			MemberID exact `json:"member_id"`
		} `json:"header"`
		Upto exact `json:"hash_revision"`
	}
	switch err := json.Unmarshal(raw, &h); {
	case err != nil || h.Header.MemberID == 0:
		return errors.New("a hash in it does not name its member")
	case h.Upto == 0:
		return errors.New("before etcd 3.6 a hash does not say of which revision it is, and cannot be compared; ktriage doctor --deep compares them live")
	}
	e.hashes[uint64(h.Header.MemberID)] = slices.Clone(raw)
	return nil
}

// Deep reports whether the evidence holds what is otherwise asked for on demand
// only.
func (e *Evidence) Deep() bool { return len(e.hashes) > 0 }

// sameID reports whether two IDs are of one member: jq, and whatever else takes
// JSON's numbers for floats, rounds them.
func sameID(a, b uint64) bool { return a == b || a != 0 && b != 0 && float64(a) == float64(b) }

// longNumber is what may be a rounded ID.
var longNumber = regexp.MustCompile(`\b\d{17,20}\b`)

// unround replaces IDs that were rounded by those that were not, where another
// file has them.
func (e *Evidence) unround() {
	var ids []uint64
	for _, m := range e.members {
		ids = append(ids, m.ID)
	}
	for _, s := range e.statuses {
		ids = append(ids, s.id)
	}
	for _, b := range e.bodies {
		ids = append(ids, b.id)
	}
	rounded := func(id uint64) bool { return id > 1<<53 && id%1000 == 0 }
	whole := func(id uint64) uint64 {
		for _, o := range ids {
			if rounded(id) && !rounded(o) && sameID(id, o) {
				return o
			}
		}
		return id
	}
	for _, m := range e.members {
		m.ID = whole(m.ID)
	}
	for _, s := range e.statuses {
		s.id = whole(s.id)
		s.body = longNumber.ReplaceAllFunc(s.body, func(b []byte) []byte {
			id, err := strconv.ParseUint(string(b), 10, 64)
			if err != nil {
				return b
			}
			return strconv.AppendUint(nil, whole(id), 10)
		})
	}
	var members []*member
	for _, m := range e.members { // a list with rounded IDs beside one without
		if !slices.ContainsFunc(members, func(o *member) bool { return o.ID == m.ID }) {
			members = append(members, m)
		}
	}
	e.members = members
}

// levelsHead begins the API server's dump_priority_levels.
const levelsHead = "PriorityLevelName, ActiveQueues,"

// readLevels reads dump_priority_levels.
func (e *Evidence) readLevels(in *input, text string) error {
	var header, out []string
	for _, l := range lines(text) {
		c := strings.Split(l, ",")
		for i := range c {
			c[i] = strings.TrimSpace(c[i])
		}
		if header == nil {
			header = c
			continue
		}
		cell := func(name string) int {
			if i := slices.Index(header, name); i >= 0 && i < len(c) {
				n, _ := strconv.Atoi(c[i]) // <none>, of a level without limits, is 0
				return n
			}
			return 0
		}
		if waiting, refused := cell("WaitingRequests"), cell("RejectedRequests")+cell("TimedoutRequests"); waiting+refused > 0 {
			out = append(out, fmt.Sprintf("level %s: %d requests wait, %d are executed, %d were refused since the start, by dump_priority_levels", clip(c[0]), waiting, cell("ExecutingRequests"), refused))
		}
	}
	return e.readSaid(in, out)
}
