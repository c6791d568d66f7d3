//go:build !linux

package machine

import (
	"context"
	"errors"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/host"
)

func (s *Source) kernel(context.Context) host.Kernel {
	return host.Kernel{Missed: []host.Missed{{What: "the kernel's log", Reason: collectors.OutOfScope, Detail: "this is no Linux machine"}}}
}

func clock() (*host.Clock, error) { return nil, errors.New("this is no Linux machine") }

func give(int) {}
