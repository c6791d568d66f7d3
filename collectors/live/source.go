package live

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/ktriage/ktriage/collectors"
)

// A Source asks a live cluster. It is safe for use by several goroutines.
type Source struct {
	config     Config
	limit      *limiter
	breaker    *breaker
	looks      *looks
	transports *transports
	tunnels    *tunnels
	etcd       *members
	kube       func() (*kube, *collectors.Gap) // reads the kubeconfig once
}

// New makes a Source. It reads no file and dials nobody: the first request
// that needs to does.
func New(c Config) (*Source, error) {
	c = c.withDefaults()
	s := &Source{
		config:     c,
		limit:      newLimiter(c.MaxInFlight, c.QPS, c.Burst),
		breaker:    newBreaker(),
		looks:      newLooks(),
		transports: newTransports(),
		tunnels:    newTunnels(c.MaxInFlight),
		etcd:       newMembers(),
	}
	s.kube = sync.OnceValues(s.openKube)
	return s, nil
}

// Cost tells what the Source has asked so far.
func (s *Source) Cost() collectors.Cost { return s.limit.cost() }

// Close ends the connections that are kept for later requests.
func (s *Source) Close() error {
	s.tunnels.close()
	s.etcd.close()
	s.transports.close()
	return nil
}

// Fetch answers a request as collectors.Source says. A Last request waits for
// its window first, and takes no part of any bound while it does.
func (s *Source) Fetch(ctx context.Context, r collectors.Request) (*collectors.Reply, error) {
	s.looks.begin(r)
	if err := s.looks.wait(ctx, r); err != nil {
		return nil, stopped(ctx, stageStart).gap(r.URL)
	}
	began := time.Now()
	reply, way, gap := inTurn(ctx, s.openFirst(s.looks.ways(r)), s.config.patience(r.Urgency), s.config.impatience(), func(way string, within time.Duration) (*collectors.Reply, *collectors.Gap) {
		return s.ask(ctx, attempt{r, way, within, s.config.connectWithin(within)})
	})
	if gap != nil {
		s.looks.failed(r, began)
		return nil, gap
	}
	s.looks.answered(r, reply.At, way)
	return reply, nil
}

// An attempt is a request by one of its ways.
type attempt struct {
	collectors.Request
	way    string        // the URL that is asked
	within time.Duration // how long it may take until an answer begins

	connect time.Duration // how much of that a connection may take
}

// ask asks one way.
func (s *Source) ask(ctx context.Context, a attempt) (*collectors.Reply, *collectors.Gap) {
	if ctx.Err() != nil {
		return nil, stopped(ctx, stageStart).gap(a.way)
	}
	u, err := url.Parse(a.way)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%q is not a URL", a.way)
	}
	switch a.Verb {
	case collectors.Greet:
		return s.greet(ctx, a, u)
	case collectors.Review:
		return s.review(ctx, a, u)
	}
	switch u.Scheme {
	case "kube":
		return s.askKube(ctx, a, u)
	case "apiserver":
		return s.askAPIServer(ctx, a, u)
	case "pod+http", "pod+https":
		return s.askPod(ctx, a, u)
	case "etcd":
		return s.askEtcd(ctx, a, u)
	case "http":
		return s.askPlain(ctx, a, u)
	case "config":
		return s.askGiven(a.way, u)
	}
	return nil, collectors.Gapf(collectors.NotAsked, "%s: a live cluster cannot be asked this way", a.way)
}
