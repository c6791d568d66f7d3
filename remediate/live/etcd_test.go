package live

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/remediate"
)

// A busyMember fails whatever takes long with the code that clients try again on.
type busyMember struct {
	pb.UnimplementedMaintenanceServer
	pb.UnimplementedKVServer
	asked    atomic.Int32
	deadline atomic.Bool
	id       uint64
}

func (b *busyMember) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{Header: &pb.ResponseHeader{ClusterId: 7, MemberId: b.id}, Leader: 9}, nil
}

func (b *busyMember) fail(ctx context.Context) error {
	b.asked.Add(1)
	if _, ok := ctx.Deadline(); ok {
		b.deadline.Store(true)
	}
	return status.Error(codes.Unavailable, "etcdserver: not now")
}

func (b *busyMember) Defragment(ctx context.Context, _ *pb.DefragmentRequest) (*pb.DefragmentResponse, error) {
	return nil, b.fail(ctx)
}

func (b *busyMember) Compact(ctx context.Context, _ *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	return nil, b.fail(ctx)
}

func serveMember(t *testing.T, b *busyMember) *Actuator {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	pb.RegisterMaintenanceServer(s, b)
	pb.RegisterKVServer(s, b)
	go s.Serve(l)
	t.Cleanup(s.Stop)
	return New(Config{
		State: remediate.State{ClusterID: "7", Members: []remediate.MemberState{{Name: "cp-1", ID: "1", Client: l.Addr().String()}}},
		TLS:   func(string) (*tls.Config, error) { return nil, nil },
	})
}

// TestWhatTakesLongIsAskedForOnce holds that a client that gives up, or tries
// again, cannot make two of one: no retry, and no deadline.
func TestWhatTakesLongIsAskedForOnce(t *testing.T) {
	for _, x := range []remediate.Action{
		{Kind: remediate.Defragment, Target: collectors.Target{Component: collectors.Etcd, Name: "cp-1"}},
		{Kind: remediate.Compact, Target: collectors.Target{Component: collectors.Etcd}, Args: map[string]string{remediate.ArgRevision: "5"}},
	} {
		b := &busyMember{id: 1}
		_, err := serveMember(t, b).Do(t.Context(), x)
		var not *remediate.NotDone
		if err == nil || errors.As(err, &not) || !strings.Contains(err.Error(), "not now") {
			t.Errorf("%s: got %v, want an error that leaves open whether it was done", x.Kind, err)
		}
		if n := b.asked.Load(); n != 1 || b.deadline.Load() {
			t.Errorf("%s was asked for %d times, with a deadline: %v", x.Kind, n, b.deadline.Load())
		}
		// Another that answers at the address is left alone.
		other := &busyMember{id: 2}
		if _, err := serveMember(t, other).Do(t.Context(), x); err == nil || other.asked.Load() != 0 || !strings.Contains(err.Error(), "answers member 2") {
			t.Errorf("%s by another member: got %v", x.Kind, err)
		}
	}
}

// TestFileKeepsOthersOut holds the lock of those who share a machine.
func TestFileKeepsOthersOut(t *testing.T) {
	dir := t.TempDir()
	var a, b Lock
	if err := a.takeFile(dir, "7", "me"); err != nil {
		t.Fatal(err)
	}
	var held *heldError
	if err := b.takeFile(dir, "7", "you"); !errors.As(err, &held) || held.by != "me" {
		t.Errorf("the second: got %v", err)
	}
	if err := b.takeFile(dir, "8", "you"); err != nil {
		t.Errorf("of another cluster: %v", err)
	}
	b.Release()
	a.Release()
	if err := b.takeFile(dir, "7", "you"); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
	b.Release()
}
