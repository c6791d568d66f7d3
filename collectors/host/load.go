package host

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// A Load is what the kernel counts, at one moment. A part that could not be
// read is nil, and Missed says why, under the name of its field in JSON.
type Load struct {
	At        time.Time           `json:"at"`
	CPUs      int                 `json:"cpus"`
	CPU       *CPU                `json:"cpu,omitempty"`
	Average   *Average            `json:"average,omitempty"`
	Memory    *Memory             `json:"memory,omitempty"`
	Pressure  map[string]Pressure `json:"pressure,omitempty"` // cpu, io, memory
	Disks     map[string]Disk     `json:"disks,omitempty"`    // by the kernel's name: "sda"
	Links     map[string]Link     `json:"links,omitempty"`    // network interfaces
	Files     *Filled             `json:"files,omitempty"`    // open files of the whole machine
	Conntrack *Filled             `json:"conntrack,omitempty"`
	Clock     *Clock              `json:"clock,omitempty"`
	Writers   map[string]Writer   `json:"writers,omitempty"` // processes that have written to disks, by ID
	Governors map[string]int      `json:"governors,omitempty"`
	Queued    map[Role]float64    `json:"queued,omitempty"` // seconds that the threads of a component were ready and waited for a processor
	Missed    []Missed            `json:"missed,omitempty"`
}

// CPU is how long all processors together were busy with what, in seconds since
// the machine started.
type CPU struct {
	Total  float64 `json:"total"`
	Idle   float64 `json:"idle"`
	IOWait float64 `json:"iowait"`
	Steal  float64 `json:"steal"`
}

// Average is the number of tasks that run or wait, over 1, 5 and 15 minutes.
type Average struct {
	One     float64 `json:"one"`
	Five    float64 `json:"five"`
	Fifteen float64 `json:"fifteen"`
}

// Memory is in bytes; MajorFaults and OOMKills count since the machine started.
type Memory struct {
	Total       uint64 `json:"total"`
	Available   uint64 `json:"available"`
	SwapTotal   uint64 `json:"swapTotal"`
	SwapFree    uint64 `json:"swapFree"`
	MajorFaults uint64 `json:"majorFaults"`
	OOMKills    uint64 `json:"oomKills"`
}

// A Pressure tells which part of the time some, or all, tasks waited for
// something: over the last 10, 60 and 300 s, in percent, and the total in µs.
type Pressure struct {
	Some Stall `json:"some"`
	Full Stall `json:"full"`
}

// A Stall is one line of a Pressure.
type Stall struct {
	Avg10  float64 `json:"avg10"`
	Avg60  float64 `json:"avg60"`
	Avg300 float64 `json:"avg300"`
	Total  uint64  `json:"total"`
}

// A Disk counts since the machine started. Times are in ms.
type Disk struct {
	Reads      uint64 `json:"reads"`
	Writes     uint64 `json:"writes"`
	ReadBytes  uint64 `json:"readBytes"`
	WriteBytes uint64 `json:"writeBytes"`
	ReadTime   uint64 `json:"readTime"`
	WriteTime  uint64 `json:"writeTime"`
	BusyTime   uint64 `json:"busyTime"`
	Weighted   uint64 `json:"weighted"` // the time of each request, added up
}

// A Link counts packets of a network interface, both ways.
type Link struct {
	Packets uint64 `json:"packets"`
	Errors  uint64 `json:"errors"`
}

// Filled is how much is used of what there is.
type Filled struct {
	Used  uint64 `json:"used"`
	Limit uint64 `json:"limit"`
}

// A Clock is what the kernel says of its own.
type Clock struct {
	Synced   bool          `json:"synced"`
	Offset   time.Duration `json:"offset"`
	MaxError time.Duration `json:"maxError"`
}

// A Writer is a process that writes to disks.
type Writer struct {
	Name  string `json:"name"`
	Bytes uint64 `json:"bytes"` // written since it started
	Start uint64 `json:"start"` // its start, to tell it from another of the same ID
}

// A Span is a Load at the beginning and at the end of the window; First is nil
// if there was one look only.
type Span struct {
	First *Load
	Last  Load
}

// Seconds is how long the window was; 0 if there is none.
func (s Span) Seconds() float64 {
	if s.First == nil {
		return 0
	}
	return s.Last.At.Sub(s.First.At).Seconds()
}

// Gap tells why a part of the last look is not there.
func (s Span) Gap(part string) *collectors.Gap {
	if g := missing(s.Last.Missed, part); g != nil {
		return g
	}
	return collectors.Gapf(collectors.Absent, "this kernel does not tell %s", part)
}

// Loads is what the kernel counts, over the window.
var Loads = &collectors.Fact[Span]{
	ID:      "host.load",
	Doc:     "what the node's kernel counts of processors, memory, disks, network and files, at both ends of the window",
	Targets: collectors.Single(Self),
	Ask: func(*collectors.Snapshot, collectors.Target) []collectors.Request {
		return []collectors.Request{
			{Verb: collectors.Get, URL: LoadURL, Sample: collectors.First},
			{Verb: collectors.Get, URL: LoadURL, Sample: collectors.Last},
		}
	},
	Partial: true,
	Read: func(rs []collectors.Answered) (s Span, err error) {
		last, err := answer[Load](rs[1:])
		if err != nil {
			return s, err
		}
		s.Last = last
		if rs[0].Gap == nil {
			var first Load
			if err := json.Unmarshal(rs[0].Body, &first); err != nil {
				return s, err
			}
			if first.At.Before(last.At) {
				s.First = &first
			}
		}
		return s, nil
	},
}

// ParsePressure reads a file of /proc/pressure.
func ParsePressure(b []byte) (p Pressure, ok bool) {
	for line := range bytes.Lines(b) {
		words := strings.Fields(string(line))
		if len(words) < 5 {
			continue
		}
		var s *Stall
		switch words[0] {
		case "some":
			s = &p.Some
		case "full":
			s = &p.Full
		default:
			continue
		}
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			x, err := strconv.ParseFloat(value, 64)
			if err != nil || x < 0 {
				return Pressure{}, false
			}
			switch key {
			case "avg10":
				s.Avg10 = x
			case "avg60":
				s.Avg60 = x
			case "avg300":
				s.Avg300 = x
			case "total":
				s.Total = uint64(x)
			}
		}
		ok = true
	}
	return p, ok
}
