package etcd

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/checktest"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
)

// TestASlowMemberTellsItsLoad has a leader with a slow disk, and an API server
// that is asked for much: by whom is said of the slow member, and of no other.
func TestASlowMemberTellsItsLoad(t *testing.T) {
	const served = `
-- scrape kube:/metrics #first --
process_start_time_seconds 1767236645
kubernetes_build_info{git_version="v1.37.2"} 1
# TYPE apiserver_request_total counter
apiserver_request_total{code="201",group="",resource="events",scope="resource",subresource="",verb="POST",version="v1"} 1000
apiserver_request_total{code="200",group="coordination.k8s.io",resource="leases",scope="resource",subresource="",verb="PUT",version="v1"} 100
apiserver_request_total{code="409",group="",resource="pods",scope="resource",subresource="status",verb="PATCH",version="v1"} 0
apiserver_request_total{code="201",group="authorization.k8s.io",resource="subjectaccessreviews",scope="resource",subresource="",verb="POST",version="v1"} 0
apiserver_request_total{code="201",group="",resource="serviceaccounts",scope="resource",subresource="token",verb="POST",version="v1"} 0
# TYPE apiserver_storage_list_total counter
apiserver_storage_list_total{group="",resource="pods",storage="etcd"} 10
apiserver_storage_list_total{group="",resource="pods",storage="watchcache"} 10
# TYPE apiserver_storage_list_fetched_objects_total counter
apiserver_storage_list_fetched_objects_total{group="",resource="pods",storage="etcd"} 1000
apiserver_storage_list_fetched_objects_total{group="",resource="pods",storage="watchcache"} 1000
-- scrape kube:/metrics #last --
process_start_time_seconds 1767236645
kubernetes_build_info{git_version="v1.37.2"} 1
# TYPE apiserver_request_total counter
apiserver_request_total{code="201",group="",resource="events",scope="resource",subresource="",verb="POST",version="v1"} 1450
apiserver_request_total{code="200",group="coordination.k8s.io",resource="leases",scope="resource",subresource="",verb="PUT",version="v1"} 130
apiserver_request_total{code="409",group="",resource="pods",scope="resource",subresource="status",verb="PATCH",version="v1"} 900
apiserver_request_total{code="201",group="authorization.k8s.io",resource="subjectaccessreviews",scope="resource",subresource="",verb="POST",version="v1"} 900
apiserver_request_total{code="201",group="",resource="serviceaccounts",scope="resource",subresource="token",verb="POST",version="v1"} 900
# TYPE apiserver_storage_list_total counter
apiserver_storage_list_total{group="",resource="pods",storage="etcd"} 20
apiserver_storage_list_total{group="",resource="pods",storage="watchcache"} 9000
# TYPE apiserver_storage_list_fetched_objects_total counter
apiserver_storage_list_fetched_objects_total{group="",resource="pods",storage="etcd"} 21000
apiserver_storage_list_fetched_objects_total{group="",resource="pods",storage="watchcache"} 900000
`
	archives := []*txtar.Archive{}
	for _, f := range []string{"../checktest/testdata/kubeadm3.txtar", "../checktest/testdata/etcdmetrics3.txtar", "testdata/etcd-wal-fsync-slow/slow_leader.txtar"} {
		a, err := txtar.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		archives = append(archives, a)
	}
	archives = append(archives, txtar.Parse([]byte(served)))
	cs := []*checks.Check{WALFsyncSlow}
	c := collectors.Collect(context.Background(), capture.NewScript(checktest.Now, checktest.Window, archives...), checktest.Now, checktest.Window, collectors.Options{}, checks.Facts(cs)...)
	got := map[string][]string{}
	for _, f := range checks.Run(c.Snapshot, cs) {
		for _, e := range f.Evidence {
			if strings.HasPrefix(e.Fact, "apiserver.") {
				got[f.Target.Name] = append(got[f.Target.Name], e.Field+": "+e.Value)
			}
		}
	}
	want := map[string][]string{"cp-1": {
		"writes a second: 48, most of events (45), leases.coordination.k8s.io (3.0)",
		"objects a second read for lists: pods (2000)",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
