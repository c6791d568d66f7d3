package etcd

import (
	"strconv"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// alarmList asks those members for the alarms whose status does not hold them.
// Elsewhere the list is not asked for: it makes an entry in the raft log.
var alarmList = &collectors.Fact[[]Alarm]{
	ID:    "etcd.alarm-list",
	Doc:   "the alarms, of members older than 3.4",
	Needs: []collectors.Any{Members, Status},
	Targets: func(s *collectors.Snapshot) ([]collectors.Target, error) {
		all, err := MemberTargets(s)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			if st, gap := Status.Of(s, t); gap == nil && !alarmsInStatus(st.Version) {
				return []collectors.Target{t}, nil
			}
		}
		return nil, nil
	},
	Ask: func(s *collectors.Snapshot, t collectors.Target) []collectors.Request {
		return []collectors.Request{{Verb: collectors.Call, URL: clientAddr(s, t) + "/maintenance/alarms"}}
	},
	Read: readAlarmList,
}

func readAlarmList(rs []collectors.Answered) ([]Alarm, error) {
	v, err := readJSON[struct {
		Header header `json:"header"`
		Alarms []struct {
			MemberID number64 `json:"memberID"`
			Alarm    any      `json:"alarm"` // 1, "NOSPACE"
		} `json:"alarms"`
	}](rs)
	if err != nil {
		return nil, err
	}
	if v.Header.MemberID == 0 {
		return nil, collectors.Gapf(collectors.Malformed, "%s: the reply is not a list of alarms", rs[0].From)
	}
	out := []Alarm{}
	for _, a := range v.Alarms {
		x := Alarm{Member: strconv.FormatUint(uint64(a.MemberID), 16)}
		switch t := a.Alarm.(type) {
		case string:
			x.Type = t
		case float64:
			x.Type = map[float64]string{1: NoSpace, 2: Corrupt}[t]
		}
		out = append(out, x)
	}
	return out, nil
}

// alarmsInStatus reports whether a member's status holds the alarms. Source:
// etcd CHANGELOG-3.4.
func alarmsInStatus(version string) bool {
	v, err := cluster.ParseRelease(version)
	return err == nil && (v.Major > 3 || v.Minor >= 4)
}
