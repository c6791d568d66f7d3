package etcd

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

func answered(body string) []collectors.Answered {
	return []collectors.Answered{{Reply: collectors.Reply{From: "test"}, Body: []byte(body)}}
}

func TestStatus(t *testing.T) {
	const full = `{"header":{"cluster_id":7,"member_id":15037885980601823000,"revision":540057523,"raft_term":37},"version":"3.6.8","dbSize":401489920,
		"leader":3587062029378754000,"raftIndex":560998036,"raftTerm":37,"raftAppliedIndex":560998030,"dbSizeInUse":1,"isLearner":true,
		"errors":["etcdserver: no leader"],"storageVersion":"3.6.0","dbSizeQuota":-1,"downgradeInfo":{"enabled":true,"targetVersion":"3.5.0"}}`
	got, err := readStatus(answered(full))
	if err != nil {
		t.Fatal(err)
	}
	want := State{
		MemberID: 15037885980601823000, Version: "3.6.8", Storage: "3.6.0", Downgrade: "3.5.0", Leader: 3587062029378754000, Learner: true,
		Term: 37, RaftIndex: 560998036, AppliedIndex: 560998030, Revision: 540057523, DBSize: 401489920, DBSizeInUse: 1, Quota: -1,
		Errors: []string{"etcdserver: no leader"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, body := range []string{``, `{}`, `null`, `[]`, `"x"`, `{"header":{}}`, `{"header":{"member_id":-1.5}}`, `{"error":"etcdserver: permission denied"}`} {
		if _, err := readStatus(answered(body)); err == nil {
			t.Errorf("%s passed for a status", body)
		}
	}
}

func TestAlarmsInStatusHoweverTheyAreSpaced(t *testing.T) {
	got := alarmsOf(State{Errors: []string{
		"etcdserver: no leader", "memberID:10276657743932975437 alarm:NOSPACE ", "memberID:3  alarm:CORRUPT", "alarm:NOSPACE", "memberID:x alarm:", "",
	}})
	want := []Alarm{{"NOSPACE", "8e9e05c52164694d"}, {"CORRUPT", "3"}, {"NOSPACE", ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAlarmList(t *testing.T) {
	got, err := readAlarmList(answered(`{"header":{"member_id":1},"alarms":[{"memberID":17,"alarm":1},{"memberID":"18","alarm":"CORRUPT"}]}`))
	if diff := cmp.Diff([]Alarm{{NoSpace, "11"}, {Corrupt, "12"}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := readAlarmList(answered(`{"header":{"member_id":1}}`)); err != nil || len(got) != 0 {
		t.Errorf("no alarms: got %v, %v", got, err)
	}
	if _, err := readAlarmList(answered(`{}`)); err == nil {
		t.Error("{} passed for a list of alarms: it would be all clear")
	}
}

func TestHealth(t *testing.T) {
	for body, want := range map[string]Health{
		`{"health":"true","reason":""}`:                 {OK: true},
		`{"health":true}`:                               {OK: true},
		`{"health":"false","reason":"ALARM NOSPACE"}`:   {Reason: "ALARM NOSPACE"},
		"{\"health\":\"false\"}\n":                      {},
		`{"health":"false","reason":"RAFT NO LEADER"}x`: {},
	} {
		got, err := parseHealth([]byte(body))
		if (err != nil) != (body[len(body)-1] == 'x') || err == nil && got != want {
			t.Errorf("%s: got %+v, %v", body, got, err)
		}
	}
	for _, body := range []string{``, `{}`, `ok`, `<html>`, `{"health":"maybe"}`, `{"health":null}`, `[]`} {
		if got, err := parseHealth([]byte(body)); err == nil {
			t.Errorf("%q passed for a health: %+v", body, got)
		}
	}
}

func TestCompactorTurn(t *testing.T) {
	const good = `{"header":{"member_id":1},"kvs":[{"value":"OTAw","mod_revision":"950","version":"12"}]}`
	if got, err := readCompactor(answered(good)); err != nil || got != (Compactor{Written: 950, Target: 900, Turns: 12}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := readCompactor(answered(`{"header":{"member_id":1}}`)); err != nil || got != (Compactor{}) {
		t.Errorf("without the key: got %+v, %v", got, err)
	}
	for _, body := range []string{
		``, `{}`, `{"kvs":[]}`, `{"header":{"member_id":1},"kvs":[{}]}`, `{"header":{"member_id":1},"kvs":[{"value":"OTAw","mod_revision":"900"}]}`,
		`{"header":{"member_id":1},"kvs":[{"value":"LTE=","mod_revision":"950"}]}`, `{"header":{"member_id":1},"kvs":[{"value":"OTAwOTAwOTAwOTAwOTAwOTAwOTAwOTAw","mod_revision":"950"}]}`,
	} {
		if got, err := readCompactor(answered(body)); err == nil {
			t.Errorf("%s passed for a turn: %+v", body, got)
		}
	}
}

// FuzzParse holds the readers of replies against whatever a thing on etcd's
// port may say: none may panic, and nothing but a reply may pass for one.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"header":{"cluster_id":7,"member_id":1,"raft_term":5},"members":[{"ID":1,"name":"cp-1","peerURLs":["https://[::1]:2380"],"clientURLs":[""]}]}`,
		`{"header":{"member_id":"1"},"version":"3.6.8","dbSize":-1,"errors":["memberID:1 alarm:NOSPACE"]}`,
		`{"header":{"member_id":1},"alarms":[{"memberID":1,"alarm":9e99}]}`,
		`{"header":{"member_id":1},"kvs":[{"key":"L2t0cmlhZ2UvZGVmcmFnbWVudGVkLzEvMTc2NzMyMjg2NQ=="},{"key":"L2t0cmlhZ2UvaGFsdA=="}]}`,
		`{"health":"true"}`, `{"health":{}}`, `null`, `{"members":[null]}`, "\xff", `{"header":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rs := answered(string(b))
		if st, err := readStatus(rs); err == nil {
			if st.MemberID == 0 {
				t.Errorf("a status of nobody: %q", b)
			}
			alarmsOf(st)
			alarmsInStatus(st.Version)
			quotaInStatusIsRight(st.Version)
		}
		if as, err := readAlarmList(rs); err == nil {
			for _, a := range as {
				parseID(a.Member)
			}
		}
		parseHealth(b)
		readUpkeep(rs)
		var l listing
		if json.Unmarshal(b, &l) != nil {
			return
		}
		for _, m := range fromList(l, nil, cluster.Nodes{}).Members {
			if m.Name == "" {
				t.Errorf("a member without a name: %q", b)
			}
			usable(m.Client)
		}
	})
}

func TestUpkeep(t *testing.T) {
	u, err := readUpkeep(answered(`{"header":{"member_id":1},"kvs":[
		{"key":"L2t0cmlhZ2UvZGVmcmFnbWVudGVkLzEvMTc2NzMyMjg2NQ=="},
		{"key":"L2t0cmlhZ2UvZGVmcmFnbWVudGVkLzEvMTAw"},
		{"key":"L2t0cmlhZ2UvZGVmcmFnbWVudGVkL3gveQ=="},
		{"key":"L2t0cmlhZ2UvaGFsdA=="}]}`))
	if err != nil || !u.Halted || len(u.Defragmented) != 1 || u.Defragmented[1].Unix() != 1767322865 {
		t.Errorf("got %+v, %v", u, err)
	}
	if DefragmentedKey(1, u.Defragmented[1]) != "/ktriage/defragmented/1/1767322865" {
		t.Error("it is written under another key than it is read from")
	}
	for _, bad := range []string{`{}`, `null`, `{"kvs":[{"key":"L2t0cmlhZ2UvaGFsdA=="}]}`} {
		if _, err := readUpkeep(answered(bad)); err == nil {
			t.Errorf("%s passes for a reply of etcd", bad)
		}
	}
}
