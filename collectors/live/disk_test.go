package live

import (
	"encoding/json"
	"net"
	"testing"

	"github.com/ktriage/ktriage/collectors"
)

// TestDisk holds that the room on a disk is told of this machine only.
func TestDisk(t *testing.T) {
	s := newSource(t, Config{})
	for addr, why := range map[string]string{
		"192.0.2.1": "is not an address of this machine", "127.0.0.1": "is not an address of this machine", "x": "is not an address of this machine",
	} {
		_, _, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "config:/disk/" + addr + "/tmp"})
		wantGap(t, gap, collectors.OutOfScope, why)
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		n, ok := a.(*net.IPNet)
		if !ok || n.IP.IsLoopback() {
			continue
		}
		_, body, gap := fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "config:/disk/" + n.IP.String() + t.TempDir()})
		if gap != nil {
			t.Fatal(gap)
		}
		var d struct{ Free, Size int64 }
		if err := json.Unmarshal([]byte(body), &d); err != nil || d.Free <= 0 || d.Size < d.Free {
			t.Errorf("got %s, %v", body, err)
		}
		_, _, gap = fetch(t, s, collectors.Request{Verb: collectors.Get, URL: "config:/disk/" + n.IP.String() + "/no/such/folder"})
		wantGap(t, gap, collectors.OutOfScope, "cannot be seen from here")
		return
	}
}
