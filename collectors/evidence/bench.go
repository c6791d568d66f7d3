package evidence

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktriage/ktriage/collectors/logs"
)

// What measures disks. Of numbers that are beyond etcd's needs a line is made
// that says so, for the signature that knows it.
var (
	fioSync    = regexp.MustCompile(`(fsync|fdatasync|sync_file_range)/`)
	fioScale   = regexp.MustCompile(`(?:sync|fsync|fdatasync)? ?percentiles \((nsec|usec|msec)\):`)
	fioNinety9 = regexp.MustCompile(`99\.00th=\[ *(\d+)\]`)
	iostatHead = regexp.MustCompile(`^(Device|Device:)\s+.*(w_await|await)`)
	fioHead    = regexp.MustCompile(`(?m)^\S.*: \(groupid=\d+, jobs=\d+\)|^fio-\d`)
)

// etcdSync is what etcd's documentation asks of the 99th percentile of syncs.
const etcdSync = 10 * time.Millisecond

// readSaid keeps lines that were made of what a file says, as its log.
func (e *Evidence) readSaid(in *input, said []string) error {
	l := logs.NewReader(in.name)
	for _, s := range said {
		l.Add([]byte(s))
	}
	e.logs = append(e.logs, l.Log())
	return nil
}

func slowSync(d time.Duration) string {
	return fmt.Sprintf("fio: the 99th percentile of syncs is %.3g ms, over the 10 ms that etcd asks for", float64(d)/1e6)
}

// readFio reads fio's report as text: the percentiles of syncs, not of writes.
func (e *Evidence) readFio(in *input, text string) error {
	var said []string
	found := false
	inSync, unit := false, time.Duration(0)
	for _, l := range lines(text) {
		if fioSync.MatchString(l) {
			inSync, unit = true, 0
		}
		if m := fioScale.FindStringSubmatch(l); m != nil {
			unit = map[string]time.Duration{"nsec": time.Nanosecond, "usec": time.Microsecond, "msec": time.Millisecond}[m[1]]
			if !strings.Contains(l, "sync percentiles") {
				unit = 0
			}
		}
		m := fioNinety9.FindStringSubmatch(l)
		if m == nil || !inSync || unit == 0 {
			continue
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil || n > int64(time.Hour/unit) {
			continue
		}
		found = true
		if d := time.Duration(n) * unit; d > etcdSync {
			said = append(said, slowSync(d))
		}
	}
	if !found {
		return errNoSync
	}
	return e.readSaid(in, said)
}

var errNoSync = fmt.Errorf("fio did not sync after each write, as etcd does; use --fdatasync=1")

// readFioJSON reads fio --output-format=json.
func (e *Evidence) readFioJSON(in *input, jobs []byte) error {
	var js []struct {
		Sync struct {
			Lat struct {
				Percentile map[string]float64 `json:"percentile"`
			} `json:"lat_ns"`
		} `json:"sync"`
	}
	if json.Unmarshal(jobs, &js) != nil {
		return errNotRecognised
	}
	var said []string
	found := false
	for _, j := range js {
		ns, ok := j.Sync.Lat.Percentile["99.000000"]
		if !ok || ns <= 0 || ns > float64(time.Hour) {
			continue
		}
		found = true
		if d := time.Duration(ns); d > etcdSync {
			said = append(said, slowSync(d))
		}
	}
	if !found {
		return errNoSync
	}
	return e.readSaid(in, said)
}

// readIostat reads iostat -x: how long writes wait, by device.
func (e *Evidence) readIostat(in *input, text string) error {
	var said []string
	var header []string
	rows := 0
	for _, l := range lines(text) {
		c := strings.Fields(l)
		if iostatHead.MatchString(l) {
			header = c
			continue
		}
		if header == nil || len(c) != len(header) {
			header = nil // another section
			continue
		}
		col := slices.Index(header, "w_await")
		if col < 0 {
			col = slices.Index(header, "await")
		}
		ms, err := strconv.ParseFloat(strings.Replace(c[col], ",", ".", 1), 64)
		if err != nil {
			continue
		}
		rows++
		if ms > 10 && ms < 1e7 && !strings.HasPrefix(c[0], "loop") {
			what := map[string]string{"w_await": "writes to", "await": "reads and writes of"}[header[col]]
			said = append(said, fmt.Sprintf("%s %s wait %.1f ms, over 10 ms on average, by iostat", what, clip(c[0]), ms))
		}
	}
	if rows == 0 {
		return fmt.Errorf("it tells no waiting times; use iostat -xd 1")
	}
	return e.readSaid(in, said)
}
