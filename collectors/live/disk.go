package live

import (
	"net"
	"path/filepath"
	"strings"

	"github.com/ktriage/ktriage/collectors"
)

// askDisk answers config:/disk/ADDRESS/PATH: how much room there is at a path of
// this machine, if the address is one of its. A loopback address may be that of
// another network namespace or of a tunnel, and says nothing.
func (s *Source) askDisk(way, rest string) (*collectors.Reply, *collectors.Gap) {
	addr, path, _ := strings.Cut(rest, "/")
	path = "/" + path
	if !isOurs(addr) {
		return nil, collectors.Gapf(collectors.OutOfScope, "%s is not an address of this machine", addr)
	}
	if s.config.HostRoot != "" {
		path = filepath.Join(s.config.HostRoot, path)
	}
	free, size, err := room(path)
	if err != nil {
		return nil, collectors.Gapf(collectors.OutOfScope, "%s cannot be seen from here: %v", path, err)
	}
	return asJSON(way, struct {
		Free int64 `json:"free"`
		Size int64 `json:"size"`
	}{free, size})
}

func isOurs(addr string) bool {
	ip := net.ParseIP(addr)
	if ip == nil || ip.IsLoopback() {
		return false
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return false
}
