package host

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Kernel is what the kernel's log tells.
type Kernel struct {
	Kills  []Kill    `json:"kills,omitempty"`
	Disk   []string  `json:"disk,omitempty"` // lines of failing disks and file systems, at most a few
	From   string    `json:"from,omitempty"` // what was read
	Since  time.Time `json:"since,omitzero"`
	Missed []Missed  `json:"missed,omitempty"`
}

// A Kill is a process that the kernel ended for want of memory.
type Kill struct {
	At      time.Time `json:"at"`
	PID     int       `json:"pid"`
	Name    string    `json:"name"`              // as the kernel has it: at most 15 bytes
	Group   string    `json:"group,omitempty"`   // whose limit was reached; empty if it was the machine's memory
	Task    string    `json:"task,omitempty"`    // the group of the process itself
	Machine bool      `json:"machine,omitempty"` // the machine's memory was used up, not a group's
}

// Role is that of the process.
func (k Kill) Role() Role {
	for _, r := range Components {
		// The kernel cuts names after 15 bytes.
		if k.Name == string(r) || k.Name == string(r)[:min(len(r), 15)] {
			return r
		}
	}
	return RoleOf(k.Name)
}

// Kernels is what the kernel's log tells.
var Kernels = fact[Kernel]("host.kernel", "what the kernel's log tells of processes that were ended for want of memory, and of failing disks", KernelURL)

var (
	killLine = regexp.MustCompile(`^(Memory cgroup out of memory|Out of memory): Kill(?:ed)? process (\d+) \((.{0,64}?)\)`)
	// oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),…,oom_memcg=/a,task_memcg=/a/b,task=etcd,pid=1,uid=0
	oomLine = regexp.MustCompile(`^oom-kill:constraint=(\w+),.*?(?:,oom_memcg=([^,]*))?(?:,task_memcg=([^,]*))?,task=(.{0,64}?),pid=(\d+),uid=`)
	badDisk = regexp.MustCompile(`(?i)I/O error|EXT4-fs error|XFS .*(corruption|shut ?down)|remounting filesystem read-only|critical medium error`)
)

const maxDiskLines = 5

// Line takes in a line of the kernel's log.
func (k *Kernel) Line(at time.Time, text string) {
	text = strings.ToValidUTF8(text, "?")
	if m := oomLine.FindStringSubmatch(text); m != nil {
		pid, _ := strconv.Atoi(m[5])
		k.Kills = append(k.Kills, Kill{At: at, PID: pid, Name: m[4], Group: m[2], Task: m[3], Machine: m[1] != "CONSTRAINT_MEMCG"})
		return
	}
	if m := killLine.FindStringSubmatch(text); m != nil {
		pid, _ := strconv.Atoi(m[2])
		for i := range k.Kills { // the same that the line before told
			if d := at.Sub(k.Kills[i].At); k.Kills[i].PID == pid && d.Abs() < time.Minute {
				return
			}
		}
		k.Kills = append(k.Kills, Kill{At: at, PID: pid, Name: m[3], Machine: m[1] == "Out of memory"})
		return
	}
	if badDisk.MatchString(text) {
		k.Disk = append(k.Disk, text[:min(len(text), 200)])
		if len(k.Disk) > maxDiskLines {
			k.Disk = k.Disk[1:]
		}
	}
}

// ParseKmsg reads a record of /dev/kmsg: "6,1234,5678901,-;text", the third
// being µs since the machine started.
func ParseKmsg(b []byte) (since time.Duration, text string, ok bool) {
	head, text, ok := strings.Cut(string(b), ";")
	if !ok {
		return 0, "", false
	}
	parts := strings.Split(head, ",")
	if len(parts) < 3 {
		return 0, "", false
	}
	us, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || us < 0 || us > 1<<52 {
		return 0, "", false
	}
	text, _, _ = strings.Cut(text, "\n") // what follows are fields of devices
	return time.Duration(us) * time.Microsecond, text, true
}
