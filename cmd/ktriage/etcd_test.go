package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/ktriage/ktriage/internal/testport"
)

// etcd runs real members, each a process of its own, as members of one process
// would share their metrics:
//
//	etcd start N [QUOTA]   starts N members and sets ETCDCTL_ENDPOINTS
//	etcd stop I            kills one
//	etcd put N PREFIX      writes N keys of 100 bytes
//	etcd alarm             raises the alarm NOSPACE
//	etcd none PREFIX       demands that no key has the prefix
//	etcd load ARG...       ktriage etcd perf --load ARG..., into the files out and err
//	etcd interrupt ARG...  the same, with Ctrl-C once keys are there
func etcd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: etcd start|stop|put|alarm|none|load|interrupt ...")
	}
	number := func(i int) int {
		n, err := strconv.Atoi(args[i])
		ts.Check(err)
		return n
	}
	all := ts.Value(etcdKey{}).(*members)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	switch args[0] {
	case "start":
		quota := "0"
		if len(args) > 2 {
			quota = args[2]
		}
		all.start(ts, number(1), quota)
	case "stop":
		all.processes[number(1)].Process.Kill()
	case "put":
		for i := range number(1) {
			_, err := all.client.Put(ctx, fmt.Sprintf("%s%04d", args[2], i), strings.Repeat("secret ", 15)[:100])
			ts.Check(err)
		}
	case "alarm":
		st, err := all.client.Status(ctx, all.client.Endpoints()[0])
		ts.Check(err)
		_, err = pb.NewMaintenanceClient(all.client.ActiveConnection()).Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, MemberID: st.Header.MemberId, Alarm: pb.AlarmType_NOSPACE})
		ts.Check(err)
	case "none":
		if n := all.count(ctx, ts, args[1]); n > 0 {
			ts.Fatalf("%d keys have the prefix %s", n, args[1])
		}
	case "load", "interrupt":
		all.load(ts, args[0] == "interrupt", args[1:])
	default:
		ts.Fatalf("etcd knows no %q", args[0])
	}
}

// tooBusy says that the machine lets etcd look too slow for a load.
var tooBusy atomic.Bool

type etcdKey struct{}

// members are those that a script started.
type members struct {
	processes []*exec.Cmd
	client    *clientv3.Client
}

func (all *members) count(ctx context.Context, ts *testscript.TestScript, prefix string) int64 {
	resp, err := all.client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	ts.Check(err)
	return resp.Count
}

// load runs the test of writes until it is made: a machine that is busy may let
// etcd look too slow for it, or fail it, which is not what is tested.
func (all *members) load(ts *testscript.TestScript, interrupt bool, args []string) {
	last := ""
	for range 6 {
		var out, errs bytes.Buffer
		cmd := exec.Command("ktriage", append([]string{"etcd", "perf", "--load"}, args...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), &out, &errs
		cmd.Env = append(os.Environ(), "ETCDCTL_ENDPOINTS="+ts.Getenv("ETCDCTL_ENDPOINTS"), "HOME="+ts.MkAbs("."), "KUBECONFIG=")
		ts.Check(cmd.Start())
		ended := make(chan struct{})
		go func() {
			cmd.Wait()
			close(ended)
		}()
		if interrupt {
			all.whenWriting(ts, ended, func() { cmd.Process.Signal(os.Interrupt) })
		}
		<-ended
		if last = errs.String(); strings.Contains(last, "is refused") {
			continue
		}
		ts.Logf("%s%s", out.String(), errs.String())
		ts.Check(os.WriteFile(ts.MkAbs("out"), out.Bytes(), 0o644))
		ts.Check(os.WriteFile(ts.MkAbs("err"), errs.Bytes(), 0o644))
		return
	}
	// A busy machine is not what is tested; a refusal is, elsewhere.
	ts.Logf("the load is refused again and again: %s", last)
	tooBusy.Store(true)
}

func (all *members) whenWriting(ts *testscript.TestScript, ended <-chan struct{}, do func()) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for all.count(ctx, ts, "/ktriage.load/") == 0 {
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	do()
}

// start starts members, named m1, m2, …, that end with the script.
func (all *members) start(ts *testscript.TestScript, n int, quota string) {
	var clients, peers, initial []string
	for i := range n {
		clients, peers = append(clients, freeURL(ts)), append(peers, freeURL(ts))
		initial = append(initial, fmt.Sprintf("m%d=%s", i+1, peers[i]))
	}
	for i := range n {
		cmd := exec.Command("etcd-member", fmt.Sprintf("m%d", i+1), filepath.Join(ts.MkAbs("."), fmt.Sprintf("etcd-%d", i+1)), clients[i], peers[i], strings.Join(initial, ","), quota)
		cmd.Stderr = os.Stderr
		ts.Check(cmd.Start())
		all.processes = append(all.processes, cmd)
		ts.Defer(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: clients[:1], Logger: zap.NewNop()})
	ts.Check(err)
	ts.Defer(func() { c.Close() })
	all.client = c
	ts.Setenv("ETCDCTL_ENDPOINTS", strings.Join(clients, ","))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, e := range clients {
		for {
			one, cancel := context.WithTimeout(ctx, time.Second)
			st, err := c.Status(one, e)
			cancel()
			if err == nil && st.Leader != 0 {
				break
			}
			if ctx.Err() != nil {
				ts.Fatalf("%s does not get ready: %v", e, err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

func freeURL(ts *testscript.TestScript) string {
	addr, err := testport.Addr()
	ts.Check(err)
	return "http://" + addr
}

// etcdMember is the program of one member.
func etcdMember() {
	c := embed.NewConfig()
	a := os.Args
	c.Name, c.Dir, c.InitialCluster = a[1], a[2], a[5]
	c.LogLevel, c.LogOutputs, c.UnsafeNoFsync = "fatal", []string{"/dev/null"}, true
	client, _ := url.Parse(a[3])
	peer, _ := url.Parse(a[4])
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	c.QuotaBackendBytes, _ = strconv.ParseInt(a[6], 10, 64)
	if _, err := embed.StartEtcd(c); err != nil {
		fmt.Fprintln(os.Stderr, "etcd-member:", err)
		os.Exit(1)
	}
	select {}
}
