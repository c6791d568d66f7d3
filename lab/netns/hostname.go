package netns

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// WithHostname runs f on a thread whose host is called name. Processes that f
// starts keep the name: components put it into the leases that they hold.
func WithHostname(name string, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home, err := os.Open("/proc/thread-self/ns/uts")
	if err != nil {
		return fmt.Errorf("open own host name: %w", err)
	}
	defer home.Close()
	if err := unix.Unshare(unix.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("leave own host name: %w", err)
	}
	err = unix.Sethostname([]byte(name))
	if err == nil {
		err = f()
	}
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWUTS); back != nil {
		panic(fmt.Sprintf("leave host name %s: %v", name, back)) // as in Do
	}
	return err
}
