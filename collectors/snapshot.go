package collectors

import (
	"time"
)

// A Snapshot is everything one run learned. It does not change once collected.
type Snapshot struct {
	At      time.Time      // when collection began
	Window  time.Duration  // what the run meant its window to be
	answers map[string]any // fact ID → []Answer[T] or *Gap
	partial bool           // it holds only what one fact needs
}

// only returns the snapshot as far as a fact may see it: what it needs. It
// must not depend on what else happens to be known already.
func (s *Snapshot) only(needs map[string]bool) *Snapshot {
	out := &Snapshot{At: s.At, Window: s.Window, answers: make(map[string]any, len(needs)), partial: true}
	for n := range needs {
		out.answers[n] = s.answers[n]
	}
	return out
}
