package vitals

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/checks/checktest"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
)

// lines reads the vitals of a group from checktest's scripts, one a line.
func lines(t *testing.T, g Group, bases ...string) string {
	t.Helper()
	var as []*txtar.Archive
	for _, b := range bases {
		data, err := os.ReadFile(filepath.Join("../../checks/checktest/testdata", b+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		as = append(as, txtar.Parse(data))
	}
	c := collectors.Collect(context.Background(), capture.NewScript(checktest.Now, checktest.Window, as...), checktest.Now, checktest.Window, collectors.Options{}, g.Needs...)
	var b strings.Builder
	for _, v := range read(g, c.Snapshot) {
		fmt.Fprintf(&b, "%s %s = %.4g%s %s %s\n", v.Target, strings.TrimSpace(v.Name+" "+v.Of), v.Value, v.Unit, v.Basis, v.Text)
	}
	return b.String()
}

func TestOnlyTheLeadersQueuesAreVitals(t *testing.T) {
	for _, c := range []struct {
		group Group
		want  string
	}{
		{schedulerGroup, `scheduler pending pods = 0 instant 
scheduler/cp-1 queue active = 0 instant 
scheduler/cp-1 queue backoff = 0 instant 
scheduler/cp-1 queue unschedulable = 0 instant 
scheduler/cp-1 queue gated = 0 instant 
scheduler/cp-1 scheduled = 21/s window 
scheduler/cp-1 unschedulable = 01/s window 
scheduler/cp-1 errors = 01/s window 
`},
		{controllersGroup, `controllers/cp-2 queued = 1 instant 
controllers/cp-2 depth endpoint_slice = 1 instant 
controllers/cp-2 adds endpoint_slice = 31/s window 
controllers/cp-2 retries endpoint_slice = 31/s window 
controllers/cp-2 depth replicaset = 0 instant 
controllers/cp-2 adds replicaset = 21/s window 
controllers/cp-2 retries replicaset = 01/s window 
`},
		{leasesGroup, `leases/kube-system/kube-controller-manager renewed ago = 1.6s instant cp-2
leases/kube-system/kube-scheduler renewed ago = 0.5s instant cp-1
`},
	} {
		if diff := cmp.Diff(c.want, lines(t, c.group, "kubeadm3", "leaders")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.group.Component, diff)
		}
	}
}
