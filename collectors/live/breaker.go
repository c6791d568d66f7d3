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

// A service is one kind of answers of a server. One kind may hang while another
// comes: an API server without a store still tells its version and metrics.
type service string

const (
	itself  service = "itself"    // what it answers out of its own memory
	itStore service = "its store" // what it has to read first
)

// storeSilencesToOpen is silencesToOpen for a store. If that many reads of it
// hang, so does the next.
const storeSilencesToOpen = 4

// A breaker remembers which addresses are dead, so that not each of the
// requests to one burns its timeout.
type breaker struct {
	mu   sync.Mutex
	down map[string]*outage
	up   map[string]bool // what answered, and has not been silent since
	now  func() time.Time
}

type outage struct {
	dials    int
	silences map[service]int
	last     failure
	tried    time.Time
}

func newBreaker() *breaker {
	return &breaker{down: map[string]*outage{}, up: map[string]bool{}, now: time.Now}
}

// isUp reports whether the last that was heard of the address is an answer.
func (b *breaker) isUp(addr string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up[addr]
}

// isDead reports whether a service is taken for dead.
func (o *outage) isDead(of service) bool {
	return o != nil && (o.dials >= dialsToOpen || o.silences[itself] >= silencesToOpen || of == itStore && o.silences[itStore] >= storeSilencesToOpen)
}

// hangs is open, but nothing is let through.
func (b *breaker) hangs(addr string, of service) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.down[addr].isDead(of)
}

// isDead reports whether the address is taken for dead and need not be tried,
// and why.
func (b *breaker) isDead(addr string, of service) (failure, bool) { return b.ask(addr, of, false) }

// refuses is isDead, but lets one through when the time has come. The others wait
// for what that one finds.
func (b *breaker) refuses(addr string, of service) (failure, bool) { return b.ask(addr, of, true) }

func (b *breaker) ask(addr string, of service, try bool) (failure, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.down[addr]
	if !o.isDead(of) {
		return failure{}, false
	}
	if b.now().Sub(o.tried) >= cooldown {
		if try {
			o.tried = b.now()
		}
		return failure{}, false
	}
	f := o.last
	f.note = fmt.Sprintf("not tried again after %d failures in a row", o.dials+o.silences[itself]+o.silences[itStore])
	return f, true
}

// answers remembers that the address answered. A store that does is behind a
// server that does.
func (b *breaker) answers(addr string, of service) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.up[addr] = true
	o := b.down[addr]
	if o == nil {
		return
	}
	o.dials, o.silences[itself] = 0, 0
	if of == itStore || o.silences[itStore] == 0 {
		delete(b.down, addr)
	}
}

// fails remembers how an attempt at the address failed.
func (b *breaker) fails(addr string, of service, f failure) {
	switch f.how {
	case ourselves:
		return
	case answered:
		b.answers(addr, of)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.down[addr]
	if o == nil {
		o = &outage{silences: map[service]int{}}
		b.down[addr] = o
	}
	if f.how == notReached {
		o.dials++
	} else {
		o.silences[of]++
	}
	if of == itself || f.how == notReached {
		delete(b.up, addr)
	}
	o.last, o.tried = f, b.now()
}
