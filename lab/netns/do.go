// Package netns gives each node of a lab a network of its own: an address, a
// loopback interface, and standard ports that clash with nobody's.
//
// The namespaces hang on one bridge and have no default route, so nothing that
// runs in them can send a packet off this machine.
package netns

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// runDir is where iproute2 keeps the names of namespaces.
const runDir = "/run/netns"

// Do runs f on a thread that is in the named namespace; "" is the one this
// process started in. Sockets that f opens and processes that it starts belong
// to the namespace for good.
func Do(name string, f func() error) error {
	if name == "" {
		return f()
	}
	errs := make(chan error, 1)
	go func() { errs <- do(name, f) }()
	return <-errs
}

func do(name string, f func() error) error {
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("open own network namespace: %w", err)
	}
	defer home.Close()
	there, err := os.Open(filepath.Join(runDir, name))
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("open network namespace: %w", err)
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter network namespace %s: %w", name, err)
	}
	err = f()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		// A thread left in the wrong network would serve other goroutines, and
		// one that ends kills what it started (PR_SET_PDEATHSIG). Neither is
		// survivable.
		panic(fmt.Sprintf("leave network namespace %s: %v", name, back))
	}
	runtime.UnlockOSThread()
	return err
}

// Dialer returns a dial function for HTTP clients that connects from inside the
// named namespace, so that its 127.0.0.1 is the node's own.
func Dialer(name string, timeout time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var conn net.Conn
		err := Do(name, func() error {
			var err error
			conn, err = (&net.Dialer{Timeout: timeout}).DialContext(ctx, network, address)
			return err
		})
		return conn, err
	}
}
