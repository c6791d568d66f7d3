package apiserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const dumpHead = "PriorityLevelName, FlowSchemaName, QueueIndex, RequestIndexInQueue, FlowDistingsher, ArriveTime, InitialSeats, FinalSeats, AdditionalLatency, StartTime, UserName, Verb, APIPath, Namespace, Name, APIVersion, Resource, SubResource\n"

// dumped is a row as the API server writes it.
func dumped(level, schema, at, user string, seats int, verb, path, resource string) string {
	return fmt.Sprintf("%s, %s, 3, %s, %s, 2026-01-02T03:04:05Z, %d, 0, 0s, 2026-01-02T03:04:05Z, %s, %s, %s, , , v1, %s, \n", level, schema, at, user, seats, user, verb, path, resource)
}

func TestReadHolders(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       Holders
		broken     bool
	}{
		{name: "the largest first, by the seats", body: dumpHead +
			dumped("low", "b", "-1", "bob", 1, "get", "/api/v1/pods", "pods") +
			dumped("low", "b", "0", "bob", 1, "get", "/api/v1/pods", "pods") +
			dumped("low", "a", "-1", "alice", 10, "list", "/api/v1/pods", "pods"),
			want: Holders{
				{Level: "low", Schema: "a", Flow: "alice", User: "alice", What: "list pods", Requests: 1, Seats: 10},
				{Level: "low", Schema: "b", Flow: "bob", User: "bob", What: "get pods", Requests: 2, Waiting: 1, Seats: 2},
			}},
		{name: "a request for no resource is named by its path", body: dumpHead + dumped("low", "a", "-1", "alice", 1, "get", "/version", ""),
			want: Holders{{Level: "low", Schema: "a", Flow: "alice", User: "alice", What: "get /version", Requests: 1, Seats: 1}}},
		{name: "without details, as of 1.20: the flow alone", body: "PriorityLevelName, FlowSchemaName, QueueIndex, RequestIndexInQueue, FlowDistingsher, ArriveTime\nsystem, system-nodes, 12, 0, system:node:a, 2020-07-23T15:26:57Z\n",
			want: Holders{{Level: "system", Schema: "system-nodes", Flow: "system:node:a", Requests: 1, Waiting: 1, Seats: 1}}},
		{name: "a level without requests", body: dumpHead + "exempt, <none>, <none>, <none>, <none>, <none>, <none>, <none>, <none>, <none>, <none>, <none>, <none>, <none>, <none>, <none>, <none>, <none>\n", want: Holders{}},
		{name: "no request at all", body: dumpHead, want: Holders{}},
		{name: "a comma in a name leaves level and schema", body: dumpHead + dumped("low", "a", "-1", "Smith, John", 9, "list", "/api/v1/pods", "pods"),
			want: Holders{{Level: "low", Schema: "a", Requests: 1, Seats: 1}}},
		{name: "a line break in a path tears the row: neither part counts", body: dumpHead + dumped("low", "a", "-1", "alice", 1, "get", "/x\nhigh, b, 1, 1, bob", ""), want: Holders{}},
		{name: "seats that are no number", body: dumpHead + strings.Replace(dumped("low", "a", "-1", "alice", 7, "get", "/x", ""), " 7,", " 7x,", 1),
			want: Holders{{Level: "low", Schema: "a", Flow: "alice", User: "alice", What: "get /x", Requests: 1, Seats: 1}}},
		{name: "a login page", body: "<html><body>Sign in</body></html>", broken: true},
		{name: "nothing", broken: true},
		{name: "a line without end", body: dumpHead + strings.Repeat("x", 2<<20), broken: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readHolders([]byte(tt.body))
			if (err != nil) != tt.broken {
				t.Fatalf("got error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzReadHolders(f *testing.F) {
	f.Add([]byte(dumpHead + dumped("low", "a", "-1", "alice", 10, "list", "/api/v1/pods", "pods")))
	f.Add([]byte(dumpHead + "exempt, <none>"))
	f.Add([]byte("FlowSchemaName,PriorityLevelName\na,b\n,\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		hs, err := readHolders(body)
		if err != nil && hs != nil {
			t.Error("both holders and an error")
		}
		rows := strings.Count(string(body), "\n")
		n := 0
		for i, h := range hs {
			if h.Level == "" || h.Schema == "" || h.Requests < 1 || h.Waiting > h.Requests || h.Seats < h.Requests {
				t.Errorf("holder %+v", h)
			}
			if i > 0 && h.Seats > hs[i-1].Seats {
				t.Error("not the largest first")
			}
			n += h.Requests
		}
		if n > rows {
			t.Errorf("%d requests of %d rows", n, rows)
		}
	})
}
