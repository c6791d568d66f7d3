//go:build unix

package live

import "golang.org/x/sys/unix"

// room returns how much of the file system under a path is free, and its size.
func room(path string) (free, size int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, 0, err
	}
	return int64(st.Bfree) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), nil
}
