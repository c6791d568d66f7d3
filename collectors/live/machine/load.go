package machine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/disk"
	"github.com/shirou/gopsutil/v3/load"
	"github.com/shirou/gopsutil/v3/mem"
	"github.com/shirou/gopsutil/v3/net"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

// load reads the counters of the kernel.
func (s *Source) load(ctx context.Context) (host.Load, *collectors.Gap) {
	l := host.Load{At: time.Now()}
	if _, err := os.Stat(filepath.Join(s.config.Proc, "stat")); err != nil {
		m := missed("the kernel's counters", err)
		return l, m.Gap()
	}
	miss := func(what string, err error) { l.Missed = append(l.Missed, missed(what, err)) }
	if ts, err := cpu.TimesWithContext(ctx, false); err != nil {
		miss("cpu", err)
	} else if len(ts) > 0 {
		t := ts[0]
		// Guests' time is part of the user's.
		l.CPU = &host.CPU{Total: t.User + t.System + t.Idle + t.Nice + t.Iowait + t.Irq + t.Softirq + t.Steal, Idle: t.Idle, IOWait: t.Iowait, Steal: t.Steal}
	}
	if n, err := cpu.CountsWithContext(ctx, true); err == nil {
		l.CPUs = n
	}
	if a, err := load.AvgWithContext(ctx); err != nil {
		miss("average", err)
	} else {
		l.Average = &host.Average{One: a.Load1, Five: a.Load5, Fifteen: a.Load15}
	}
	if m, err := mem.VirtualMemoryWithContext(ctx); err != nil {
		miss("memory", err)
	} else {
		l.Memory = &host.Memory{Total: m.Total, Available: m.Available, SwapTotal: m.SwapTotal, SwapFree: m.SwapFree}
		if b, err := readSome(filepath.Join(s.config.Proc, "vmstat"), procFile); err == nil {
			for line := range strings.Lines(string(b)) {
				f := strings.Fields(line)
				if len(f) != 2 {
					continue
				}
				switch n, _ := strconv.ParseUint(f[1], 10, 64); f[0] {
				case "pgmajfault":
					l.Memory.MajorFaults = n
				case "oom_kill":
					l.Memory.OOMKills = n
				}
			}
		}
	}
	for _, kind := range [...]string{"cpu", "io", "memory"} {
		b, err := readSome(filepath.Join(s.config.Proc, "pressure", kind), procFile)
		if err != nil {
			miss("pressure/"+kind, err)
			continue
		}
		if p, ok := host.ParsePressure(b); ok {
			if l.Pressure == nil {
				l.Pressure = map[string]host.Pressure{}
			}
			l.Pressure[kind] = p
		}
	}
	if ds, err := disk.IOCountersWithContext(ctx); err != nil {
		miss("disks", err)
	} else {
		l.Disks = map[string]host.Disk{}
		for name, d := range ds {
			if d.ReadCount+d.WriteCount == 0 {
				continue
			}
			l.Disks[name] = host.Disk{Reads: d.ReadCount, Writes: d.WriteCount, ReadBytes: d.ReadBytes, WriteBytes: d.WriteBytes,
				ReadTime: d.ReadTime, WriteTime: d.WriteTime, BusyTime: d.IoTime, Weighted: d.WeightedIO}
		}
	}
	if ns, err := net.IOCountersByFileWithContext(ctx, true, filepath.Join(s.config.Proc, "net/dev")); err != nil {
		miss("links", err)
	} else {
		l.Links = map[string]host.Link{}
		for _, n := range ns {
			if n.Name == "lo" || len(l.Links) >= maxLinks {
				continue
			}
			l.Links[n.Name] = host.Link{Packets: n.PacketsRecv + n.PacketsSent, Errors: n.Errin + n.Errout}
		}
	}
	if b, err := readSome(filepath.Join(s.config.Proc, "sys/fs/file-nr"), procFile); err != nil {
		miss("files", err)
	} else if f := strings.Fields(string(b)); len(f) == 3 {
		used, _ := strconv.ParseUint(f[0], 10, 64)
		most, _ := strconv.ParseUint(f[2], 10, 64)
		l.Files = &host.Filled{Used: used, Limit: most}
	}
	l.Conntrack = s.conntrack(miss)
	if c, err := clock(); err != nil {
		miss("clock", err)
	} else {
		l.Clock = c
	}
	l.Writers = s.writers(miss)
	l.Governors = s.governors()
	l.Queued = s.queued()
	return l, nil
}

// maxLinks bounds the interfaces: a node of many pods has one for each.
const maxLinks = 300

func (s *Source) number(path string) (uint64, error) {
	b, err := readSome(path, procFile)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

func (s *Source) conntrack(miss func(string, error)) *host.Filled {
	used, err := s.number(filepath.Join(s.config.Proc, "sys/net/netfilter/nf_conntrack_count"))
	if err == nil {
		var most uint64
		if most, err = s.number(filepath.Join(s.config.Proc, "sys/net/netfilter/nf_conntrack_max")); err == nil {
			return &host.Filled{Used: used, Limit: most}
		}
	}
	miss("conntrack", err)
	return nil
}

// maxWriters is how many of the processes that wrote most are kept.
const maxWriters = 200

// writers lists the processes that have written to disks.
func (s *Source) writers(miss func(string, error)) map[string]host.Writer {
	type writer struct {
		pid string
		host.Writer
	}
	var all []writer
	var denied error
	for _, pid := range s.pids() {
		dir := filepath.Join(s.config.Proc, strconv.Itoa(pid))
		b, err := readSome(filepath.Join(dir, "io"), procFile)
		if err != nil {
			if os.IsPermission(err) {
				denied = err
			}
			continue
		}
		var n uint64
		for line := range strings.Lines(string(b)) {
			if v, ok := strings.CutPrefix(line, "write_bytes:"); ok {
				n, _ = strconv.ParseUint(strings.TrimSpace(v), 10, 64)
			}
		}
		if n == 0 {
			continue
		}
		st, err := readSome(filepath.Join(dir, "stat"), procFile)
		if err != nil {
			continue
		}
		if name, _, start, ok := host.ParseStat(st); ok {
			all = append(all, writer{strconv.Itoa(pid), host.Writer{Name: name, Bytes: n, Start: start}})
		}
	}
	if denied != nil {
		miss("writers", denied)
	}
	slices.SortFunc(all, func(a, b writer) int {
		switch {
		case a.Bytes > b.Bytes:
			return -1
		case a.Bytes < b.Bytes:
			return 1
		}
		return 0
	})
	out := map[string]host.Writer{}
	for _, w := range all[:min(len(all), maxWriters)] {
		out[w.pid] = w.Writer
	}
	return out
}

// governors counts the processors by how their frequency is chosen.
func (s *Source) governors() map[string]int {
	files, err := filepath.Glob(filepath.Join(s.config.Sys, "devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	if err != nil || len(files) == 0 {
		return nil
	}
	out := map[string]int{}
	for _, f := range files {
		if b, err := readSome(f, procFile); err == nil {
			out[strings.TrimSpace(string(b))]++
		}
	}
	return out
}

// maxProcesses bounds a walk over all processes.
const maxProcesses = 20000

func (s *Source) pids() []int {
	d, err := os.Open(s.config.Proc)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var out []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid > 0 {
			out = append(out, pid)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), maxProcesses)]
}

// maxThreads bounds the threads that are looked at of a process.
const maxThreads = 5000

// queued adds up how long the threads of each component were ready to run and
// waited for a processor.
func (s *Source) queued() map[host.Role]float64 {
	out := map[host.Role]float64{}
	n := s.node()
	for _, r := range host.Components {
		for _, p := range n.Of(r) {
			dir := filepath.Join(s.config.Proc, strconv.Itoa(p.PID), "task")
			tasks, err := os.ReadDir(dir)
			if err != nil {
				continue
			}
			for _, t := range tasks[:min(len(tasks), maxThreads)] {
				b, err := readSome(filepath.Join(dir, t.Name(), "schedstat"), procFile)
				if f := strings.Fields(string(b)); err == nil && len(f) == 3 {
					ns, _ := strconv.ParseFloat(f[1], 64)
					out[r] += ns / 1e9
				}
			}
		}
	}
	return out
}
