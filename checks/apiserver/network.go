package apiserver

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// neighbours names an instance in the same network as a that was reached at its
// own address.
func neighbours(a apiserver.Attempt, all []apiserver.Attempt) string {
	for _, o := range all {
		if !o.Instance.Own && o.Outcome.Reached() && sameNetwork(a.Instance.Host, o.Instance.Host) {
			return o.Instance.Name
		}
	}
	return ""
}

// etcdBeside tells whether a member of etcd answered in the network of the
// server: then that network can be reached from here.
func etcdBeside(p *checks.Pass, server string) (name, words string) {
	u, err := url.Parse(server)
	if err != nil {
		return "", ""
	}
	members, _ := checks.One(p, etcd.Members)
	for _, m := range members.Members {
		host, _, _ := net.SplitHostPort(m.Client)
		_, gap := checks.Of(p, etcd.Status, collectors.Target{Component: collectors.Etcd, Name: m.Name})
		if gap == nil && sameNetwork(u.Hostname(), host) {
			return m.Name, "; etcd member " + m.Name + " in the same network answers"
		}
	}
	return "", ""
}

// sameNetwork reports whether two addresses are so close that who reaches one
// can reach the other: in one /24, or /64.
func sameNetwork(a, b string) bool {
	x, errX := netip.ParseAddr(strings.Trim(a, "[]"))
	y, errY := netip.ParseAddr(strings.Trim(b, "[]"))
	if errX != nil || errY != nil || x.Is4() != y.Is4() {
		return false
	}
	bits := 64
	if x.Is4() {
		bits = 24
	}
	prefix, err := x.Prefix(bits)
	return err == nil && prefix.Contains(y)
}
