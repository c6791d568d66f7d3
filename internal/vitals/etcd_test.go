package vitals

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ktriage/ktriage/checks/checktest"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/capture"
)

// collect reads the vitals of one group from scripts of checktest.
func collect(t *testing.T, g Group, more string, bases ...string) []string {
	t.Helper()
	var archives []*txtar.Archive
	for _, b := range bases {
		data, err := os.ReadFile("../../checks/checktest/testdata/" + b + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		archives = append(archives, txtar.Parse(data))
	}
	archives = append(archives, txtar.Parse([]byte(more)))
	src := capture.NewScript(checktest.Now, checktest.Window, archives...)
	c := collectors.Collect(t.Context(), src, checktest.Now, checktest.Window, collectors.Options{}, g.Needs...)
	var out []string
	for _, v := range read(g, c.Snapshot) {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %.3g%s %s %s", v.Target, strings.TrimSpace(v.Name+" "+v.Of), v.Value, v.Unit, v.Basis, v.Text)))
	}
	return out
}

func TestEtcdTellsWhoLeadsAndHowEachMemberDoes(t *testing.T) {
	got := collect(t, etcdGroup, "", "kubeadm3", "etcdmetrics3")
	want := []string{"etcd leader 1 instant cp-1", "etcd leader changes 0 window", "etcd leader changes 2 lifetime"}
	for _, m := range []string{"etcd/cp-1", "etcd/cp-2", "etcd/cp-3"} {
		for _, v := range []string{
			"fsync p99 0.00599s window", "commit p99 0.00618s window", "peer rtt p99 0.000792s window",
			"db size 5.24e+07B instant", "db in use 4.19e+07B instant", "db quota 2.15e+09B instant",
			"pending 0 instant", "apply lag 0 instant",
		} {
			want = append(want, m+" "+v)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEtcdWithoutAnswersHasNoVitals(t *testing.T) {
	if got := collect(t, etcdGroup, "", "kubeadm3", "etcdnocert"); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

func TestEtcdByStatusAlone(t *testing.T) {
	got := collect(t, etcdGroup, "", "kubeadm3")
	want := []string{"etcd leader 1 instant cp-1"}
	for _, m := range []string{"etcd/cp-1", "etcd/cp-2", "etcd/cp-3"} {
		want = append(want, m+" db size 5.24e+07B instant", m+" db in use 4.19e+07B instant", m+" db quota 2.15e+09B instant", m+" apply lag 0 instant")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
