package rights

import (
	"testing"

	"github.com/ktriage/ktriage/collectors"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		verb collectors.Verb
		url  string
		want string
	}{
		{collectors.List, "kube:/api/v1/nodes", "list nodes"},
		{collectors.List, "kube:/api/v1/namespaces", "list namespaces"},
		{collectors.List, "kube:/api/v1/namespaces/kube-system/pods?labelSelector=a", "list pods in kube-system"},
		{collectors.List, "kube:/apis/apps/v1/deployments", "list deployments.apps"},
		{collectors.Get, "kube:/api/v1/namespaces/kube-system/configmaps/x", "get configmaps x in kube-system"},
		{collectors.Get, "kube:/readyz?verbose", "get /readyz"},
		{collectors.Get, "kube:/apis/config.openshift.io", "get /apis/config.openshift.io"},
		{collectors.Scrape, "apiserver://10.0.0.1:6443/metrics", "get /metrics"},
		{collectors.Scrape, "pod+http://cp-1@kube-system/etcd-cp-1:2381/metrics", "create pods/portforward in kube-system, get pods/portforward in kube-system"},
		{collectors.Scrape, "pod+https://cp-1@kube-system/x:1/metrics", "create pods/portforward in kube-system, get pods/portforward in kube-system, get /metrics"},
		{collectors.Greet, "pod+https://cp-1@kube-system/x:1/", "create pods/portforward in kube-system, get pods/portforward in kube-system"},
		{collectors.Greet, "kube:/", ""},
		{collectors.Call, "etcd://10.0.0.1:2379/member/list", ""},
		{collectors.Get, "config:/cluster", ""},
	} {
		got := ""
		for i, r := range Of(collectors.Request{Verb: tt.verb, URL: tt.url}) {
			if i > 0 {
				got += ", "
			}
			got += r.String()
		}
		if got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.verb, tt.url, got, tt.want)
		}
	}
}

func TestReduceDropsWhatIsCovered(t *testing.T) {
	all, some := Right{Verb: "list", Resource: "pods"}, Right{Verb: "list", Resource: "pods", Namespace: "a"}
	if got := Reduce([]Right{some, all, all}); len(got) != 1 || got[0] != all {
		t.Errorf("got %v", got)
	}
}
