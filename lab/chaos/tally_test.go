package chaos

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktriage/ktriage/lab/build"
)

// A row is one run, as the table shows it.
type row struct {
	name    string
	members int
	kind    string
	when    string
	code    int // ktriage's exit code
	then    string
	slow    time.Duration
	ok      bool
}

// A tally is all runs.
type tally struct {
	mu                   sync.Mutex
	rows                 []row
	acked, ops, undecide int
}

func (a *tally) add(r row) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rows = append(a.rows, r)
}

// count adds what the clients of a run did.
func (a *tally) count(acked, ops int, undecided bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acked += acked
	a.ops += ops
	if undecided {
		a.undecide++
	}
}

func (a *tally) write(t *testing.T, file string) {
	if file == "" {
		return
	}
	if err := os.WriteFile(file, []byte(a.String()), 0o644); err != nil {
		t.Error(err)
	}
}

// String is the page of the runs.
func (a *tally) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var b strings.Builder
	failed, codes := 0, map[int]int{}
	for _, r := range a.rows {
		codes[r.code]++
		if !r.ok {
			failed++
		}
	}
	fmt.Fprintf(&b, "# Runs of chaos\n\nWritten by `make chaos RUNS=%d` (seed %d, etcd %s). What is done and what is demanded: [remediation.md](remediation.md#chaos).\n\n", *runs, *seed, build.Default.Etcd)
	fmt.Fprintf(&b, "%d runs, of which %d failed. ktriage ended by itself with 0 in %d, refused (4) in %d, stopped (5) in %d, and was killed in %d. %d acknowledged writes were\nread back. %d operations on registers were checked for linearizability; in %d runs that took more than a minute and was given up.\n\n",
		len(a.rows), failed, codes[exitOK], codes[exitRefused], codes[exitStopped], codes[-1], a.acked, a.ops, a.undecide)
	fmt.Fprintf(&b, "| run | members | fault | when | exit | then | longest wait of a client |\n|---|---|---|---|---|---|---|\n")
	rows := slices.Clone(a.rows)
	slices.SortStableFunc(rows, func(x, y row) int { return x.members - y.members })
	for _, r := range rows {
		then := r.then
		if !r.ok {
			then = "FAILED " + strings.TrimPrefix(then, "FAILED")
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %d | %s | %s |\n", r.name, r.members, r.kind, r.when, r.code, then, r.slow)
	}
	return b.String()
}
