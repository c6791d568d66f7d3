package cluster

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// diskSize is more than the largest quota that etcd's authors suggest.
const diskSize = "10g"

// mountDisks gives each etcd member a disk of its own, in memory: what others do
// to this machine's disk, such as a build, is no fault of the lab's. etcd syncs
// to it as to any other, only faster.
func (o Options) mountDisks() error {
	for i := range o.EtcdMembers {
		dir := o.EtcdData(i)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if o.RealDisk {
			continue
		}
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+diskSize); err != nil {
			return fmt.Errorf("mount a disk on %s: %w", dir, err)
		}
	}
	return nil
}

// unmountDisks removes what mountDisks made, if it is there.
func (o Options) unmountDisks() error {
	for i := range o.EtcdMembers {
		err := unix.Unmount(o.EtcdData(i), unix.MNT_DETACH)
		// EINVAL: nothing is mounted there.
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("unmount the disk on %s: %w", o.EtcdData(i), err)
		}
	}
	return nil
}
