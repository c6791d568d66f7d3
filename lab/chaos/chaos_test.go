package chaos

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

var (
	runs = flag.Int("runs", 4, "how many runs, half of them on five members")
	seed = flag.Uint64("seed", 1, "what decides which fault comes when")
	out  = flag.String("report", "", "a file for the table of all runs")
	span = flag.Duration("for", 0, "begin no run later than this after the first; 0 is no limit")
	only = flag.String("only", "", "one fault, in place of all in turn")
)

const (
	exitOK      = 0
	exitRefused = 4
	exitStopped = 5
)

// kinds are the faults.
var kinds = []string{"kill another", "kill target", "kill ktriage", "freeze target", "cut leader off", "corrupt", "second ktriage", "fill disk", "move leader", beforeApply}

// beforeApply is the one that comes between the plan and its application.
const beforeApply = "move leader before apply"

// moments are when, by what ktriage says on standard error.
var moments = []string{"step %d of ", "step %d carried out", "step %d done"}

func TestChaos(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: it makes network namespaces")
	}
	if os.Getenv("KTRIAGE_BIN") == "" {
		t.Skip("KTRIAGE_BIN names no program to test")
	}
	var all tally
	began := time.Now()
	t.Run("runs", func(t *testing.T) {
		for shard := range 4 {
			n := 3 + 2*(shard%2)
			t.Run(fmt.Sprintf("%d members, %d", n, shard), func(t *testing.T) {
				t.Parallel() // most of a run is waiting
				r := rand.New(rand.NewPCG(*seed, uint64(shard)))
				c := newCluster(t, n)
				for i := range (*runs + 3) / 4 {
					if *span > 0 && time.Since(began) > *span {
						break // the table tells how many were made
					}
					// The shards of a size begin with another fault each.
					kind := cmp.Or(*only, kinds[(i+5*(shard/2))%len(kinds)])
					step := 1 + r.IntN(n+1)
					moment := fmt.Sprintf(moments[r.IntN(len(moments))], step)
					when := strings.TrimSuffix(moment, " of ")
					if kind == beforeApply {
						when = "before step 1"
					}
					w := row{name: fmt.Sprintf("%d-%d", shard, i), members: n, kind: kind, when: when, then: "FAILED"}
					t.Run(fmt.Sprintf("%d %s at %s", i, kind, when), func(t *testing.T) {
						c.t = t
						one(t, c, &w, step, moment, &all)
					})
					all.add(w)
					all.write(t, *out)
				}
				c.t = t
			})
		}
	})
	all.write(t, *out)
	t.Log("\n" + all.String())
}

// A record is a line of ktriage's journal.
type record struct {
	At     time.Time
	Event  string
	Kind   string
	Target string
	Step   int
}

func readJournal(t *testing.T, dir string) (out []record) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			var r record
			if json.Unmarshal([]byte(line), &r) == nil {
				out = append(out, r)
			}
		}
	}
	return out
}

// A process is a ktriage that runs, and what it says.
type process struct {
	cmd  *exec.Cmd
	mu   sync.Mutex
	said bytes.Buffer
	each func(string)
	done chan struct{}
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	p.said.Write(b)
	all := p.said.String()
	p.mu.Unlock()
	if p.each != nil {
		p.each(all)
	}
	return len(b), nil
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

func ktriage(t *testing.T, c *cluster, dir string, each func(string, *process), args ...string) *process {
	t.Helper()
	p := &process{done: make(chan struct{})}
	args = append(args, "--etcd-endpoints", strings.Join(c.endpoints(), ","), "--state-dir", dir, "--kubeconfig", "/nonexistent")
	if args[0] != "apply" {
		args = append(args, "--rule", "free > 22*MiB", "--settle", "0s", "--settle-timeout", "15s", "--without-kubernetes")
	}
	p.cmd = exec.Command(os.Getenv("KTRIAGE_BIN"), args...)
	p.cmd.Stderr, p.cmd.Stdout = p, p
	if each != nil {
		p.each = func(all string) { each(all, p) }
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.cmd.Wait()
		close(p.done)
	}()
	return p
}

// maxRun is beyond what a run may take, the notice of a frozen member included.
const maxRun = 4 * time.Minute

func (p *process) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(maxRun):
		p.cmd.Process.Signal(syscall.SIGQUIT)
		<-p.done
		t.Errorf("ktriage does not end:\n%s", p.text())
	}
	return p.cmd.ProcessState.ExitCode()
}

// one is one run: a plan, a fault in the middle, and all that must hold.
func one(t *testing.T, c *cluster, w *row, step int, moment string, all *tally) {
	t.Helper()
	kind := w.kind
	dir := t.TempDir()
	c.whole()
	unlock(t, c) // a run that was cut off from the cluster leaves it for a minute
	c.fragment(28)
	plan := filepath.Join(dir, "plan.json")
	if p := ktriage(t, c, dir, nil, "plan", "etcd-defrag", "-o", plan); p.exit(t) != exitOK {
		t.Fatalf("no plan:\n%s", p.text())
	}
	targets := planned(t, plan)
	l := startLoad(t, c, w.name)
	serving := startServing(c)
	f := &fault{name: kind}
	var once sync.Once
	var second *process
	inject := func(k *process) {
		switch target := c.byName(targets[step-1]); kind {
		case "kill another":
			m := c.members[0]
			if m == target {
				m = c.members[1]
			}
			c.kill(m)
			f.away, f.mend = true, func() { c.start(m, "") }
		case "kill target":
			c.kill(target)
			f.away, f.mend = true, func() { c.start(target, "") }
		case "kill ktriage":
			k.cmd.Process.Kill()
		case "freeze target":
			target.cmd.Process.Signal(syscall.SIGSTOP)
			f.away, f.mend = true, func() { target.cmd.Process.Signal(syscall.SIGCONT) }
		case "cut leader off":
			m := c.leader()
			f.err = c.net.Plug(context.Background(), m.i, false)
			f.away, f.mend = true, func() { c.net.Plug(context.Background(), m.i, true) }
		case "corrupt":
			f.err = c.alarm(c.members[1], pb.AlarmRequest_ACTIVATE)
			f.away, f.mend = true, func() { c.alarm(c.members[1], pb.AlarmRequest_DEACTIVATE) }
		case "move leader", beforeApply:
			f.err = c.lead(c.leader())
		case "second ktriage":
			second = ktriage(t, c, filepath.Join(dir, "second"), nil, "fix", "etcd-defrag", "--yes", "--max-stall", "1m")
		case "fill disk":
			big := filepath.Join(target.dir, "big")
			exec.Command("dd", "if=/dev/zero", "of="+big, "bs=1M").Run() // ends when the disk is full
			// It serves on what it has laid by for its log, for a while or to the end.
			_, err := c.status(target)
			f.away, f.mend = err != nil, func() {
				os.Remove(big)
				c.kill(target) // it may have ended by itself
				c.start(target, "")
			}
		}
		f.at = time.Now()
	}
	if kind == beforeApply {
		once.Do(func() { inject(nil) })
		c.whole()
	}
	k := ktriage(t, c, dir, func(all string, k *process) {
		if strings.Contains(all, moment) {
			once.Do(func() { inject(k) })
		}
	}, "apply", plan)
	code := k.exit(t)
	if f.at.IsZero() {
		t.Errorf("the fault was never put in place:\n%s", k.text())
	}
	if f.err != nil {
		t.Errorf("the fault could not be put in place: %v", f.err)
	}
	f.heal()
	c.whole()
	records := readJournal(t, dir)
	verify(t, f, k, records, code, kind)
	if second != nil {
		if got := second.exit(t); got != exitRefused && !strings.Contains(second.text(), "nothing to do") {
			t.Errorf("a second ktriage exited %d:\n%s", got, second.text())
		}
	}

	// Once mended, the operator takes it up again, or makes a new plan where the
	// state is another.
	then, told := "", ""
	if code != exitOK {
		unlock(t, c)
		again := ktriage(t, c, dir, nil, "apply", plan, "--resume")
		got := again.exit(t)
		then, told = fmt.Sprintf("resume: %d", got), again.text()
		if got != exitOK && got != exitRefused {
			t.Errorf("resumed, it exited %d:\n%s", got, again.text())
		}
		if got == exitRefused {
			unlock(t, c)
			fresh := ktriage(t, c, filepath.Join(dir, "fresh"), nil, "fix", "etcd-defrag", "--yes", "--max-stall", "1m")
			got = fresh.exit(t)
			then += fmt.Sprintf(", a new plan: %d", got)
			if got != exitOK {
				t.Errorf("with a new plan, it exited %d:\n%s", got, fresh.text())
			}
		}
	}
	serving.check(t, f)
	l.check(t, c, all)
	for _, m := range c.members {
		// With the first write after, the file grows by 16 MiB.
		if st, err := c.status(m); err != nil || st.DbSize-st.DbSizeInUse > 20<<20 && !strings.Contains(told, m.name+" has lost what it gave back") {
			t.Errorf("%s is not defragmented at the end: %v, %v of %v bytes are in use\n%s", m.name, err, size(st, false), size(st, true), k.text())
		}
	}
	w.code, w.then, w.slow, w.ok = code, then, l.slow.Round(time.Millisecond), !t.Failed()
}

func size(st *clientv3.StatusResponse, whole bool) int64 {
	switch {
	case st == nil:
		return 0
	case whole:
		return st.DbSize
	}
	return st.DbSizeInUse
}

// lookTime is how old the facts of a guard may be when its step begins: that it
// takes to look at all members and to write the journal.
const lookTime = 5 * time.Second

// verify holds what ktriage did against when the fault was in place.
func verify(t *testing.T, f *fault, k *process, records []record, code int, kind string) {
	t.Helper()
	last := record{}
	for _, r := range records {
		last = r
		if r.Event == "began" && r.Kind != "" && f.away && r.At.After(f.at.Add(lookTime)) && r.At.Before(f.until) {
			t.Errorf("%s of %s was begun %s after the fault, which was not mended:\n%s", r.Kind, r.Target, r.At.Sub(f.at), k.text())
		}
		if r.Event == "done" && f.away && r.At.After(f.at.Add(lookTime)) && r.At.Before(f.until) {
			t.Errorf("%s of %s was called done %s after the fault, which was not mended:\n%s", r.Kind, r.Target, r.At.Sub(f.at), k.text())
		}
	}
	switch {
	case code == exitOK && last.Event != "ended":
		t.Errorf("exit code 0, and the journal ends with %q", last.Event)
	case code == exitOK && f.away && last.At.After(f.at.Add(lookTime)) && last.At.Before(f.until):
		t.Errorf("it was called done %s after a fault that was not mended:\n%s", last.At.Sub(f.at), k.text())
	case code != exitOK && last.Event == "ended" && kind != "kill ktriage": // which may come when all is done
		t.Errorf("exit code %d, and the journal says ended", code)
	case kind == beforeApply && (code != exitRefused || slices.ContainsFunc(records, func(r record) bool { return r.Kind != "" })):
		t.Errorf("the plan was made under another leader, and it exited %d:\n%s", code, k.text())
	case kind == "second ktriage" && code != exitOK:
		t.Errorf("a second ktriage made the first exit %d:\n%s", code, k.text())
	case kind != "kill ktriage" && !slices.Contains([]int{exitOK, exitRefused, exitStopped}, code):
		t.Errorf("exit code %d:\n%s", code, k.text())
	}
}

// unlock takes the lock of who was killed away, for which an operator waits a
// minute.
func unlock(t *testing.T, c *cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := c.client.Delete(ctx, "/ktriage/lock"); err != nil {
		t.Error(err)
	}
}

func (c *cluster) byName(name string) *member {
	for _, m := range c.members {
		if m.name == name {
			return m
		}
	}
	panic("no member " + name)
}

// planned lists the targets of a plan's steps.
func planned(t *testing.T, file string) (out []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Steps []struct{ Action struct{ Target string } }
	}
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Steps {
		_, name, _ := strings.Cut(s.Action.Target, "/")
		out = append(out, name)
	}
	if len(out) < 4 {
		t.Fatalf("the plan has %d steps", len(out))
	}
	return out
}
