package collectors

import (
	"context"
	"errors"
	"fmt"
)

// A Reason says why something is not known.
type Reason string

// The reasons. OutOfScope is the only one that is no defect of the run: there
// is nothing there to know.
const (
	Unreachable  Reason = "unreachable"  // no connection, or it broke
	NoPath       Reason = "no path"      // what leads there failed, which says nothing of the thing itself
	Timeout      Reason = "timeout"      // connected, but no answer in time
	Canceled     Reason = "canceled"     // the run was stopped first
	Unauthorized Reason = "unauthorized" // the credentials were not accepted
	Forbidden    Reason = "forbidden"    // the credentials do not suffice
	ServerError  Reason = "server error" // it answered that it failed
	Absent       Reason = "absent"       // it answered, and what was wanted is not there
	Malformed    Reason = "malformed"    // it answered something that cannot be read
	NotAsked     Reason = "not asked"    // nothing was asked, or the recording does not hold it
	OutOfScope   Reason = "out of scope" // this cluster has no such thing, or hides it from everyone
	Bug          Reason = "bug in ktriage"
)

// A Kind is what is known of a gap beyond its Reason. Most have none.
type Kind string

// The kinds.
const (
	// Hidden is of what is out of scope since somebody keeps it to itself: it
	// is there, and may be in trouble.
	Hidden Kind = "hidden"
	// NoRoute and NoReaction are of what is unreachable and lets who asks it
	// wait, where a process that has ended turns everybody away at once.
	NoRoute    Kind = "no route"
	NoReaction Kind = "no reaction"
)

// A Gap is the absence of an answer. It is an error, and it is data: a
// recording keeps it and a report shows it.
type Gap struct {
	Reason Reason `json:"reason"`
	Detail string `json:"detail"`           // what was tried and what came back
	Remedy string `json:"remedy,omitempty"` // what would mend it: a flag, a role
	Kind   Kind   `json:"kind,omitempty"`
	Note   string `json:"note,omitempty"` // what is to be known of the attempt, and is too much for a headline
}

// Error returns the reason and the detail in one line.
func (g *Gap) Error() string {
	if g.Detail == "" {
		return string(g.Reason)
	}
	return fmt.Sprintf("%s: %s", g.Reason, g.Detail)
}

// NoTurn is the detail of what was canceled though nobody stopped the run: those
// that were asked before it answered too slowly.
const NoTurn = "the window was over before it was its turn: what was asked before it took too long"

// Gapf makes a Gap.
func Gapf(r Reason, format string, a ...any) *Gap {
	return &Gap{Reason: r, Detail: fmt.Sprintf(format, a...)}
}

// With returns a copy of g with the remedy.
func (g *Gap) With(remedy string) *Gap {
	c := *g
	c.Remedy = remedy
	return &c
}

// Of returns a copy of g with the kind.
func (g *Gap) Of(k Kind) *Gap {
	c := *g
	c.Kind = k
	return &c
}

// AsGap classifies an error that a Source or a reader returned. A Gap in its
// chain is kept; contexts' errors are told apart; of the rest, otherwise is
// the reason.
func AsGap(err error, otherwise Reason) *Gap {
	var g *Gap
	switch {
	case err == nil:
		return nil
	case errors.As(err, &g):
		return g
	case errors.Is(err, context.DeadlineExceeded):
		return &Gap{Reason: Timeout, Detail: err.Error()}
	case errors.Is(err, context.Canceled):
		return &Gap{Reason: Canceled, Detail: err.Error()}
	}
	return &Gap{Reason: otherwise, Detail: err.Error()}
}
