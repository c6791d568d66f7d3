package live

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/ktriage/ktriage/collectors"
)

// kubeletReports stands before what a kubelet says of a port that it cannot
// connect to.
const kubeletReports = "the kubelet reports: "

// openStreams opens the two streams that make one connection to a port.
func openStreams(c httpstream.Connection, number int, port string, l *limiter) (net.Conn, error) {
	h := http.Header{}
	h.Set(corev1.StreamType, corev1.StreamTypeError)
	h.Set(corev1.PortHeader, port)
	h.Set(corev1.PortForwardRequestIDHeader, strconv.Itoa(number))
	errs, err := c.CreateStream(h)
	if err != nil {
		return nil, fmt.Errorf("open the error stream: %w", err)
	}
	errs.Close() // we write nothing to it
	h.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := c.CreateStream(h)
	if err != nil {
		c.RemoveStreams(errs)
		return nil, fmt.Errorf("open the data stream: %w", err)
	}
	f := &forwarded{conn: c, data: data, errs: errs, port: port, limit: l, ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		b, _ := io.ReadAll(io.LimitReader(errs, maxMessage)) // a broken stream has no message
		f.message = quote(string(b))
	}()
	return f, nil
}

// forwarded is one connection through a tunnel.
type forwarded struct {
	conn       httpstream.Connection
	data, errs httpstream.Stream
	port       string
	limit      *limiter
	closing    sync.Once
	ended      chan struct{} // closed when message is known
	message    string        // what the kubelet says went wrong
}

func (f *forwarded) Read(p []byte) (int, error) {
	n, err := f.data.Read(p)
	f.limit.bytes.Add(int64(n))
	if err != nil {
		err = f.why(err)
	}
	return n, err
}

func (f *forwarded) Write(p []byte) (int, error) {
	n, err := f.data.Write(p)
	if err != nil {
		err = f.why(err)
	}
	return n, err
}

// why prefers what the kubelet says over how the stream ended. The kubelet
// writes its message at about the time when it ends the data.
func (f *forwarded) why(err error) error {
	select {
	case <-f.ended:
	case <-time.After(time.Second):
		return err
	}
	if f.message == "" {
		return err
	}
	return &forwardError{failure{reason: collectors.Unreachable, words: kubeletReports + f.message, how: notReached}}
}

func (f *forwarded) Close() error {
	f.closing.Do(func() {
		f.data.Reset()
		f.errs.Reset()
		f.conn.RemoveStreams(f.data, f.errs)
	})
	return nil
}

func (f *forwarded) LocalAddr() net.Addr              { return forwardAddr("ktriage") }
func (f *forwarded) RemoteAddr() net.Addr             { return forwardAddr("port " + f.port) }
func (f *forwarded) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (f *forwarded) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (f *forwarded) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

type forwardAddr string

func (forwardAddr) Network() string  { return "port-forward" }
func (a forwardAddr) String() string { return string(a) }
