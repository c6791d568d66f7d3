package host

import (
	"bytes"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Role is a part of a control-plane node, by the name of its program.
type Role string

// The roles. The last two are what runs the others.
const (
	Etcd        Role = "etcd"
	APIServer   Role = "kube-apiserver"
	Controllers Role = "kube-controller-manager"
	Scheduler   Role = "kube-scheduler"
	Kubelet     Role = "kubelet"
	Runtime     Role = "container-runtime"
)

// Components are the roles that kubeadm runs as static pods.
var Components = []Role{Etcd, APIServer, Controllers, Scheduler}

// RoleOf tells the role of a program by its name.
func RoleOf(program string) Role {
	switch base := path.Base(program); base {
	case "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet":
		return Role(base)
	case "containerd", "crio", "dockerd":
		return Runtime
	}
	return ""
}

// A Node is what runs on the node, and what should.
type Node struct {
	Name      string     `json:"name"`
	Root      string     `json:"root,omitempty"`      // where its file system is, if not at /
	Manifests []Manifest `json:"manifests,omitempty"` // of static pods
	Folder    string     `json:"folder"`              // where they are
	Processes []Process  `json:"processes,omitempty"` // of the roles
	Listeners []Listener `json:"listeners,omitempty"`
	Addresses []string   `json:"addresses,omitempty"` // of the network that ktriage is in
	Missed    []Missed   `json:"missed,omitempty"`    // processes, manifests, listeners
	Uptime    float64    `json:"uptime,omitempty"`    // seconds since the machine started
	At        time.Time  `json:"at"`
}

// A Process is one of a role.
type Process struct {
	PID     int       `json:"pid"`
	Role    Role      `json:"role"`
	Args    []string  `json:"args"`
	Started time.Time `json:"started"`
	State   string    `json:"state"`             // as ps has it: R, S, D, T, Z
	Away    bool      `json:"away,omitempty"`    // it is in another network: no static pod of this node's
	Cgroup  string    `json:"cgroup,omitempty"`  // its memory control group
	Kills   *uint64   `json:"kills,omitempty"`   // OOM kills in that group
	Open    int       `json:"open,omitempty"`    // files; 0 if not known
	MaxOpen int       `json:"maxOpen,omitempty"` // files it may open; 0 if not known
}

// Flag is the value of a flag of the command line.
func (p Process) Flag(name string) (string, bool) { return flagOf(p.Args, name) }

func flagOf(args []string, name string) (string, bool) {
	for i, a := range args {
		a, ok := strings.CutPrefix(a, "-")
		if !ok {
			continue
		}
		a = strings.TrimPrefix(a, "-")
		if key, value, ok := strings.Cut(a, "="); ok && key == name {
			return value, true
		} else if a == name && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			return args[i+1], true
		} else if a == name {
			return "true", true
		}
	}
	return "", false
}

// A Listener is a TCP port that is listened on.
type Listener struct {
	Addr string `json:"addr"` // an IP address; 0.0.0.0 and :: are all
	Port int    `json:"port"`
	PID  int    `json:"pid,omitempty"` // 0 if it could not be told whose it is
	Name string `json:"name,omitempty"`
}

// Of returns the processes of a role that are this node's.
func (n Node) Of(r Role) []Process {
	var out []Process
	for _, p := range n.Processes {
		if p.Role == r && !p.Away && p.State != "Z" {
			out = append(out, p)
		}
	}
	return out
}

// Manifest returns that of a role: the one whose container runs its program.
func (n Node) Manifest(r Role) (Manifest, bool) {
	for _, m := range n.Manifests {
		if m.Role == r {
			return m, true
		}
	}
	return Manifest{}, false
}

// Args is the command line of a role: of its process or, if it does not run, of
// its manifest.
func (n Node) Args(r Role) []string {
	if ps := n.Of(r); len(ps) > 0 {
		return ps[0].Args
	}
	m, _ := n.Manifest(r)
	return m.Args
}

// Flag is the value of a flag of a role, or what it is by default.
func (n Node) Flag(r Role, name, otherwise string) string {
	if v, ok := flagOf(n.Args(r), name); ok {
		return v
	}
	return otherwise
}

// IsControlPlane reports whether the node is to run a part of a control plane:
// there is a manifest or a process of one.
func (n Node) IsControlPlane() bool {
	for _, r := range Components {
		if len(n.Of(r)) > 0 {
			return true
		}
	}
	return len(n.Manifests) > 0
}

// InItsNetwork reports whether ktriage runs in the network of the node's static
// pods, so that what nobody listens on is not there. It is so if an address that
// the manifests and command lines name is among its own.
func (n Node) InItsNetwork() bool {
	for _, p := range n.Processes {
		if !p.Away && slices.Contains(Components, p.Role) {
			return true
		}
	}
	named := false
	for _, r := range Components {
		for _, flag := range [...]string{"advertise-address", "listen-client-urls", "listen-peer-urls"} {
			v, ok := flagOf(n.Args(r), flag)
			if !ok {
				continue
			}
			for u := range strings.SplitSeq(v, ",") {
				_, rest, ok := strings.Cut(u, "://")
				if !ok {
					rest = u
				}
				if h, _, err := net.SplitHostPort(rest); err == nil {
					rest = h
				}
				ip := net.ParseIP(rest)
				if ip == nil || ip.IsLoopback() || ip.IsUnspecified() {
					continue
				}
				named = true
				if slices.Contains(n.Addresses, ip.String()) {
					return true
				}
			}
		}
	}
	return !named && !slices.ContainsFunc(n.Processes, func(p Process) bool { return p.Away })
}

// UsesLocalEtcd reports whether the API server is configured to ask an etcd of
// this node.
func (n Node) UsesLocalEtcd() bool {
	for u := range strings.SplitSeq(n.Flag(APIServer, "etcd-servers", ""), ",") {
		_, rest, _ := strings.Cut(u, "://")
		h, _, err := net.SplitHostPort(rest)
		if err != nil {
			continue
		}
		ip := net.ParseIP(h)
		if h == "localhost" || ip != nil && (ip.IsLoopback() || slices.Contains(n.Addresses, ip.String())) {
			return true
		}
	}
	return false
}

// Nodes is what runs on the node, and what should.
var Nodes = fact[Node]("host.node", "the node's static pod manifests, the processes of its control plane, and the ports that are listened on", NodeURL)

// ParseStat reads /proc/PID/stat: the state, and the start in clock ticks since
// the machine started.
func ParseStat(b []byte) (name, state string, start uint64, ok bool) {
	// The name is in parentheses and may hold anything, parentheses too.
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return "", "", 0, false
	}
	fields := strings.Fields(string(b[end+1:]))
	if len(fields) < 20 || len(fields[0]) != 1 {
		return "", "", 0, false
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	return strings.ToValidUTF8(string(b[open+1:end]), "?"), fields[0], start, err == nil
}

// ParseCmdline reads /proc/PID/cmdline.
func ParseCmdline(b []byte) []string {
	s := strings.ToValidUTF8(strings.TrimRight(string(b), "\x00"), "?")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// ParseCgroup reads /proc/PID/cgroup: the group that bounds the memory, of
// version 1 or 2.
func ParseCgroup(b []byte) (group string, v2 bool) {
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if slices.Contains(strings.Split(parts[1], ","), "memory") {
			return parts[2], false
		}
		if parts[0] == "0" && parts[1] == "" {
			group, v2 = parts[2], true
		}
	}
	return group, v2
}

// ParseListeners reads /proc/net/tcp or tcp6: who listens, by the inode of the
// socket.
func ParseListeners(b []byte) map[string]Listener {
	out := map[string]Listener{}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != "0A" {
			continue
		}
		host, port, ok := strings.Cut(f[1], ":")
		p, err := strconv.ParseUint(port, 16, 16)
		if !ok || err != nil {
			continue
		}
		ip := make(net.IP, len(host)/2)
		if len(ip) != 4 && len(ip) != 16 {
			continue
		}
		bad := false
		for i := range ip {
			x, err := strconv.ParseUint(host[2*i:2*i+2], 16, 8)
			bad = bad || err != nil
			ip[i/4*4+3-i%4] = byte(x) // in words of the machine's order
		}
		if !bad {
			out[f[9]] = Listener{Addr: ip.String(), Port: int(p)}
		}
	}
	return out
}
