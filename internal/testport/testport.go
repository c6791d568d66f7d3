// Package testport gives tests addresses to listen on.
//
// A port that the kernel chose and that was closed again can be taken by any
// connection that goes out before it is listened on: the kernel chooses those from
// the same range. A member of etcd that starts anew, or an address where nobody may
// answer, needs one that nobody is given.
package testport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// From first on and below last are ports that Linux (net.ipv4.ip_local_port_range, from
// 32768), macOS and Windows (from 49152) give no outgoing connection.
const (
	first = 12000
	last  = 32000
)

var (
	mu    sync.Mutex
	given = map[int]bool{}
)

// Addr is an address of the loopback interface, with a port where nothing listens
// and that this process was not given before.
func Addr() (string, error) {
	mu.Lock()
	defer mu.Unlock()
	var errs []error
	// One busy port in a hundred is many: a hundred tries fail when something else is wrong.
	for range 100 {
		port := first + rand.IntN(last-first)
		if given[port] {
			continue
		}
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := net.Listen("tcp", addr)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		given[port] = true
		return addr, l.Close()
	}
	return "", fmt.Errorf("no port to listen on: %w", errors.Join(errs...))
}
