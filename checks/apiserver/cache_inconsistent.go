package apiserver

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed cache_inconsistent.md
var cacheInconsistentDoc string

// CacheInconsistent looks for instances whose watch cache was found to differ
// from etcd: what they serve is not what is stored.
var CacheInconsistent = &checks.Check{
	ID:        "apiserver-cache-inconsistent",
	Component: collectors.APIServer,
	Title:     "API servers' caches agree with etcd",
	Doc:       cacheInconsistentDoc,
	Needs:     []collectors.Any{apiserver.StoreIntegrity},
	Remedies: []checks.Remedy{
		{Title: "see whether etcd's members agree with each other", Command: "kubectl -n kube-system exec etcd-{node} -- etcdctl --endpoints=https://127.0.0.1:2379 --cacert=/etc/kubernetes/pki/etcd/ca.crt --cert=/etc/kubernetes/pki/etcd/server.crt --key=/etc/kubernetes/pki/etcd/server.key endpoint hashkv --cluster -w table", Risk: checks.ReadOnly},
		{Title: "if they do, restart that instance, on its node: it builds its caches anew", Command: "crictl stop $(crictl ps -q --name kube-apiserver)", Risk: checks.Disruptive},
	},
	Run: cacheInconsistent,
}

// Source: kube-apiserver, apiserver_storage_consistency_checks_total: a failure
// is a digest of the cache that differs from that of etcd at one revision.
const consistencySource = "kube-apiserver consistency checks"

func cacheInconsistent(p *checks.Pass) {
	for t, i := range checks.Each(p, apiserver.StoreIntegrity) {
		bad, resource := worstGrowth(i.Inconsistent)
		switch {
		case !i.Checks:
			p.Nothing(t, "it has counted no check of its caches yet; they came with 1.33 and are on from 1.34")
		case bad.Window > 0:
			p.Critical(t, "the cache of %s was found to differ from etcd in the window, and %s since the process started", resource, checks.Count(bad.Lifetime, "time")).
				Saw(apiserver.StoreIntegrity, "inconsistent "+resource, fmt.Sprintf("%.0f", bad.Lifetime), "0", consistencySource).Mark("resource=" + resource)
		case bad.Lifetime > 0: // it may have been mended by a cache that started over
			p.Warn(t, "the cache of %s was found to differ from etcd %s since the process started, not in the window", resource, checks.Count(bad.Lifetime, "time")).
				Saw(apiserver.StoreIntegrity, "inconsistent "+resource, fmt.Sprintf("%.0f", bad.Lifetime), "0", consistencySource).Mark("resource=" + resource)
		case i.Checked.Lifetime == 0:
			p.Nothing(t, "no cache has been checked yet")
		default:
			p.OK(t, "all of %.0f checks of caches against etcd agree", i.Checked.Lifetime)
		}
	}
}
