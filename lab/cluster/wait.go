package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pollPeriod is how often a condition is looked at.
const pollPeriod = 250 * time.Millisecond

// Until calls check until it returns nil. When the time is up, its last error
// says what was still missing.
func Until(ctx context.Context, timeout time.Duration, what string, check func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		var final *permanentError
		if errors.As(err, &final) {
			return final.error
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait %s for %s: %w", timeout, what, last)
		case <-time.After(pollPeriod):
		}
	}
}

// permanent marks an error that no waiting mends: Until returns it at once.
func permanent(err error) error { return &permanentError{err} }

type permanentError struct{ error }
