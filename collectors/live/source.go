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
		tunnels:    newTunnels(),
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
	if err := s.looks.wait(ctx, r); err != nil {
		return nil, stopped(ctx, stageStart).gap(r.URL)
	}
	var gaps []*collectors.Gap
	for _, way := range s.looks.ways(r) {
		reply, gap := s.ask(ctx, r, way)
		if gap == nil {
			s.looks.remember(r, reply.At, way)
			return reply, nil
		}
		gaps = append(gaps, gap)
		if ctx.Err() != nil || !worthAnother(gap) {
			break
		}
	}
	s.looks.remember(r, time.Now(), "")
	return nil, joinGaps(gaps...)
}

// ask asks one way.
func (s *Source) ask(ctx context.Context, r collectors.Request, way string) (*collectors.Reply, *collectors.Gap) {
	if ctx.Err() != nil {
		return nil, stopped(ctx, stageStart).gap(way)
	}
	u, err := url.Parse(way)
	if err != nil {
		return nil, collectors.Gapf(collectors.Bug, "%q is not a URL", way)
	}
	switch u.Scheme {
	case "kube":
		return s.askKube(ctx, r, way, u)
	case "apiserver":
		return s.askAPIServer(ctx, r, way, u)
	case "pod+http", "pod+https":
		return s.askPod(ctx, r, way, u)
	case "etcd":
		return s.askEtcd(ctx, r, way, u)
	case "http":
		return s.askPlain(ctx, r, way, u)
	case "config":
		return s.askGiven(way, u)
	}
	return nil, collectors.Gapf(collectors.NotAsked, "%s: a live cluster cannot be asked this way", way)
}
