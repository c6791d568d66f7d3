package certificates

import (
	_ "embed"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/inventory"
)

//go:embed file_vs_served.md
var fileVsServedDoc string

// FileVsServed looks for processes that serve with a certificate of before its renewal.
var FileVsServed = &checks.Check{
	ID:        "cert-file-vs-served",
	Component: collectors.Certificates,
	Title:     "this node's API server and etcd serve with what is in their files",
	Doc:       fileVsServedDoc,
	Needs:     []collectors.Any{inventory.Files, inventory.Served},
	Remedies: []checks.Remedy{
		{Title: "on the node, restart the static pod: take its manifest away for 20 seconds, and put it back", Command: "mv /etc/kubernetes/manifests/kube-apiserver.yaml /tmp/ && sleep 20 && mv /tmp/kube-apiserver.yaml /etc/kubernetes/manifests/", Risk: checks.Disruptive},
	},
	Run: fileVsServed,
}

// fileOf is where kubeadm puts what these serve with.
var fileOf = map[string]string{
	"/etc/kubernetes/pki/apiserver.crt":   inventory.APIServer,
	"/etc/kubernetes/pki/etcd/server.crt": inventory.EtcdClient,
	"/etc/kubernetes/pki/etcd/peer.crt":   inventory.EtcdPeer,
}

func fileVsServed(p *checks.Pass) {
	here := collectors.Target{Component: collectors.Certificates, Name: "files"}
	d, gap := checks.One(p, inventory.Files)
	if gap != nil {
		p.Unknown(here, gap)
		return
	}
	served, gap := checks.All(p, inventory.Served)
	found := false
	for _, f := range d.Files {
		kind := fileOf[f.Path]
		if kind == "" {
			continue
		}
		found = true
		t := collectors.Target{Component: collectors.Certificates, Name: strings.TrimPrefix(f.Path, "/")}
		// Which of the instances runs here is not told; that one that serves just
		// this certificate does is enough.
		var others []collectors.Cert
		same := false
		var why *collectors.Gap
		for _, a := range served {
			if k, _, _ := cut(a.Target.Name); k != kind {
				continue
			}
			if a.Gap != nil {
				why = a.Gap
				continue
			}
			leaf := a.Value.Leaf()
			same = same || leaf.Serial == f.Cert.Serial
			if slices.Equal(leaf.IPs, f.Cert.IPs) && slices.Equal(leaf.DNSNames, f.Cert.DNSNames) && leaf.NotBefore.Before(f.Cert.NotBefore) {
				others = append(others, leaf)
			}
		}
		switch {
		case same:
			p.OK(t, "it is what is served, and valid for %s", checks.Span(f.Cert.NotAfter.Sub(p.Now())))
		case len(others) > 0:
			old := others[0]
			left := old.NotAfter.Sub(p.Now())
			s := checks.Info
			if left < servingWarn {
				s = checks.Warning
			}
			if left < servingCritical {
				s = checks.Critical
			}
			p.Judge(t, s, "it was renewed, and what is served is still the one of before, which ends in %s", checks.Span(left)).
				Saw(inventory.Files, "serial", f.Cert.Serial, "", "").
				Saw(inventory.Served, "serial, notAfter", old.Serial+", "+old.NotAfter.Format(time.RFC3339), checks.Span(servingWarn), servingSource)
		case gap != nil:
			p.Unknown(t, gap)
		case why != nil:
			p.Unknown(t, why)
		default:
			p.Unknown(t, collectors.Gapf(collectors.Absent, "nothing that is served has its names, so that it is not known who uses it"))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(fileOf)) {
		// It is named itself, or the folder that it may be in.
		i := slices.IndexFunc(d.Unread, func(why string) bool {
			return strings.HasSuffix(why, " "+path) || strings.HasSuffix(why, " "+filepath.Dir(path)) || strings.Contains(why, path+" ")
		})
		if i >= 0 {
			found = true
			p.Unknown(collectors.Target{Component: collectors.Certificates, Name: strings.TrimPrefix(path, "/")}, collectors.Gapf(collectors.Forbidden, "%s", d.Unread[i]).With("run ktriage as root"))
		}
	}
	if !found {
		p.Nothing(here, "there is none of kubeadm's serving certificates where ktriage runs")
	}
}
