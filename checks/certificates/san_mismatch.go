package certificates

import (
	"crypto/x509"
	_ "embed"
	"net"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/inventory"
	"net/url"
)

//go:embed san_mismatch.md
var sANMismatchDoc string

// SANMismatch looks for API servers that clients do not recognise by their name.
var SANMismatch = &checks.Check{
	ID:        "cert-san-mismatch",
	Component: collectors.Certificates,
	Title:     "every API server's certificate is for the names by which clients call it",
	Doc:       sANMismatchDoc,
	Needs:     []collectors.Any{inventory.Served, cluster.HowReached, apiserver.Instances},
	Remedies: []checks.Remedy{
		{Title: "see for which names it is", Command: "openssl s_client -connect ADDRESS:6443 </dev/null 2>/dev/null | openssl x509 -noout -ext subjectAltName", Risk: checks.ReadOnly},
		{Title: "on that node, make it anew with the missing name: put the old away, and name all the names that it shall have", Command: "mv /etc/kubernetes/pki/apiserver.crt /etc/kubernetes/pki/apiserver.key /root/ && kubeadm init phase certs apiserver --apiserver-cert-extra-sans=NAME", Risk: checks.Disruptive},
	},
	Run: sANMismatch,
}

// inCluster is what pods call.
const inCluster = "kubernetes.default.svc"

func sANMismatch(p *checks.Pass) {
	a, gap := checks.One(p, cluster.HowReached)
	fleet, fleetGap := checks.One(p, apiserver.Instances)
	if gap == nil {
		gap = fleetGap
	}
	server := ""
	if u, err := url.Parse(a.Server); err == nil {
		server = u.Hostname()
	}
	as, servedGap := checks.All(p, inventory.Served)
	if servedGap != nil {
		p.Unknown(collectors.Target{Component: collectors.Certificates, Name: inventory.APIServer}, servedGap)
		return
	}
	for _, x := range as {
		t, chain := x.Target, x.Value
		kind, name, _ := cut(t.Name)
		if kind != inventory.APIServer {
			continue // nothing else is called by more than one name
		}
		if x.Gap != nil {
			p.Unknown(t, x.Gap)
			continue
		}
		if gap != nil {
			p.Unknown(t, gap)
			continue
		}
		var missing []string
		for _, n := range wanted(server, name, fleet) {
			if chain[0].VerifyHostname(n) != nil {
				missing = append(missing, n)
			}
		}
		switch {
		case len(missing) > 0:
			p.Warn(t, "its certificate is not for %s: whoever calls it so refuses it", strings.Join(missing, " and ")).
				Saw(inventory.Served, "names", strings.Join(names(chain[0]), ", "), strings.Join(wanted(server, name, fleet), ", "), "the kubeconfig, and the Service kubernetes")
		default:
			p.OK(t, "its certificate is for %s", strings.Join(wanted(server, name, fleet), ", "))
		}
	}
}

// wanted are the names by which an instance is called: that of the kubeconfig,
// unless it leads to another instance only, and what pods call.
func wanted(server, name string, f apiserver.Fleet) []string {
	out := []string{inCluster}
	other := slices.ContainsFunc(f.Known, func(i apiserver.Instance) bool { return i.Host == server && i.Name != name })
	if server != "" && !other && !isLoopback(server) {
		out = append(out, server)
	}
	return out
}

// isLoopback reports whether only one machine calls it that: the end of a tunnel.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func names(c *x509.Certificate) []string {
	out := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		out = append(out, ip.String())
	}
	return out
}
