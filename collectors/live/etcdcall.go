package live

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

// An rpc is one call, ready to be made.
type rpc func(context.Context, *grpc.ClientConn) (any, error)

// etcdCall makes the call that a URL's path and query name. Only calls that
// read are known, and none of them gives away the value of a key: values hold
// the cluster's secrets. Where their sizes are wanted, the sizes are all that
// is kept of them. The one exception is etcd.CompactorKey, which holds a revision.
func etcdCall(name string, q url.Values) (rpc, error) {
	switch name {
	case "member/list":
		return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
			return pb.NewClusterClient(c).MemberList(ctx, &pb.MemberListRequest{Linearizable: !isTrue(q, "serializable")})
		}, nil
	case "maintenance/status":
		return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
			return pb.NewMaintenanceClient(c).Status(ctx, &pb.StatusRequest{})
		}, nil
	case "maintenance/alarms":
		return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
			return pb.NewMaintenanceClient(c).Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_GET, Alarm: pb.AlarmType_NONE})
		}, nil
	case "maintenance/hashkv":
		rev, err := number(q, "rev")
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
			return pb.NewMaintenanceClient(c).HashKV(ctx, &pb.HashKVRequest{Revision: rev})
		}, nil
	case "kv/range":
		return rangeCall(q)
	case "kv/sizes":
		return sizesCall(q)
	case "watch/history":
		return historyCall(q)
	}
	return nil, fmt.Errorf("etcd has no call %q that ktriage makes", name)
}

func rangeCall(q url.Values) (rpc, error) {
	limit, err := number(q, "limit")
	if err != nil {
		return nil, err
	}
	req := &pb.RangeRequest{
		Key: []byte(q.Get("key")), Limit: limit, Serializable: isTrue(q, "serializable"),
		CountOnly: isTrue(q, "count_only"),
	}
	if len(req.Key) == 0 && !isTrue(q, "prefix") {
		return nil, fmt.Errorf("a range needs a key")
	}
	if q.Has("end") {
		req.RangeEnd = []byte(q.Get("end"))
	}
	if isTrue(q, "prefix") {
		req.RangeEnd = []byte(clientv3.GetPrefixRangeEnd(q.Get("key")))
		if len(req.Key) == 0 {
			req.Key = []byte{0}
		}
	}
	// The one value that is read is a number of etcd's own.
	req.KeysOnly = len(req.RangeEnd) > 0 || q.Get("key") != etcd.CompactorKey
	return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
		resp, err := pb.NewKVClient(c).Range(ctx, req)
		for _, kv := range resp.GetKvs() {
			if req.KeysOnly {
				kv.Value = nil // a server that does not heed what was asked for changes nothing
			}
		}
		return resp, err
	}, nil
}

func isTrue(q url.Values, name string) bool {
	b, err := strconv.ParseBool(q.Get(name))
	return err == nil && b
}

func number(q url.Values, name string) (int64, error) {
	if !q.Has(name) {
		return 0, nil
	}
	n, err := strconv.ParseInt(q.Get(name), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%s is not a number", name, q.Get(name))
	}
	return n, nil
}

// explainRPC classifies the error of a call on a connection that stands.
func explainRPC(ctx context.Context, err error, l *link, timeout time.Duration) failure {
	if ctx.Err() != nil {
		return stopped(ctx, stageWaiting)
	}
	st := status.Convert(err)
	f := failure{reason: collectors.ServerError, words: st.Message(), how: answered}
	switch st.Code() {
	case codes.DeadlineExceeded:
		return timedOut(stageWaiting, timeout)
	case codes.PermissionDenied:
		f.reason = collectors.Forbidden
	case codes.Unauthenticated:
		f.reason = collectors.Unauthorized
	case codes.Canceled: // the connection was given up by another request
		f.reason, f.how = collectors.Unreachable, silent
	case codes.Unimplemented:
		f.reason, f.words = collectors.Absent, "this etcd has no such call: "+st.Message()
	case codes.Unavailable:
		// etcd itself uses this code, to say that it has no leader. It puts
		// its name before what it says; the transport does not.
		if strings.HasPrefix(st.Message(), "etcdserver: ") {
			return f
		}
		if last := l.last(); last != nil {
			return explain(ctx, last, stageWaiting, timeout)
		}
		f.reason, f.how = collectors.Unreachable, silent
	}
	return f
}
