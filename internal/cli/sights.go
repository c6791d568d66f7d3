package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ktriage/ktriage/remediate"
)

// What is kept of the revisions that were seen: as many as a run an hour makes
// in a week, and none that is only a little younger than the one before.
const (
	maxSights  = 200
	sightEvery = time.Minute
)

func sightsFile(dir, cluster string) string { return filepath.Join(dir, "revisions-"+cluster) }

// readSights reads the revisions that were seen of a cluster. What is no line of
// them tells nothing: without it, a compaction only has to wait.
func readSights(r io.Reader) (out []remediate.Sight) {
	in := bufio.NewScanner(io.LimitReader(r, 1<<20))
	for in.Scan() {
		var s remediate.Sight
		if json.Unmarshal(in.Bytes(), &s) == nil && s.Revision > 0 && !s.At.IsZero() {
			out = append(out, s)
		}
	}
	return out[max(0, len(out)-maxSights):]
}

// sights returns the revisions that were seen of a cluster, and adds the one
// that is seen now, for later compactions. A folder that cannot be written to
// costs no more than that.
func sights(dir, cluster string, now remediate.Sight) (seen []remediate.Sight) {
	path := sightsFile(dir, cluster)
	if b, err := os.ReadFile(path); err == nil {
		seen = readSights(bytes.NewReader(b))
	}
	if n := len(seen); now.Revision <= 0 || n > 0 && now.At.Sub(seen[n-1].At).Abs() < sightEvery {
		return seen
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, s := range append(seen[max(0, len(seen)-maxSights+1):], now) {
		if e.Encode(s) != nil {
			return seen
		}
	}
	if os.MkdirAll(dir, 0o700) == nil {
		saveFile(path, b.Bytes()) // a plan does not depend on it
	}
	return seen
}
