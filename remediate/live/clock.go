package live

import (
	"context"
	"time"
)

// Clock is the clock of this machine.
type Clock struct{}

// Now returns the time.
func (Clock) Now() time.Time { return time.Now() }

// Sleep waits, unless ctx ends.
func (Clock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
