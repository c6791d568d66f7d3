package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/ktriage/ktriage/internal/testport"
)

// What the test binary is, when it starts itself again: an etcd member, which
// can be killed and frozen, or ktriage, which can be killed too.
const (
	asEtcd    = "KTRIAGE_TEST_ETCD"
	asKtriage = "KTRIAGE_TEST_KTRIAGE"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asEtcd) != "":
		serveEtcd(os.Getenv(asEtcd))
	case os.Getenv(asKtriage) != "":
		os.Exit(Main(Terminal()))
	}
	os.Exit(m.Run())
}

// A memberConfig is what an etcd process is started with.
type memberConfig struct {
	Name, Dir, Client, Peer, Initial string
	Quota                            int64
}

func serveEtcd(conf string) {
	var m memberConfig
	if err := json.Unmarshal([]byte(conf), &m); err != nil {
		panic(err)
	}
	c := embed.NewConfig()
	c.Name, c.Dir = m.Name, m.Dir
	c.LogLevel, c.LogOutputs = "error", []string{"stderr"}
	c.UnsafeNoFsync = true
	// A machine that is busy must not make elections.
	c.TickMs, c.ElectionMs = 200, 4000
	c.QuotaBackendBytes = m.Quota
	cu, pu := url.URL{Scheme: "http", Host: m.Client}, url.URL{Scheme: "http", Host: m.Peer}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{cu}, []url.URL{cu}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{pu}, []url.URL{pu}
	c.InitialCluster = m.Initial
	e, err := embed.StartEtcd(c)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	panic(<-e.Err())
}

// An etcdProc is one member.
type etcdProc struct {
	memberConfig
	cmd *exec.Cmd
	log bytes.Buffer
}

// An etcdCluster is members in processes of their own.
type etcdCluster struct {
	t       *testing.T
	members []*etcdProc
	client  *clientv3.Client
}

func freeAddr(t *testing.T) string {
	t.Helper()
	addr, err := testport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func newEtcdCluster(t *testing.T, n int, quota int64) *etcdCluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a real etcd")
	}
	c := &etcdCluster{t: t}
	dir := t.TempDir()
	var initial []string
	for i := range n {
		m := &etcdProc{memberConfig: memberConfig{Name: fmt.Sprintf("cp-%d", i+1), Client: freeAddr(t), Peer: freeAddr(t), Quota: quota}}
		m.Dir = filepath.Join(dir, m.Name)
		initial = append(initial, m.Name+"=http://"+m.Peer)
		c.members = append(c.members, m)
	}
	for _, m := range c.members {
		m.Initial = strings.Join(initial, ",")
		c.start(m)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: c.endpoints(), Logger: zap.NewNop(), DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c.client = client
	t.Cleanup(func() { client.Close() })
	c.ready()
	return c
}

func (c *etcdCluster) start(m *etcdProc) {
	c.t.Helper()
	conf, _ := json.Marshal(m.memberConfig)
	exe, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), asEtcd+"="+string(conf))
	cmd.Stderr = &m.log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	m.cmd = cmd
	c.t.Cleanup(func() { c.kill(m) })
}

func (c *etcdCluster) kill(m *etcdProc) {
	if m.cmd == nil {
		return
	}
	m.cmd.Process.Signal(syscall.SIGCONT)
	m.cmd.Process.Kill()
	m.cmd.Wait()
	m.cmd = nil
}

func (c *etcdCluster) endpoints() (out []string) {
	for _, m := range c.members {
		out = append(out, "http://"+m.Client)
	}
	return out
}

// ready waits until every member that runs has a leader.
func (c *etcdCluster) ready() {
	c.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for _, m := range c.members {
		if m.cmd == nil {
			continue
		}
		for {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			st, err := c.client.Status(ctx, "http://"+m.Client)
			if err == nil && st.Leader != 0 {
				_, err = c.client.Get(ctx, "x")
			}
			cancel()
			if err == nil && st.Leader != 0 {
				break
			}
			if time.Now().After(deadline) {
				c.t.Fatalf("%s does not get ready: %v\n%s", m.Name, err, m.log.String())
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func (c *etcdCluster) status(m *etcdProc) *clientv3.StatusResponse {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	st, err := c.client.Status(ctx, "http://"+m.Client)
	if err != nil {
		c.t.Fatal(err)
	}
	return st
}

func (c *etcdCluster) leader() *etcdProc {
	c.t.Helper()
	for _, m := range c.members {
		if m.cmd != nil {
			if st := c.status(m); st.Leader == st.Header.MemberId {
				return m
			}
		}
	}
	c.t.Fatal("nobody leads")
	return nil
}

func (c *etcdCluster) followers() (out []*etcdProc) {
	l := c.leader()
	for _, m := range c.members {
		if m != l {
			out = append(out, m)
		}
	}
	return out
}

// fragment leaves every member a database that is mostly free pages.
func (c *etcdCluster) fragment(mib int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	value := strings.Repeat("x", 256<<10)
	for i := range mib * 4 {
		if _, err := c.client.Put(ctx, fmt.Sprintf("/registry/junk/%d", i), value); err != nil {
			c.t.Fatal(err)
		}
	}
	del, err := c.client.Delete(ctx, "/registry/junk/", clientv3.WithPrefix())
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.client.Compact(ctx, del.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		c.t.Fatal(err)
	}
	for _, m := range c.members {
		for range 60 {
			if st := c.status(m); st.DbSizeInUse < st.DbSize/2 {
				break
			}
			// Pages that were freed are counted when something is written after.
			if _, err := c.client.Put(ctx, "/registry/tick", ""); err != nil {
				c.t.Fatal(err)
			}
			time.Sleep(150 * time.Millisecond)
		}
	}
}

// A watched buffer calls a function with all that was written, at each write.
type watched struct {
	mu   sync.Mutex
	b    bytes.Buffer
	each func(all string)
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.b.Write(p)
	all := w.b.String()
	w.mu.Unlock()
	if w.each != nil {
		w.each(all)
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// A patient is a cluster with an operator's folder.
type patient struct {
	*etcdCluster
	home  string
	stdin string
	now   func() time.Time
	each  func(all string) // told what is on standard error
}

func (c *etcdCluster) patient() *patient {
	return &patient{etcdCluster: c, home: c.t.TempDir(), now: time.Now}
}

// args adds how the cluster is reached, and pauses that suit a test.
func (p *patient) args(args ...string) []string {
	out := append([]string{"ktriage"}, args...)
	out = append(out, "--etcd-endpoints", strings.Join(p.endpoints(), ","), "--state-dir", filepath.Join(p.home, "state"), "--kubeconfig", filepath.Join(p.home, "none"))
	if args[0] != "apply" {
		out = append(out, "--settle", "0s", "--settle-timeout", "30s", "--without-kubernetes")
	}
	return out
}

// run runs ktriage in this process.
func (p *patient) run(args ...string) (code int, stdout, stderr string) {
	p.t.Helper()
	var out bytes.Buffer
	errs := &watched{each: p.each}
	env := map[string]string{"HOME": p.home}
	code = Main(Invocation{
		Args: p.args(args...), Stdin: strings.NewReader(p.stdin), Stdout: &out, Stderr: errs,
		Getenv: func(k string) string { return env[k] }, Now: p.now,
	})
	return code, out.String(), errs.String()
}

func (p *patient) mustRun(want int, args ...string) (stdout, stderr string) {
	p.t.Helper()
	code, stdout, stderr := p.run(args...)
	if code != want {
		p.t.Fatalf("ktriage %s: exit code %d, want %d\n%s\n%s", strings.Join(args, " "), code, want, stdout, stderr)
	}
	return stdout, stderr
}

// spawn starts ktriage as a process of its own.
func (p *patient) spawn(each func(all string, k *os.Process), args ...string) (*exec.Cmd, *watched) {
	p.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(exe, p.args(args...)[1:]...)
	cmd.Env = append(os.Environ(), asKtriage+"=1", "HOME="+p.home)
	errs := &watched{}
	errs.each = func(all string) { each(all, cmd.Process) }
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return cmd, errs
}

// journal reads what the only journal says, as one word a line: "began defragment/cp-2".
func (p *patient) journal() (out []string) {
	p.t.Helper()
	files, _ := filepath.Glob(filepath.Join(p.home, "state", "journal", "*.jsonl"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			p.t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			var r struct{ Event, Kind, Target string }
			if json.Unmarshal([]byte(line), &r) != nil {
				continue // cut off
			}
			if r.Kind != "" {
				_, name, _ := strings.Cut(r.Target, "/")
				out = append(out, fmt.Sprintf("%s %s/%s", r.Event, strings.TrimPrefix(r.Kind, "etcd."), name))
			} else {
				out = append(out, r.Event)
			}
		}
	}
	return out
}
