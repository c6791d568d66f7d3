package machine

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

// defaultManifests is where kubeadm puts manifests.
const defaultManifests = "/etc/kubernetes/manifests"

// maxManifests bounds the files that are read of the folder.
const maxManifests = 50

func (s *Source) readNode() host.Node {
	n := host.Node{At: time.Now(), Root: s.config.Root, Name: s.name()}
	s.processes(&n)
	s.manifests(&n)
	s.listeners(&n)
	if addrs, err := net.InterfaceAddrs(); err == nil {
		for _, a := range addrs {
			if ip, ok := a.(*net.IPNet); ok {
				n.Addresses = append(n.Addresses, ip.IP.String())
			}
		}
	}
	return n
}

func (s *Source) name() string {
	b, err := readSome(s.at("/etc/hostname"), procFile)
	if name := strings.TrimSpace(string(b)); err == nil && name != "" {
		return name
	}
	if s.config.Root != "" {
		return filepath.Base(s.config.Root)
	}
	name, err := os.Hostname()
	if err != nil {
		return "this node"
	}
	return name
}

// manifests reads the folder that the kubelet makes static pods of.
func (s *Source) manifests(n *host.Node) {
	n.Folder = defaultManifests
	for _, p := range n.Of(host.Kubelet) {
		if v, ok := p.Flag("pod-manifest-path"); ok {
			n.Folder = v
			continue
		}
		if v, ok := p.Flag("config"); ok {
			if b, err := readSome(s.at(v), smallFile); err == nil {
				if dir := staticPodPath(b); dir != "" {
					n.Folder = dir
				}
			}
		}
	}
	entries, err := os.ReadDir(s.at(n.Folder))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && !s.isNode() {
			return // this is no node of a cluster
		}
		n.Missed = append(n.Missed, missed("manifests", err))
		return
	}
	for _, e := range entries[:min(len(entries), maxManifests)] {
		path := filepath.Join(n.Folder, e.Name())
		st, err := os.Stat(s.at(path))
		if err == nil && st.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		b, err := readSome(s.at(path), smallFile)
		if err != nil {
			n.Missed = append(n.Missed, missed("manifest "+path, err))
			continue
		}
		n.Manifests = append(n.Manifests, host.ParseManifest(path, b))
	}
}

// isNode reports whether there are files of a kubelet.
func (s *Source) isNode() bool {
	for _, p := range [...]string{"/etc/kubernetes", "/var/lib/kubelet"} {
		if _, err := os.Stat(s.at(p)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// staticPodPath is what a kubelet's configuration names as its folder.
func staticPodPath(b []byte) string {
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "staticPodPath:"); ok {
			return strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	return ""
}

// ticks is in what the kernel counts time for programs: USER_HZ, the same on
// all Linux machines that run Kubernetes.
const ticks = 100

// processes finds those of the roles.
func (s *Source) processes(n *host.Node) {
	pids := s.pids()
	if len(pids) == 0 {
		_, err := os.ReadDir(s.config.Proc)
		if err == nil {
			err = errors.New("there are none in " + s.config.Proc)
		}
		n.Missed = append(n.Missed, missed("processes", err))
		return
	}
	boot := s.booted()
	if !boot.IsZero() {
		n.Uptime = time.Since(boot).Seconds()
	}
	here, _ := os.Readlink("/proc/self/ns/net")
	if len(pids) == 1 {
		n.Missed = append(n.Missed, host.Missed{What: "processes", Reason: collectors.Forbidden, Detail: "only ktriage's own process is to be seen in " + s.config.Proc})
	}
	for _, pid := range pids {
		dir := filepath.Join(s.config.Proc, strconv.Itoa(pid))
		b, err := readSome(filepath.Join(dir, "cmdline"), procFile)
		if err != nil || len(b) == 0 {
			continue
		}
		args := host.ParseCmdline(b)
		role := host.RoleOf(args[0])
		if role == "" {
			continue
		}
		st, err := readSome(filepath.Join(dir, "stat"), procFile)
		if err != nil {
			continue
		}
		_, state, start, ok := host.ParseStat(st)
		if !ok {
			continue
		}
		p := host.Process{PID: pid, Role: role, Args: args, State: state}
		if !boot.IsZero() {
			p.Started = boot.Add(time.Duration(start) * time.Second / ticks).UTC()
		}
		if ns, err := os.Readlink(filepath.Join(dir, "ns/net")); err == nil && here != "" && slices.Contains(host.Components, role) {
			p.Away = ns != here
		}
		s.group(&p, dir)
		s.descriptors(&p, dir)
		n.Processes = append(n.Processes, p)
	}
}

func (s *Source) booted() time.Time {
	b, err := readSome(filepath.Join(s.config.Proc, "stat"), procFile)
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "btime "); ok {
			if sec, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
				return time.Unix(sec, 0)
			}
		}
	}
	return time.Time{}
}

// group reads how often the kernel has ended processes of the process's group,
// and of no other.
func (s *Source) group(p *host.Process, dir string) {
	b, err := readSome(filepath.Join(dir, "cgroup"), procFile)
	if err != nil {
		return
	}
	group, v2 := host.ParseCgroup(b)
	if group == "" || group == "/" {
		return // the whole machine's
	}
	p.Cgroup = group
	file, key := filepath.Join(s.config.Sys, "fs/cgroup", group, "memory.events"), "oom_kill"
	if !v2 {
		file = filepath.Join(s.config.Sys, "fs/cgroup/memory", group, "memory.oom_control")
	}
	b, err = readSome(file, procFile)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] == key {
			if n, err := strconv.ParseUint(f[1], 10, 64); err == nil {
				p.Kills = &n
			}
		}
	}
}

// maxCounted bounds how many open files of a process are counted.
const maxCounted = 1 << 20

func (s *Source) descriptors(p *host.Process, dir string) {
	if d, err := os.Open(filepath.Join(dir, "fd")); err == nil {
		names, _ := d.Readdirnames(maxCounted)
		p.Open = len(names)
		d.Close()
	}
	b, err := readSome(filepath.Join(dir, "limits"), procFile)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "Max open files"); ok {
			if f := strings.Fields(v); len(f) > 0 {
				p.MaxOpen, _ = strconv.Atoi(f[0])
			}
		}
	}
}

// listeners finds the ports that are listened on in ktriage's network, and whose
// they are.
func (s *Source) listeners(n *host.Node) {
	byInode := map[string]host.Listener{}
	read := false
	var failed error
	for _, f := range [...]string{"tcp", "tcp6"} {
		// Of ktriage's own network: self is a link to the process that reads it.
		b, err := readSome(filepath.Join("/proc/self/net", f), 16<<20)
		if err != nil {
			failed = err
			continue
		}
		read = true
		for inode, l := range host.ParseListeners(b) {
			byInode[inode] = l
		}
	}
	if !read {
		n.Missed = append(n.Missed, missed("listeners", failed))
		return
	}
	s.owners(byInode)
	for _, l := range byInode {
		n.Listeners = append(n.Listeners, l)
	}
	slices.SortFunc(n.Listeners, func(a, b host.Listener) int {
		if a.Port != b.Port {
			return a.Port - b.Port
		}
		return strings.Compare(a.Addr, b.Addr)
	})
}

// owners finds whose the sockets are, as far as it may.
func (s *Source) owners(byInode map[string]host.Listener) {
	left := len(byInode)
	for _, pid := range s.pids() {
		if left == 0 {
			return
		}
		dir := filepath.Join(s.config.Proc, strconv.Itoa(pid))
		fds, err := os.ReadDir(filepath.Join(dir, "fd"))
		if err != nil {
			continue
		}
		for _, fd := range fds[:min(len(fds), maxFDs)] {
			to, err := os.Readlink(filepath.Join(dir, "fd", fd.Name()))
			if err != nil {
				continue
			}
			inode, ok := strings.CutPrefix(to, "socket:[")
			l, known := byInode[strings.TrimSuffix(inode, "]")]
			if !ok || !known || l.PID != 0 {
				continue
			}
			l.PID = pid
			if b, err := readSome(filepath.Join(dir, "comm"), procFile); err == nil {
				l.Name = string(bytes.TrimSpace(b))
			}
			byInode[strings.TrimSuffix(inode, "]")] = l
			left--
		}
	}
}

// maxFDs is how many open files of a process are looked at for a listener, which
// are among the first that it opens.
const maxFDs = 2000
