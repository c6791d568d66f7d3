package collectors

import (
	"time"
)

// A Snapshot is everything one run learned. It does not change once collected.
type Snapshot struct {
	At      time.Time      // when collection began
	Window  time.Duration  // what the run meant its window to be
	answers map[string]any // fact ID → []Answer[T] or *Gap
}

// order lists the facts and what they need by level: a fact stands one level
// above the highest of what it needs. Facts of one level do not need each other.
func order(facts []Any) [][]Any {
	level := map[string]int{}
	var levels [][]Any
	var visit func(Any) int
	visit = func(f Any) int {
		if l, ok := level[f.Name()]; ok {
			return l
		}
		l := 0
		for _, n := range f.Requires() {
			l = max(l, visit(n)+1)
		}
		level[f.Name()] = l
		for len(levels) <= l {
			levels = append(levels, nil)
		}
		levels[l] = append(levels[l], f)
		return l
	}
	for _, f := range facts {
		visit(f)
	}
	return levels
}
