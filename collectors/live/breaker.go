package live

import (
	"fmt"
	"sync"
	"time"
)

// A reach says how far an attempt got.
type reach int

const (
	answered   reach = iota // something came back, be it an error
	notReached              // no connection
	silent                  // connected, but nothing came back in time
	ourselves               // it was given up, or never sent, for a reason of our own
)

// An address is taken for dead after dialsToOpen attempts in a row that found
// no connection. One that accepts connections and says nothing gets more:
// a single slow request may have been too much for it, as many as are in
// flight at a time may not.
const (
	dialsToOpen    = 2
	silencesToOpen = defaultMaxInFlight
)

// cooldown is after how long a dead address is tried again, by one request. It
// lets the second look of a run find an address that came back.
const cooldown = 5 * time.Second

// A breaker remembers which addresses are dead, so that not each of the
// requests to one burns its timeout.
type breaker struct {
	mu   sync.Mutex
	down map[string]*outage
	now  func() time.Time
}

type outage struct {
	dials, silences int
	last            failure
	tried           time.Time
}

func newBreaker() *breaker { return &breaker{down: map[string]*outage{}, now: time.Now} }

// open reports whether the address is taken for dead and need not be tried,
// and why.
func (b *breaker) open(addr string) (failure, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.down[addr]
	if o == nil || o.dials < dialsToOpen && o.silences < silencesToOpen {
		return failure{}, false
	}
	if b.now().Sub(o.tried) >= cooldown {
		o.tried = b.now() // the others wait for what this one finds
		return failure{}, false
	}
	f := o.last
	f.words = fmt.Sprintf("%s (not tried again after %d failures in a row)", f.words, o.dials+o.silences)
	return f, true
}

// answers remembers that the address answered.
func (b *breaker) answers(addr string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.down, addr)
}

// fails remembers how an attempt at the address failed.
func (b *breaker) fails(addr string, f failure) {
	switch f.how {
	case ourselves:
		return
	case answered:
		b.answers(addr)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.down[addr]
	if o == nil {
		o = &outage{}
		b.down[addr] = o
	}
	if f.how == notReached {
		o.dials++
	} else {
		o.silences++
	}
	o.last, o.tried = f, b.now()
}
