package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/ktriage/ktriage/lab/build"
	"github.com/ktriage/ktriage/lab/netns"
)

// A member is a real etcd on a machine of its own: a network namespace and a
// disk that can be filled.
type member struct {
	name, ip, dir, space string
	bin                  string
	i                    int
	cmd                  *exec.Cmd
}

func (m *member) url() string { return "http://" + m.ip + ":2379" }

type cluster struct {
	t       *testing.T
	net     netns.Network
	members []*member
	client  *clientv3.Client
}

// A setup is what a cluster is made of.
type setup struct {
	members int
	old     map[int]string // the version of some members, if not the default
	disk    string         // the size of a disk in memory; empty: on this machine's, below base
	base    string         // where the members' folders are
}

// diskSize holds the databases of these tests several times over.
const diskSize = "768m"

// clusters counts those of this process, for names and addresses of their own.
var clusters atomic.Int32

// program is the etcd of a version.
func program(t *testing.T, version string) string {
	t.Helper()
	cache, err := build.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	v := build.Default
	if version != "" {
		v.Etcd = version
	}
	bin := build.Paths(cache, v).Etcd
	if _, err := os.Stat(bin); err != nil {
		t.Skipf("no etcd: go run ./cmd/lab build: %v", err)
	}
	return bin
}

func newCluster(t *testing.T, n int) *cluster {
	t.Helper()
	return makeCluster(t, setup{members: n, disk: diskSize, base: t.TempDir()})
}

func makeCluster(t *testing.T, s setup) *cluster {
	t.Helper()
	c := &cluster{t: t}
	id := (os.Getpid()*8 + int(clusters.Add(1))) % 250
	var err error
	c.net = netns.Network{
		Bridge:  fmt.Sprintf("ktc%d", id),
		Gateway: &net.IPNet{IP: net.IPv4(10, 201, byte(id), 1), Mask: net.CIDRMask(24, 32)},
	}
	for i := range s.members {
		m := &member{bin: program(t, s.old[i]), name: fmt.Sprintf("m%d", i+1), ip: fmt.Sprintf("10.201.%d.%d", id, 11+i), space: fmt.Sprintf("%s-%d", c.net.Bridge, i), i: i}
		m.dir = filepath.Join(s.base, m.name)
		c.net.Spaces = append(c.net.Spaces, netns.Space{Name: m.space, Addrs: []net.IP{net.ParseIP(m.ip)}})
		c.members = append(c.members, m)
	}
	if err := c.net.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, m := range c.members {
			c.kill(m)
			syscall.Unmount(m.dir, 0)
		}
		c.net.Down(context.Background())
	})
	var initial []string
	for _, m := range c.members {
		initial = append(initial, m.name+"=http://"+m.ip+":2380")
	}
	for _, m := range c.members {
		if err := os.MkdirAll(m.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if s.disk != "" {
			if err := syscall.Mount("tmpfs", m.dir, "tmpfs", 0, "size="+s.disk); err != nil {
				t.Fatal(err)
			}
		}
		c.start(m, strings.Join(initial, ","))
	}
	c.client, err = clientv3.New(clientv3.Config{Endpoints: c.endpoints(), Logger: zap.NewNop(), DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.client.Close() })
	c.whole()
	return c
}

func (c *cluster) start(m *member, initial string) {
	c.t.Helper()
	if initial == "" {
		initial = m.name + "=http://" + m.ip + ":2380" // is not read by one that has data
	}
	log, err := os.OpenFile(m.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	m.cmd = exec.Command("ip", "netns", "exec", m.space, m.bin, "--name", m.name, "--data-dir", filepath.Join(m.dir, "data"),
		"--listen-client-urls", "http://0.0.0.0:2379", "--advertise-client-urls", m.url(),
		"--listen-peer-urls", "http://"+m.ip+":2380", "--initial-advertise-peer-urls", "http://"+m.ip+":2380",
		"--initial-cluster", initial, "--log-level", "warn", "--unsafe-no-fsync", "--quota-backend-bytes", "8589934592", "--max-wals", "2", "--max-snapshots", "2",
		"--grpc-keepalive-min-time", "500ms", // clients ask more often than etcd wants by default
		// A machine that is busy must not make elections of its own.
		"--heartbeat-interval", "200", "--election-timeout", "2000")
	m.cmd.Stdout, m.cmd.Stderr = log, log
	if err := m.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) kill(m *member) {
	if m.cmd == nil {
		return
	}
	m.cmd.Process.Signal(syscall.SIGCONT)
	m.cmd.Process.Kill()
	m.cmd.Wait()
	m.cmd = nil
}

func (c *cluster) endpoints() (out []string) {
	for _, m := range c.members {
		out = append(out, m.url())
	}
	return out
}

func (c *cluster) status(m *member) (*clientv3.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	return c.client.Status(ctx, m.url())
}

// reads reads a key through one member, with the leader's word.
func (c *cluster) reads(m *member) error {
	one, err := clientv3.New(clientv3.Config{Endpoints: []string{m.url()}, Logger: zap.NewNop(), MaxUnaryRetries: 1})
	if err != nil {
		return err
	}
	defer one.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_, err = one.Get(ctx, "health")
	return err
}

// whole waits until every member answers and reads, agrees on the leader and has
// caught up.
func (c *cluster) whole() {
	c.t.Helper()
	var why string
	for range 600 {
		why = ""
		var leader, front uint64
		for _, m := range c.members {
			st, err := c.status(m)
			switch {
			case err != nil:
				why = fmt.Sprintf("%s: %v", m.name, err)
			case st.Leader == 0 || leader != 0 && st.Leader != leader:
				why = m.name + " does not agree on the leader"
			case st.RaftAppliedIndex+500 < front:
				why = m.name + " lags"
			case c.reads(m) != nil:
				why = m.name + " does not read with the leader's word"
			default:
				leader, front = st.Leader, max(front, st.RaftAppliedIndex)
			}
		}
		if why == "" {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	c.t.Fatalf("the cluster does not become whole: %s", why)
}

func (c *cluster) leader() *member {
	c.t.Helper()
	for range 100 {
		for _, m := range c.members {
			if st, err := c.status(m); err == nil && st.Leader == st.Header.MemberId {
				return m
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	c.t.Fatal("nobody leads")
	return nil
}

// fragment leaves free pages in every database.
func (c *cluster) fragment(mib int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	value := strings.Repeat("x", 512<<10)
	for i := range mib * 2 {
		if _, err := c.client.Put(ctx, fmt.Sprintf("junk/%d", i), value); err != nil {
			c.t.Fatal(err)
		}
	}
	del, err := c.client.Delete(ctx, "junk/", clientv3.WithPrefix())
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.client.Compact(ctx, del.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		c.t.Fatal(err)
	}
	for _, m := range c.members {
		for range 100 {
			// So many that the rule of the plan takes each member.
			if st, err := c.status(m); err == nil && st.DbSizeInUse*2 < st.DbSize && st.DbSize-st.DbSizeInUse > int64(mib-6)<<20 {
				break
			}
			// Pages that were freed are counted when something is written after.
			if _, err := c.client.Put(ctx, "tick", ""); err != nil {
				c.t.Fatal(err)
			}
			time.Sleep(150 * time.Millisecond)
		}
	}
}

// lead makes another member the leader than the one that is.
func (c *cluster) lead(not *member) error {
	for _, m := range c.members {
		if m == not {
			continue
		}
		st, err := c.status(m)
		if err != nil {
			continue
		}
		one, err := clientv3.New(clientv3.Config{Endpoints: []string{not.url()}, Logger: zap.NewNop()})
		if err != nil {
			return err
		}
		defer one.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err = one.MoveLeader(ctx, st.Header.MemberId)
		return err
	}
	return errors.New("nobody else answers")
}

// alarm raises or takes back CORRUPT.
func (c *cluster) alarm(m *member, do pb.AlarmRequest_AlarmAction) error {
	st, err := c.status(m)
	if err != nil {
		return err
	}
	one, err := clientv3.New(clientv3.Config{Endpoints: []string{m.url()}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer one.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err = pb.NewMaintenanceClient(one.ActiveConnection()).Alarm(ctx, &pb.AlarmRequest{Action: do, MemberID: st.Header.MemberId, Alarm: pb.AlarmType_CORRUPT})
	return err
}

// A fault is put in place once, and mended once.
type fault struct {
	name   string
	mended sync.Once
	at     time.Time // when it was in place; zero if it never was
	until  time.Time
	mend   func()
	// away says that a member does not serve while the fault lasts.
	away bool
	err  error
}

func (f *fault) heal() {
	f.mended.Do(func() {
		if f.mend != nil {
			f.mend()
		}
		f.until = time.Now()
	})
}
