package live

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/ktriage/ktriage/collectors/etcd"
	"github.com/ktriage/ktriage/remediate"
)

// A Config is what it takes to reach a cluster.
type Config struct {
	State remediate.State                        // of the plan: which members there are
	TLS   func(addr string) (*tls.Config, error) // how to speak to host:port; nil without TLS
	Kube  *Kube                                  // nil if there is no Kubernetes
	Agent string                                 // names this program to servers
}

// An Actuator carries out actions. It tries nothing twice.
type Actuator struct{ config Config }

// New makes an Actuator. It dials nobody.
func New(c Config) *Actuator { return &Actuator{c} }

func notDone(format string, a ...any) error { return &remediate.NotDone{Err: fmt.Errorf(format, a...)} }

// brief is how long a call may take that does little: a member that is well
// answers in milliseconds.
const brief = 10 * time.Second

// Do carries out an action. A defragmentation and a compaction have no
// deadline: a client that gives up does not stop them, it only stops knowing.
func (a *Actuator) Do(ctx context.Context, x remediate.Action) (remediate.Outcome, error) {
	switch x.Kind {
	case remediate.Defragment:
		return a.defragment(ctx, x)
	case remediate.Compact:
		return a.compact(ctx, x)
	case remediate.MoveLeader:
		return a.moveLeader(ctx, x)
	case remediate.Disarm:
		return a.disarm(ctx, x)
	case remediate.VerifyWrite:
		return a.verifyWrite(ctx)
	case remediate.Snapshot:
		return a.snapshot(ctx, x)
	}
	if a.config.Kube == nil {
		return nil, notDone("there is no kubeconfig to change objects with")
	}
	switch x.Kind {
	case remediate.OpenHook:
		return a.config.Kube.openHook(ctx, x)
	case remediate.RemoveAPIService:
		return a.config.Kube.removeAPIService(ctx, x)
	case remediate.PruneEvents:
		return a.config.Kube.pruneEvents(ctx, x)
	case remediate.HandOver:
		return a.config.Kube.handOver(ctx, x)
	}
	return nil, notDone("there is no action %q", x.Kind)
}

// A conn is a connection to one member, which said that it is the one.
type conn struct {
	*grpc.ClientConn
	client *clientv3.Client
	status *pb.StatusResponse
}

// member connects to a member by its name and makes sure who answers: an
// address may have been given to another, or lead to another cluster.
func (a *Actuator) member(ctx context.Context, name string) (*conn, error) {
	m, ok := a.config.State.Member(name)
	if !ok {
		return nil, fmt.Errorf("%s is no member of the plan", name)
	}
	c, err := a.dial(m.Client)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, brief)
	defer cancel()
	st, err := pb.NewMaintenanceClient(c).Status(ctx, &pb.StatusRequest{}, grpc.WaitForReady(true))
	switch {
	case err != nil:
		err = fmt.Errorf("ask %s who it is: %w", name, err)
	case strconv.FormatUint(st.Header.MemberId, 16) != m.ID || strconv.FormatUint(st.Header.ClusterId, 16) != a.config.State.ClusterID:
		err = fmt.Errorf("at the address of %s answers member %x of cluster %x", name, st.Header.MemberId, st.Header.ClusterId)
	default:
		c.status = st
		return c, nil
	}
	c.Close()
	return nil, err
}

func (c *conn) Close() { c.client.Close() } // of no consequence: each call was answered

func (a *Actuator) dial(addr string) (*conn, error) {
	conf, err := a.config.TLS(addr)
	if err != nil {
		return nil, err
	}
	endpoint, creds := "http://"+addr, insecure.NewCredentials()
	if conf != nil {
		endpoint, creds = "https://"+addr, credentials.NewTLS(conf)
	}
	// The client would try again, and elsewhere, by itself: a defragmentation
	// that is tried again is two at a time.
	client, err := clientv3.New(clientv3.Config{
		Endpoints:       []string{endpoint},
		Logger:          zap.NewNop(),
		MaxUnaryRetries: 1,
		DialOptions: []grpc.DialOption{
			grpc.WithTransportCredentials(creds),
			grpc.WithUserAgent(a.config.Agent),
			grpc.WithDisableRetry(),
			grpc.WithDisableServiceConfig(),
			// Without a deadline, this is what notices that a member is gone.
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 15 * time.Second, Timeout: 30 * time.Second}),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64 << 20)),
		},
	})
	if err != nil {
		return nil, err
	}
	return &conn{ClientConn: client.ActiveConnection(), client: client}, nil
}

func (a *Actuator) defragment(ctx context.Context, x remediate.Action) (remediate.Outcome, error) {
	c, err := a.member(ctx, x.Target.Name)
	if err != nil {
		return nil, &remediate.NotDone{Err: err}
	}
	defer c.Close()
	if c.status.Leader == c.status.Header.MemberId && x.Args[remediate.ArgInPlace] != "true" {
		return nil, notDone("%s has become the leader: it was not defragmented", x.Target.Name)
	}
	if _, err := pb.NewMaintenanceClient(c).Defragment(ctx, &pb.DefragmentRequest{}); err != nil {
		return nil, fmt.Errorf("defragment %s: %w", x.Target.Name, err)
	}
	out := remediate.Outcome{"noted": "yes"}
	switch err := a.noteDefragmented(ctx, c); {
	case errors.Is(rpctypes.Error(err), rpctypes.ErrNoSpace):
		out["noted"] = "no, for want of space"
	case err != nil:
		out["noted"] = "no: " + err.Error()
	}
	return out, nil
}

// noteDefragmented leaves word in etcd, for --min-interval of later runs.
func (a *Actuator) noteDefragmented(ctx context.Context, c *conn) error {
	ctx, cancel := context.WithTimeout(ctx, brief)
	defer cancel()
	id := c.status.Header.MemberId
	prefix, key := etcd.DefragmentedPrefix(id), etcd.DefragmentedKey(id, time.Now())
	kv := pb.NewKVClient(c)
	if _, err := kv.Put(ctx, &pb.PutRequest{Key: []byte(key)}); err != nil {
		return err
	}
	// Those before it are in the way; a run that ends here leaves one more.
	_, err := kv.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte(prefix), RangeEnd: []byte(key)})
	return err
}

// compact compacts, once for all members. Each is then asked for the same
// again: it refuses, since it has done so, but not before the pages are free,
// so that none is defragmented while it still deletes.
func (a *Actuator) compact(ctx context.Context, x remediate.Action) (remediate.Outcome, error) {
	rev, err := strconv.ParseInt(x.Args[remediate.ArgRevision], 10, 64)
	if err != nil || rev <= 0 {
		return nil, notDone("%q is no revision", x.Args[remediate.ArgRevision])
	}
	out := remediate.Outcome{"compacted": "yes"}
	for i, m := range a.present() {
		c, err := a.member(ctx, m.Name)
		switch {
		case err != nil && i == 0:
			return nil, &remediate.NotDone{Err: err}
		case err != nil:
			return out, err
		}
		_, err = pb.NewKVClient(c).Compact(ctx, &pb.CompactionRequest{Revision: rev, Physical: true})
		c.Close()
		switch {
		case errors.Is(rpctypes.Error(err), rpctypes.ErrCompacted):
			if i == 0 {
				out["compacted"] = "it was already"
			}
		case err != nil:
			return out, fmt.Errorf("compact to %d by %s: %w", rev, m.Name, err)
		}
	}
	return out, nil
}

// present lists the members that answered when the plan was made, the leader first.
func (a *Actuator) present() []remediate.MemberState {
	var out []remediate.MemberState
	for _, lead := range []bool{true, false} {
		for _, m := range a.config.State.Members {
			down := false
			for _, d := range a.config.State.Down {
				down = down || d == m.Name
			}
			if !down && (m.Name == a.config.State.Leader) == lead {
				out = append(out, m)
			}
		}
	}
	return out
}

// handover is how long a leader may take to hand over; etcd gives it an
// election timeout, which is 50 s at most.
const handover = time.Minute

func (a *Actuator) moveLeader(ctx context.Context, x remediate.Action) (remediate.Outcome, error) {
	to, ok := a.config.State.Member(x.Args[remediate.ArgTo])
	if !ok {
		return nil, notDone("%s is no member of the plan", x.Args[remediate.ArgTo])
	}
	id, err := strconv.ParseUint(to.ID, 16, 64)
	if err != nil {
		return nil, notDone("%q is no member's ID", to.ID)
	}
	c, err := a.member(ctx, x.Target.Name)
	if err != nil {
		return nil, &remediate.NotDone{Err: err}
	}
	defer c.Close()
	if c.status.Leader != c.status.Header.MemberId {
		return nil, notDone("%s does not lead any more: leadership was not moved", x.Target.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, handover)
	defer cancel()
	if _, err := pb.NewMaintenanceClient(c).MoveLeader(ctx, &pb.MoveLeaderRequest{TargetID: id}); err != nil {
		return nil, fmt.Errorf("let %s lead: %w", to.Name, err)
	}
	return nil, nil
}

// disarm takes back one alarm of one member. etcd's own client, given a zero
// for either, takes back all of them, CORRUPT too.
func (a *Actuator) disarm(ctx context.Context, x remediate.Action) (remediate.Outcome, error) {
	if x.Args[remediate.ArgAlarm] != etcd.NoSpace {
		return nil, notDone("%s is not an alarm that ktriage takes back", x.Args[remediate.ArgAlarm])
	}
	id, err := strconv.ParseUint(x.Args[remediate.ArgMemberID], 16, 64)
	if err != nil || id == 0 {
		return nil, notDone("%q is no member's ID", x.Args[remediate.ArgMemberID])
	}
	c, err := a.any(ctx)
	if err != nil {
		return nil, &remediate.NotDone{Err: err}
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, brief)
	defer cancel()
	m := pb.NewMaintenanceClient(c)
	list, err := m.Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_GET})
	if err != nil {
		return nil, notDone("list alarms: %w", err)
	}
	raised := false
	for _, al := range list.Alarms {
		if al.Alarm != pb.AlarmType_NOSPACE {
			return nil, notDone("%s is raised by %x: nothing was taken back", al.Alarm, al.MemberID)
		}
		raised = raised || al.MemberID == id
	}
	if !raised {
		return remediate.Outcome{remediate.OutDisarmed: "it was not raised"}, nil
	}
	if _, err := m.Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, MemberID: id, Alarm: pb.AlarmType_NOSPACE}); err != nil {
		return nil, fmt.Errorf("take back NOSPACE of %x: %w", id, err)
	}
	return remediate.Outcome{remediate.OutDisarmed: remediate.Yes}, nil
}

// any connects to the first member that answers.
func (a *Actuator) any(ctx context.Context) (*conn, error) {
	var errs []error
	for _, m := range a.present() {
		c, err := a.member(ctx, m.Name)
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

const probeKey = etcd.UpkeepPrefix + "probe"

// verifyWrite writes a key through each member, reads it back from another, and
// deletes it.
func (a *Actuator) verifyWrite(ctx context.Context) (remediate.Outcome, error) {
	var kvs []pb.KVClient
	var names []string
	for _, m := range a.present() {
		c, err := a.member(ctx, m.Name)
		if err != nil {
			return nil, &remediate.NotDone{Err: err}
		}
		defer c.Close()
		kvs, names = append(kvs, pb.NewKVClient(c)), append(names, m.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(kvs)+1)*brief)
	defer cancel()
	for i, kv := range kvs {
		value := strconv.FormatInt(time.Now().UnixNano(), 36)
		if _, err := kv.Put(ctx, &pb.PutRequest{Key: []byte(probeKey), Value: []byte(value)}); err != nil {
			return nil, fmt.Errorf("write through %s: %w", names[i], err)
		}
		j := (i + 1) % len(kvs)
		got, err := kvs[j].Range(ctx, &pb.RangeRequest{Key: []byte(probeKey)})
		if err != nil {
			return nil, fmt.Errorf("read back from %s: %w", names[j], err)
		}
		if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != value {
			return nil, fmt.Errorf("%s does not hold what was written through %s", names[j], names[i])
		}
	}
	if _, err := kvs[0].DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte(probeKey)}); err != nil {
		return nil, fmt.Errorf("delete the key %s: %w", probeKey, err)
	}
	return remediate.Outcome{"through": strings.Join(names, ", ")}, nil
}
