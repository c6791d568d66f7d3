package cluster

import (
	"context"
	"fmt"
	"log"
	"net"
	"sync"
	"time"
)

// Relay passes connections on to another address, and takes its time: a long
// way between two machines. The kernel's own means for that (netem) is missing
// from many.
type Relay struct {
	Listen, Target string
	// Delay is that of each direction.
	Delay time.Duration
}

func (r *Relay) run(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", r.Listen)
	if err != nil {
		return err
	}
	go func() {
		<-ctx.Done()
		listener.Close()
	}()
	log.Printf("relay from %s to %s", r.Listen, r.Target)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go r.pass(ctx, conn)
	}
}

func (r *Relay) pass(ctx context.Context, in net.Conn) {
	defer in.Close()
	out, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", r.Target)
	if err != nil {
		return
	}
	defer out.Close()
	var wg sync.WaitGroup
	wg.Go(func() { r.copy(out, in) })
	wg.Go(func() { r.copy(in, out) })
	wg.Wait()
}

// parcel is what was read at once, and when it is due.
type parcel struct {
	bytes []byte
	due   time.Time
}

// parcels may be under way in one direction; the reader waits for a place.
const parcels = 1024

func (r *Relay) copy(to, from net.Conn) {
	way := make(chan parcel, parcels)
	go func() {
		defer close(way)
		for {
			buffer := make([]byte, 32<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				way <- parcel{buffer[:n], time.Now().Add(r.Delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range way {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.bytes); err != nil {
			break
		}
	}
	// Either end's end is the connection's.
	to.Close()
	from.Close()
	for range way {
	}
}

// etcdRelayPort is where a member's peers find its relay, if there are any.
const etcdRelayPort = 2390

// relay is the one before an etcd member's peer port.
func (o Options) relay(i int, delay time.Duration) Helper {
	return Helper{Relay: &Relay{
		Listen: fmt.Sprintf("%s:%d", o.NodeIP(i), etcdRelayPort),
		Target: fmt.Sprintf("%s:%d", o.NodeIP(i), etcdPeerPort),
		Delay:  delay,
	}}
}

func (o Options) relayName(i int) string { return "relay-" + o.NodeName(i) }

// DelayPeers makes what is sent between etcd members take that long in each
// direction; 0 is as fast as can be. It needs a lab with PeerRelays.
func (l *Lab) DelayPeers(ctx context.Context, delay time.Duration) error {
	for _, c := range l.Options.Components(Etcd) {
		if err := l.StartHelper(ctx, l.Options.relayName(c.Node), c.Node, l.Options.relay(c.Node, delay)); err != nil {
			return fmt.Errorf("delay the peers of %s: %w", c.Name(), err)
		}
	}
	return nil
}
