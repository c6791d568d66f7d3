package host

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

// nodeName is the node's, as far as it is known.
func nodeName(p *checks.Pass) string {
	n, _ := checks.One(p, host.Nodes)
	return n.Name
}

// self is the node as a whole.
func self(p *checks.Pass) collectors.Target {
	n := nodeName(p)
	return collectors.Target{Component: collectors.Host, Name: n, Node: n}
}

func roleTarget(p *checks.Pass, r host.Role) collectors.Target {
	return collectors.Target{Component: collectors.Host, Name: string(r), Node: nodeName(p)}
}

func placeNamed(p *checks.Pass, name string) collectors.Target {
	return collectors.Target{Component: collectors.Host, Name: name, Node: nodeName(p)}
}

// controlPlane returns the node, if a part of a control plane is to run on it;
// else it says of the check why there is nothing to judge.
func controlPlane(p *checks.Pass) (host.Node, bool) {
	n, gap := checks.One(p, host.Nodes)
	if gap != nil {
		p.Unknown(self(p), gap)
		return n, false
	}
	if !n.IsControlPlane() {
		for _, m := range n.Missed {
			p.Unknown(self(p), m.Gap())
			return n, false
		}
		p.Nothing(self(p), "there is no manifest and no process of a control plane: this is no control-plane node")
		return n, false
	}
	return n, true
}

// missedOf is the gap of what was missed of a kind: of all of it, or of one.
func missedOf(n host.Node, kind string) *collectors.Gap {
	for _, m := range n.Missed {
		if strings.HasPrefix(m.What, kind) {
			return m.Gap()
		}
	}
	return nil
}

// withProcesses is controlPlane of a node whose processes are known.
func withProcesses(p *checks.Pass) (host.Node, bool) {
	n, ok := controlPlane(p)
	if !ok {
		return n, false
	}
	if g := missedOf(n, "processes"); g != nil {
		p.Unknown(self(p), g)
		return n, false
	}
	return n, true
}

// namedFiles are the files that the flags of a control plane name; else it says of
// the check why there is nothing to judge.
func namedFiles(p *checks.Pass) (host.Files, bool) {
	if _, ok := controlPlane(p); !ok {
		return host.Files{}, false
	}
	fs, gap := checks.One(p, host.Named)
	if gap != nil {
		p.Unknown(self(p), gap)
		return fs, false
	}
	return fs, true
}

func age(p *checks.Pass, x host.Process) string {
	if x.Started.IsZero() {
		return "an unknown time"
	}
	return checks.Span(p.Now().Sub(x.Started))
}

// said quotes the last words of a component.
func said(line string, c host.Cause) string {
	if c == "" {
		return ""
	}
	return "; its log says: " + oneLine(line)
}

const maxOneLine = 200

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxOneLine {
		s = strings.ToValidUTF8(s[:maxOneLine], "") + "…"
	}
	return s
}

// failing lists the checks that a verbose answer marks as failed.
func failing(body string) string {
	var out []string
	for line := range strings.Lines(body) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "[-]"); ok {
			name, _, _ = strings.Cut(name, " ")
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return oneLine(body)
	}
	return "failing: " + checks.List(out, 5)
}

// loads judges a part of what the kernel counts, if it is there.
func loads(p *checks.Pass, part string, judge func(collectors.Target, host.Span)) {
	t := self(p)
	s, gap := checks.One(p, host.Loads)
	if gap != nil {
		p.Unknown(t, gap)
		return
	}
	there := map[string]bool{"average": s.Last.Average != nil, "memory": s.Last.Memory != nil, "clock": s.Last.Clock != nil,
		"conntrack": s.Last.Conntrack != nil, "files": s.Last.Files != nil, "links": s.Last.Links != nil}
	if !there[part] {
		gap := s.Gap(part)
		if part == "conntrack" && gap.Reason == collectors.Absent {
			p.Nothing(t, "connections are not tracked here")
			return
		}
		p.Unknown(t, gap)
		return
	}
	judge(t, s)
}

// used judges how much is taken of what the kernel has a limit of.
func used(p *checks.Pass, t collectors.Target, what string, x *host.Filled, warn, critical float64, source string) {
	if x.Limit == 0 {
		p.Nothing(t, "there is no limit of %s", what)
		return
	}
	share := float64(x.Used) / float64(x.Limit)
	st, limit := checks.Level(share, warn, critical)
	p.Judge(t, st, "%d of %d %s (%s)", x.Used, x.Limit, what, checks.Percent(share)).Saw(host.Loads, "used", checks.Percent(share), checks.Percent(limit), source)
}

// shares judges a share of the processors' time in the window.
func shares(p *checks.Pass, judge func(t collectors.Target, s host.Span, total float64)) {
	t := self(p)
	s, gap := checks.One(p, host.Loads)
	switch {
	case gap != nil:
		p.Unknown(t, gap)
	case s.Last.CPU == nil:
		p.Unknown(t, s.Gap("cpu"))
	case s.First == nil || s.First.CPU == nil || s.Last.CPU.Total <= s.First.CPU.Total:
		p.Unknown(t, collectors.Gapf(collectors.NotAsked, "there was one look only: no share of a window is known"))
	default:
		judge(t, s, s.Last.CPU.Total-s.First.CPU.Total)
	}
}

// A placed is a file system, by the first folder of it that matters.
type placed struct {
	name  string
	marks []string
}

// places yields each file system once, with all that lies on it as marks.
func places(p *checks.Pass, f *collectors.Fact[host.Disks]) func(yield func(placed, host.Place) bool) {
	return func(yield func(placed, host.Place) bool) {
		d, gap := checks.One(p, f)
		if gap != nil {
			p.Unknown(self(p), gap)
			return
		}
		for _, m := range d.Missed {
			if m.What == host.DataPlace {
				p.Unknown(placeNamed(p, "etcd-data"), m.Gap())
			}
		}
		seen := map[string]int{}
		var order []placed
		var firsts []host.Place
		for _, x := range d.Places {
			key := x.Mount + " " + x.Source
			if i, ok := seen[key]; ok {
				order[i].marks = append(order[i].marks, "holds="+x.What)
				continue
			}
			seen[key] = len(order)
			name := "etcd-data"
			if x.What != host.DataPlace {
				name = strings.TrimPrefix(x.Mount, "/")
				if name == "" {
					name = "root"
				}
			}
			order = append(order, placed{name, []string{"holds=" + x.What}})
			firsts = append(firsts, x)
		}
		for i, o := range order {
			if !yield(o, firsts[i]) {
				return
			}
		}
		if len(order) == 0 && len(d.Missed) == 0 {
			p.Nothing(self(p), "none of the folders that matter is there")
		}
	}
}

func placeTarget(p *checks.Pass, f placed) collectors.Target {
	return placeNamed(p, f.name)
}

// noData says why there is no etcd's data to judge.
func noData(p *checks.Pass, t collectors.Target, d host.Disks) {
	for _, m := range d.Missed {
		if m.What == host.DataPlace {
			p.Unknown(t, m.Gap())
			return
		}
	}
	p.Nothing(t, "no etcd has its data here")
}

// usage is what a disk did in the window.
type usage struct {
	name, kind          string
	seconds             float64
	ops, reads, writes  float64 // ops: how many; the others: each second
	await, queue, busy  float64 // seconds, requests, share
	readRate, writeRate float64 // bytes a second
	shared              []string
	busiest             string
}

// fewOps are too few requests for a mean.
const fewOps = 50

// etcdDisk is what the disk under etcd's data did in the window.
func etcdDisk(p *checks.Pass) (collectors.Target, usage, *collectors.Gap) {
	t := placeNamed(p, "etcd-data")
	d, gap := checks.One(p, host.Storage)
	if gap != nil {
		return t, usage{}, gap
	}
	x, ok := d.Data()
	if !ok {
		for _, m := range d.Missed {
			if m.What == host.DataPlace {
				return t, usage{}, m.Gap()
			}
		}
		return t, usage{}, collectors.Gapf(collectors.OutOfScope, "no etcd has its data here")
	}
	if x.Device == "" {
		return t, usage{}, collectors.Gapf(collectors.OutOfScope, "%s (%s) is on no disk that the kernel counts", x.Mount, x.Type)
	}
	s, gap := checks.One(p, host.Loads)
	if gap != nil {
		return t, usage{}, gap
	}
	if s.First == nil || s.Seconds() <= 0 {
		return t, usage{}, collectors.Gapf(collectors.NotAsked, "there was one look only: no rate is known")
	}
	a, b := s.First.Disks[x.Device], s.Last.Disks[x.Device]
	if b.Reads+b.Writes == 0 {
		if g := s.Gap("disks"); g.Reason != collectors.Absent {
			return t, usage{}, g
		}
	}
	if b.Reads < a.Reads || b.Writes < a.Writes {
		return t, usage{}, collectors.Gapf(collectors.Malformed, "the counters of %s went back", x.Device)
	}
	u := usage{name: x.Device, seconds: s.Seconds(), kind: "of unknown kind"}
	if x.Rotating != nil {
		u.kind = "SSD"
		if *x.Rotating {
			u.kind = "HDD"
		}
	}
	sec := u.seconds
	u.ops = float64(b.Reads - a.Reads + b.Writes - a.Writes)
	u.reads, u.writes = float64(b.Reads-a.Reads)/sec, float64(b.Writes-a.Writes)/sec
	u.readRate, u.writeRate = float64(b.ReadBytes-a.ReadBytes)/sec, float64(b.WriteBytes-a.WriteBytes)/sec
	if u.ops > 0 {
		u.await = float64(b.ReadTime-a.ReadTime+b.WriteTime-a.WriteTime) / u.ops / 1000
	}
	u.queue = float64(b.Weighted-a.Weighted) / 1000 / sec
	u.busy = min(float64(b.BusyTime-a.BusyTime)/1000/sec, 1)
	for _, y := range d.Places {
		if y.What != host.DataPlace && y.Device == x.Device && !slices.Contains(u.shared, y.What) {
			u.shared = append(u.shared, y.What)
		}
	}
	u.busiest = busiest(s)
	return t, u, nil
}

// judgedDisk is etcdDisk, if that is known; else it says of the check why not.
func judgedDisk(p *checks.Pass) (collectors.Target, usage, bool) {
	t, u, gap := etcdDisk(p)
	if gap != nil {
		p.Unknown(t, gap)
		return t, u, false
	}
	return t, u, true
}

// line is the disk as iostat -x shows it.
func (u usage) line() string {
	s := fmt.Sprintf("%s (%s): %.0f r/s, %.0f w/s, %s/s read, %s/s written, await %s, queue %.1f, %s busy over %s", u.name, u.kind, u.reads, u.writes,
		checks.Bytes(int64(u.readRate)), checks.Bytes(int64(u.writeRate)), checks.Seconds(u.await), u.queue, checks.Percent(u.busy), checks.Seconds(u.seconds))
	if len(u.shared) > 0 {
		s += "; shared with " + checks.List(u.shared, 3)
	}
	return s
}

// busiest is the process other than etcd that wrote most in the window, if it
// was much.
func busiest(s host.Span) string {
	if s.First == nil {
		return ""
	}
	best, name := float64(muchBytes), ""
	for pid, w := range s.Last.Writers {
		then, ok := s.First.Writers[pid]
		if ok && then.Start != w.Start {
			continue
		}
		if w.Name == string(host.Etcd) || w.Bytes < then.Bytes || !ok {
			continue
		}
		if rate := float64(w.Bytes-then.Bytes) / s.Seconds(); rate > best {
			best, name = rate, fmt.Sprintf("%s (process %s, %s/s)", w.Name, pid, checks.Bytes(int64(rate)))
		}
	}
	return name
}

// differ lists the flags in which two command lines differ.
func differ(want, got []string) []string {
	a, b := flags(want), flags(got)
	var out []string
	for name, v := range a {
		if strings.Contains(v, "$(") {
			continue // the kubelet fills it in
		}
		w, ok := b[name]
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("--%s=%s is not set", name, v))
		case v != w:
			out = append(out, fmt.Sprintf("--%s is %s, and not %s", name, w, v))
		}
	}
	for name, w := range b {
		if _, ok := a[name]; !ok {
			out = append(out, fmt.Sprintf("--%s=%s is in no manifest", name, w))
		}
	}
	slices.Sort(out)
	return out
}

// flags reads the flags of a command line.
func flags(args []string) map[string]string {
	out := map[string]string{}
	for i, a := range args {
		name, ok := strings.CutPrefix(a, "-")
		if !ok || i == 0 {
			continue
		}
		name = strings.TrimPrefix(name, "-")
		if k, v, ok := strings.Cut(name, "="); ok {
			out[k] = v
		} else if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			out[name] = args[i+1]
		} else {
			out[name] = "true"
		}
	}
	return out
}

// ended judges what a component that does not run, or does not answer, says of
// itself last.
func ended(p *checks.Pass, want host.Cause, words string) {
	n, ok := controlPlane(p)
	if !ok {
		return
	}
	ends, gap := checks.One(p, host.Ends)
	if gap != nil {
		p.Unknown(self(p), gap)
		return
	}
	if len(ends.Logs) == 0 {
		if len(ends.Missed) > 0 {
			p.Unknown(self(p), ends.Missed[0].Gap())
		} else {
			p.Nothing(self(p), "there is no log of the control plane in /var/log/pods")
		}
		return
	}
	for _, r := range host.Components {
		tail, has := ends.Of(r)
		if !has {
			continue
		}
		t := roleTarget(p, r)
		cause, line := tail.Why()
		ps := n.Of(r)
		fresh := len(ps) == 0 || !ps[0].Started.IsZero() && p.Now().Sub(ps[0].Started) < startsAnew
		if cause != want || !fresh {
			p.OK(t, "its log does not end so").Saw(host.Ends, "log", tail.Path, "", "")
			continue
		}
		p.Critical(t, "%s %s: %s", r, words, oneLine(line)).Saw(host.Ends, "log", tail.Path, "", "").Mark("role=" + string(r))
	}
}

// startsAnew is how long what ends at once may be seen running.
const startsAnew = time.Minute

// defaultPorts are those of a component whose flags do not say.
var defaultPorts = map[host.Role]struct {
	flag string
	port string
}{
	host.APIServer: {"secure-port", "6443"}, host.Controllers: {"secure-port", "10257"}, host.Scheduler: {"secure-port", "10259"},
}

// ports are those that a component listens on.
func ports(n host.Node, r host.Role) []int {
	var out []int
	add := func(s string) {
		if port, err := strconv.Atoi(s); err == nil && port > 0 && !slices.Contains(out, port) {
			out = append(out, port)
		}
	}
	if d, ok := defaultPorts[r]; ok {
		add(n.Flag(r, d.flag, d.port))
		return out
	}
	for _, flag := range [...]string{"listen-client-urls", "listen-peer-urls", "listen-metrics-urls"} {
		for u := range strings.SplitSeq(n.Flag(r, flag, ""), ",") {
			if _, rest, ok := strings.Cut(u, "://"); ok {
				if _, port, err := net.SplitHostPort(rest); err == nil {
					add(port)
				}
			}
		}
	}
	return out
}
