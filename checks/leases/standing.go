package leases

import (
	"time"

	"github.com/ktriage/ktriage/collectors/leases"
)

// A standing is what a lease is worth at a time.
type standing int

const (
	undated  standing = iota // it does not say how long it is valid, or was never renewed
	held                     // renewed in time
	silent                   // held, for long yet, but not renewed for longer than a leader waits
	late                     // held, but its holder is about to give up
	released                 // its holder gave it up moments ago
	lapsed                   // it ran out or was released; a candidate may be about to take it
	lost                     // nobody took it in the time that a candidate needs
)

const (
	// lateShare of its duration without a renewal, and the holder gives up: it
	// has a renew deadline of 10 s for a lease of 15 s.
	// Source: k8s.io/component-base, config/v1alpha1/defaults.go.
	lateShare = 2.0 / 3
	// graceShare of its duration is what a candidate needs to take a lease
	// that is free: it tries every 2 s, up to 2.4 s with jitter, for a lease
	// of 15 s. The same holds for a single instance that starts again: it has
	// a new identity and waits for its own old lease to run out.
	// Source: the same, and client-go, tools/leaderelection, JitterFactor.
	graceShare = 1.0 / 3
	// usual is the duration of a lease that was released: its own is set to 1 s.
	usual = 15 * time.Second

	leaseSource = "component-base leader election defaults"
)

func stand(l leases.Lease, at time.Time) standing {
	age := l.Age(at)
	grace := time.Duration(graceShare * float64(l.Duration))
	switch {
	case l.Duration == 0 || l.Renewed.IsZero():
		return undated
	case l.Holder == "" && age <= usual/3:
		return released
	case l.Holder == "" && age <= usual+usual/3:
		return lapsed
	case l.Holder == "":
		return lost
	case age > l.Duration+grace:
		return lost
	case age > l.Duration:
		return lapsed
	case age > time.Duration(lateShare*float64(l.Duration)):
		return late
	case l.Silent(at):
		return silent
	}
	return held
}
