package apiserver

import (
	"time"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/metrics"
)

// A Process is what an instance's process says of itself.
type Process struct {
	Started time.Time     // to the second; zero if it does not say
	Uptime  time.Duration // at the last look; zero if it does not say
	Minor   int           // of its version, 1.Minor; 0 if it does not say
	OpenFDs float64       // file descriptors; 0 where the platform does not tell
	MaxFDs  float64
	Memory  float64 // resident, bytes
}

// Processes is what each instance's process says of itself.
var Processes = windowFact("apiserver.process", "each instance's start, version, memory and file descriptors",
	func(w metrics.Window) (Process, error) {
		start, ok := w.Last.Sum(metrics.StartTime)
		if !ok {
			return Process{}, collectors.AbsentMetric(metrics.StartTime)
		}
		p := Process{Started: time.Unix(int64(start), 0).UTC(), Uptime: w.Uptime(), Minor: minor(w)}
		p.OpenFDs, _ = w.Last.Sum("process_open_fds")
		p.MaxFDs, _ = w.Last.Sum("process_max_fds")
		p.Memory, _ = w.Last.Sum("process_resident_memory_bytes")
		return p, nil
	},
	selects(nil, "process_open_fds", "process_max_fds", "process_resident_memory_bytes")...)
