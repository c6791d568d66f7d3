package live

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/url"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A weighed key is a key with how much it holds, and not what.
type weighed struct {
	Key     []byte `json:"key"`
	Bytes   int    `json:"bytes"` // of the value
	Create  int64  `json:"create_revision,omitempty"`
	Mod     int64  `json:"mod_revision,omitempty"`
	Version int64  `json:"version,omitempty"`
	Lease   int64  `json:"lease,omitempty"`
	Deleted bool   `json:"deleted,omitempty"`
}

func weigh(kv *mvccpb.KeyValue) weighed {
	return weighed{Key: kv.GetKey(), Bytes: len(kv.GetValue()), Create: kv.GetCreateRevision(), Mod: kv.GetModRevision(), Version: kv.GetVersion(), Lease: kv.GetLease()}
}

// sizesCall reads a page of keys with their values and keeps the values'
// lengths: a value goes no further than this function. How many keys a page
// may have is demanded, since etcd puts the whole page together in memory.
func sizesCall(q url.Values) (rpc, error) {
	limit, err := number(q, "limit")
	if err != nil {
		return nil, err
	}
	if limit <= 0 || limit > maxPage || q.Get("key") == "" || q.Get("end") == "" {
		return nil, fmt.Errorf("sizes are read from key to end, 1 to %d at a time", maxPage)
	}
	req := &pb.RangeRequest{Key: []byte(q.Get("key")), RangeEnd: []byte(q.Get("end")), Limit: limit, Serializable: true, KeysOnly: isTrue(q, "keys_only")}
	return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
		resp, err := pb.NewKVClient(c).Range(ctx, req)
		for status.Code(err) == codes.ResourceExhausted && req.Limit > 1 { // larger than a reply may be
			req.Limit = max(1, req.Limit/8)
			resp, err = pb.NewKVClient(c).Range(ctx, req)
		}
		if err != nil {
			return nil, err
		}
		out := sizesReply{Header: resp.GetHeader(), More: resp.GetMore(), Kvs: make([]weighed, 0, len(resp.GetKvs()))}
		for _, kv := range resp.GetKvs() {
			out.Kvs = append(out.Kvs, weigh(kv))
		}
		return out, nil
	}, nil
}

type sizesReply struct {
	Header *pb.ResponseHeader `json:"header"`
	More   bool               `json:"more,omitempty"`
	Kvs    []weighed          `json:"kvs"`
}

// maxPage is the most keys of a page. The API server asks for as many objects
// of CRDs, and for more of others.
const maxPage = 1000

// maxEvents bounds what is read of the history.
const maxEvents = 50_000

type historyReply struct {
	Header    *pb.ResponseHeader `json:"header"`
	Compacted int64              `json:"compact_revision,omitempty"` // the revisions to this one are gone
	More      bool               `json:"more,omitempty"`             // it was cut
	Events    []weighed          `json:"events"`
}

// historyCall reads what was written from one revision to another, both
// included, out of the history that etcd keeps until it is compacted. It is a
// watch of all keys that ends at the last of these revisions: every revision
// has at least one event.
func historyCall(q url.Values) (rpc, error) {
	from, err := number(q, "from")
	if err != nil {
		return nil, err
	}
	to, err := number(q, "to")
	if err != nil {
		return nil, err
	}
	limit, err := number(q, "limit")
	if err != nil {
		return nil, err
	}
	if from <= 0 || to < from || limit <= 0 || limit > maxEvents {
		return nil, fmt.Errorf("a history is read from one revision to a later one, at most %d events of it", maxEvents)
	}
	return func(ctx context.Context, c *grpc.ClientConn) (any, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w, err := pb.NewWatchClient(c).Watch(ctx)
		if err != nil {
			return nil, err
		}
		create := &pb.WatchCreateRequest{Key: []byte{0}, RangeEnd: []byte{0}, StartRevision: from, Fragment: true}
		if err := w.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}}); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		out := historyReply{Events: []weighed{}}
		for {
			resp, err := w.Recv()
			if err != nil {
				return nil, err
			}
			out.Header = resp.GetHeader()
			if resp.GetCompactRevision() > 0 {
				out.Compacted = resp.GetCompactRevision()
				return out, nil
			}
			if resp.GetCanceled() {
				return nil, status.Error(codes.Unknown, resp.GetCancelReason())
			}
			for _, e := range resp.GetEvents() {
				x := weigh(e.GetKv())
				x.Deleted = e.GetType() == mvccpb.Event_DELETE
				switch {
				case x.Mod > to:
					return out, nil
				case int64(len(out.Events)) == limit:
					out.More = true
					return out, nil
				}
				out.Events = append(out.Events, x)
			}
			if n := len(out.Events); n > 0 && out.Events[n-1].Mod >= to && !resp.GetFragment() {
				return out, nil
			}
		}
	}, nil
}

// EtcdClients tells how this source reaches etcd, for what asks etcd in other
// ways: endpoints as URLs, and what TLS needs where it is used. It is known
// after a run asked for etcd's members.
func (s *Source) EtcdClients() EtcdClients {
	a := s.etcd.current(s.config)
	return EtcdClients{TLS: a.tls.Clone(), Plain: a.isPlain, From: a.credentialsFrom}
}

// EtcdClients is how etcd is reached.
type EtcdClients struct {
	TLS   *tls.Config            // nil if there is none
	Plain func(addr string) bool // whether host:port is spoken to without TLS
	From  string                 // where the client certificate comes from
}
