package live

import (
	"fmt"
	"sync"
	"time"

	"github.com/ktriage/ktriage/collectors"
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
	gap             *collectors.Gap // what the last attempt found
	tried           time.Time
}

func newBreaker() *breaker { return &breaker{down: map[string]*outage{}, now: time.Now} }

// open returns a gap if the address is taken for dead and need not be tried.
func (b *breaker) open(addr string) *collectors.Gap {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.down[addr]
	if o == nil || o.dials < dialsToOpen && o.silences < silencesToOpen {
		return nil
	}
	if b.now().Sub(o.tried) >= cooldown {
		o.tried = b.now() // the others wait for what this one finds
		return nil
	}
	return &collectors.Gap{
		Reason: o.gap.Reason,
		Detail: fmt.Sprintf("not tried again after %d such failures in a row: %s", o.dials+o.silences, o.gap.Detail),
		Remedy: o.gap.Remedy,
	}
}

// note remembers how an attempt at the address went.
func (b *breaker) note(addr string, how reach, gap *collectors.Gap) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch how {
	case ourselves:
		return
	case answered:
		delete(b.down, addr)
		return
	}
	o := b.down[addr]
	if o == nil {
		o = &outage{}
		b.down[addr] = o
	}
	if how == notReached {
		o.dials++
	} else {
		o.silences++
	}
	o.gap, o.tried = gap, b.now()
}
