package live

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ktriage/ktriage/collectors"
)

func TestSizesAndHistoryHoldNoValue(t *testing.T) {
	addr, flags := startEtcd(t, nil)
	s := newSource(t, Config{Etcd: flags})
	type event struct {
		Key     []byte
		Bytes   int
		Version int64
		Mod     int64 `json:"mod_revision"`
		Deleted bool
	}
	call := func(path string) (v struct {
		Kvs, Events []event
		More        bool
	}) {
		t.Helper()
		_, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + addr + path})
		if gap != nil {
			t.Fatal(gap)
		}
		if strings.Contains(body, token) || strings.Contains(body, "value") {
			t.Errorf("%s shows a value: %s", path, body)
		}
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	got := call("/kv/sizes?key=/registry/&end=/registry0&limit=2")
	if len(got.Kvs) != 2 || !got.More || got.Kvs[0].Bytes != len(token) || string(got.Kvs[0].Key) != "/registry/secrets/0" || got.Kvs[0].Version != 1 {
		t.Errorf("got %+v", got)
	}
	if got := call("/kv/sizes?key=/registry/secrets/1%00&end=%00&limit=500"); len(got.Kvs) != 2 || string(got.Kvs[1].Key) != "compact_rev_key" || got.More {
		t.Errorf("got %+v, want the last two keys", got)
	}
	if got := call("/watch/history?from=2&to=3&limit=10"); len(got.Events) != 2 || got.Events[1].Mod != 3 || got.Events[1].Bytes != len(token) || got.More {
		t.Errorf("got %+v, want revisions 2 and 3", got)
	}
	if got := call("/watch/history?from=2&to=4&limit=2"); len(got.Events) != 2 || !got.More {
		t.Errorf("got %+v, want two events of three", got)
	}
	for _, path := range []string{"/kv/sizes?key=a&limit=5", "/kv/sizes?key=a&end=b", "/kv/sizes?key=a&end=b&limit=100000", "/kv/sizes?end=b&limit=1",
		"/watch/history?from=0&to=3&limit=1", "/watch/history?from=3&to=2&limit=1", "/watch/history?from=1&to=2", "/watch/history?from=x&to=2&limit=1"} {
		if _, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Call, URL: "etcd://" + addr + path}); gap == nil || gap.Reason != collectors.NotAsked {
			t.Errorf("%s: got %v, want not asked", path, gap)
		}
	}
}
