package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

var (
	peer     = flag.String("peer", "", "the program etcd-defrag, to compare with")
	sizes    = flag.String("sizes", "1,2", "how large the databases are, in GiB")
	base     = flag.String("base", "", "a folder on a disk with room for three databases, twice")
	compared = flag.String("compared", "", "a file for the table")
	tools    = flag.String("tools", "ktriage,etcd-defrag,etcd-defrag,ktriage", "who defragments in turn when all is well, both ways round so that the order decides nothing")
	dying    = flag.Bool("dying", true, "also let a member die in the middle")
)

// TestSideBySide defragments the same databases under the same load with ktriage
// and with etcd-defrag, and measures what clients notice: when all goes well, and
// when a member dies in the middle. It reports, and demands only that ktriage
// keeps the majority.
func TestSideBySide(t *testing.T) {
	if *peer == "" || os.Getenv("KTRIAGE_BIN") == "" || os.Geteuid() != 0 {
		t.Skip("needs -peer, KTRIAGE_BIN and root")
	}
	dir := t.TempDir()
	if *base != "" {
		var err error
		if dir, err = os.MkdirTemp(*base, "sidebyside-"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	var table strings.Builder
	fmt.Fprintln(&table, "| database | case | tool | exit | took | writes: p99, longest | reads: p99, longest | clients of one member: longest | slower than 1 s | failed | paged lists cut off | defragmented |")
	fmt.Fprintln(&table, "|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, text := range strings.Split(*sizes, ",") {
		gib, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		c := makeCluster(t, setup{members: 3, base: filepath.Join(dir, "run-"+text)})
		began := time.Now()
		c.halfFull(int64(gib * (1 << 30)))
		t.Logf("%s GiB were written in %s", text, time.Since(began).Round(time.Second))
		saved := filepath.Join(dir, "saved-"+text)
		c.copyOut(saved)
		turn := func(tool, name string, dies bool) {
			t.Run(fmt.Sprintf("%s GiB, %s, %s", text, name, tool), func(t *testing.T) {
				c.t = t
				c.copyBack(saved)
				r := compare(t, c, tool, dies, time.Minute+time.Duration(gib*float64(time.Minute)))
				fmt.Fprintf(&table, "| %s GiB | %s | %s | %s |\n", text, name, tool, r)
			})
			t.Log("\n" + table.String())
			if *compared != "" {
				os.WriteFile(*compared, []byte(table.String()), 0o644)
			}
		}
		for tool := range strings.SplitSeq(*tools, ",") {
			turn(tool, "all well", false)
		}
		if *dying {
			turn("ktriage", "a member dies", true)
			turn("etcd-defrag", "a member dies", true)
		}
		c.t = t
		for _, m := range c.members {
			c.kill(m)
		}
		os.RemoveAll(saved)
	}
}

// halfFull fills the databases to a size, and frees half of it.
func (c *cluster) halfFull(size int64) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	const chunk = 128 << 10
	value := make([]byte, chunk)
	r := rand.New(rand.NewPCG(3, 9))
	for i := range value {
		value[i] = byte(r.Uint32())
	}
	var wait sync.WaitGroup
	n := int(size / chunk)
	const writers = 8
	errs := make([]error, writers)
	for w := range writers {
		wait.Go(func() {
			for i := w; i < n; i += writers {
				if _, err := c.client.Put(ctx, fmt.Sprintf("data/%d/%d", i%2, i), string(value)); err != nil {
					errs[w] = err
					return
				}
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		c.t.Fatal(err)
	}
	del, err := c.client.Delete(ctx, "data/1/", clientv3.WithPrefix())
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.client.Compact(ctx, del.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		c.t.Fatal(err)
	}
	for _, m := range c.members {
		for range 600 {
			if st, err := c.status(m); err == nil && st.DbSizeInUse*10 < st.DbSize*7 {
				break
			}
			if _, err := c.client.Put(ctx, "tick", ""); err != nil {
				c.t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
}

// copyOut stops the cluster, copies what its members hold, and starts it again.
func (c *cluster) copyOut(to string) {
	c.t.Helper()
	for _, m := range c.members {
		c.kill(m)
		c.cp(filepath.Join(m.dir, "data"), filepath.Join(to, m.name))
	}
}

// copyBack starts the cluster with what was copied.
func (c *cluster) copyBack(from string) {
	c.t.Helper()
	for _, m := range c.members {
		c.kill(m)
		if err := os.RemoveAll(filepath.Join(m.dir, "data")); err != nil {
			c.t.Fatal(err)
		}
		c.cp(filepath.Join(from, m.name), filepath.Join(m.dir, "data"))
	}
	// What was copied goes to the disk now, and not while it is measured.
	syscall.Sync()
	for _, m := range c.members {
		c.start(m, "")
	}
	c.whole()
}

func (c *cluster) cp(from, to string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
}

// A meter is what clients notice.
type meter struct {
	mu                   sync.Mutex
	writes, reads, bound []time.Duration // bound: of clients that know one member only
	slow, failed, cut    int
	stop                 context.CancelFunc
	wait                 sync.WaitGroup
}

// pageTime is how long ago the first page of a list was read when the last is.
const pageTime = 10 * time.Second

// startMeter starts clients as API servers are: some know all members, some only
// the one of their node. One reads lists whose pages are seconds apart.
func startMeter(t *testing.T, c *cluster) *meter {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	m := &meter{stop: cancel}
	client := func(eps ...string) *clientv3.Client {
		cl, err := clientv3.New(clientv3.Config{Endpoints: eps, Logger: zap.NewNop(), DialKeepAliveTime: 30 * time.Second, DialKeepAliveTimeout: 10 * time.Second}) // as API servers
		if err != nil {
			t.Fatal(err)
		}
		return cl
	}
	one := func(into *[]time.Duration, f func(context.Context) error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
		defer cancel()
		began := time.Now()
		err := f(ctx)
		took := time.Since(began)
		m.mu.Lock()
		defer m.mu.Unlock()
		*into = append(*into, took)
		if took > time.Second {
			m.slow++
		}
		if err != nil {
			m.failed++
		}
	}
	for i := range 6 {
		eps := c.endpoints()
		eps = append(eps[i%3:], eps[:i%3]...)
		into := [2]*[]time.Duration{&m.writes, &m.reads}
		if i >= 3 {
			eps, into = eps[:1], [2]*[]time.Duration{&m.bound, &m.bound}
		}
		cl := client(eps...)
		m.wait.Go(func() {
			defer cl.Close()
			value := strings.Repeat("v", 2<<10)
			for n := 0; ctx.Err() == nil; n++ {
				key := fmt.Sprintf("load/%d/%d", i, n%50)
				one(into[0], func(ctx context.Context) error { _, err := cl.Put(ctx, key, value); return err })
				one(into[1], func(ctx context.Context) error { _, err := cl.Get(ctx, key); return err })
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	lister := client(c.endpoints()...)
	m.wait.Go(func() {
		defer lister.Close()
		for ctx.Err() == nil {
			first, err := lister.Get(ctx, "load/", clientv3.WithPrefix(), clientv3.WithLimit(10))
			if err != nil {
				continue
			}
			select {
			case <-ctx.Done():
			case <-time.After(pageTime):
			}
			_, err = lister.Get(context.WithoutCancel(ctx), "load/", clientv3.WithPrefix(), clientv3.WithLimit(10), clientv3.WithRev(first.Header.Revision))
			if errors.Is(err, rpctypes.ErrCompacted) {
				m.mu.Lock()
				m.cut++
				m.mu.Unlock()
			}
		}
	})
	return m
}

func p99(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	s := slices.Clone(ds)
	slices.Sort(s)
	return s[len(s)*99/100]
}

func longest(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	return slices.Max(ds)
}

// defragmented is how often a member was, since it started; 0 of one that is down.
func defragmented(t *testing.T, m *member) int {
	t.Helper()
	resp, err := http.Get(m.url() + "/metrics")
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "etcd_disk_backend_defrag_duration_seconds_count "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(v))
			return n
		}
	}
	return 0
}

// compare runs one tool, and tells what it did and what clients noticed from its
// start on, for at least the time that is to be watched.
func compare(t *testing.T, c *cluster, tool string, dies bool, watched time.Duration) string {
	t.Helper()
	var victim *member
	leader := c.leader()
	for _, m := range c.members {
		if m != leader {
			victim = m // the follower that comes last
		}
	}
	unlock(t, c)
	m := startMeter(t, c)
	time.Sleep(pageTime + 2*time.Second) // the load is there, and a list under way
	var once sync.Once
	first := map[string]string{"ktriage": "step 1 of ", "etcd-defrag": "efragmenting endpoint"}[tool]
	p := &process{done: make(chan struct{})}
	p.each = func(all string) {
		if dies && strings.Contains(all, first) {
			once.Do(func() { c.kill(victim) })
		}
	}
	// Each as its own documentation says, for a cluster whose leader moves.
	args := []string{"--endpoints", strings.Join(c.endpoints(), ","), "--cluster", "--move-leader"}
	program := *peer
	if tool == "ktriage" {
		program = os.Getenv("KTRIAGE_BIN")
		args = []string{"fix", "etcd-defrag", "--yes", "--max-stall", "1m", "--rule", "fragmentation > 0.2", "--settle", "5s", "--settle-timeout", "30s", "--without-kubernetes", "--kubeconfig", "/nonexistent",
			"--etcd-endpoints", strings.Join(c.endpoints(), ","), "--state-dir", t.TempDir()}
	}
	p.cmd = exec.Command(program, args...)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.cmd.Wait()
		close(p.done)
	}()
	code := p.exit(t)
	took := time.Since(began)
	// Both are measured over the same time, or the shares of slow requests would
	// be those of different wholes. Clients notice nothing once all is done, so that
	// the longer one needs no more of it.
	time.Sleep(time.Until(began.Add(watched)))
	m.stop()
	m.wait.Wait()
	var done []string
	for _, x := range c.members {
		if n := defragmented(t, x); n > 0 {
			name := x.name
			if x == leader {
				name += " (led)"
			}
			if n > 1 {
				name += fmt.Sprintf(" %d times", n)
			}
			done = append(done, name)
		}
	}
	if dies {
		c.start(victim, "")
		c.whole()
	}
	t.Logf("%s said:\n%s", tool, p.text())
	ms := func(d time.Duration) string { return d.Round(time.Millisecond).String() }
	return fmt.Sprintf("%d | %s | %s, %s | %s, %s | %s | %d | %d | %d | %s",
		code, took.Round(time.Second), ms(p99(m.writes)), ms(longest(m.writes)), ms(p99(m.reads)), ms(longest(m.reads)), ms(longest(m.bound)), m.slow, m.failed, m.cut, strings.Join(done, ", "))
}
