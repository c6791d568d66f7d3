//go:build unix

package live

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes a file for this process, until it is closed. Who is killed
// gives it back.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// room returns how many bytes are free in the file system of a folder, for us.
func room(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
