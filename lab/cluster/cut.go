package cluster

import (
	"context"
	"net"

	"github.com/ktriage/ktriage/lab/netns"
)

// Unplug takes a control-plane node off the network.
func (l *Lab) Unplug(ctx context.Context, node int) error {
	return l.Options.Network().Plug(ctx, node, false)
}

// Plug undoes Unplug.
func (l *Lab) Plug(ctx context.Context, node int) error {
	return l.Options.Network().Plug(ctx, node, true)
}

// Part breaks the way between a control-plane node and others. Everybody else
// reaches all of them.
func (l *Lab) Part(ctx context.Context, node int, from ...int) error {
	return l.routes(ctx, netns.Hide, node, from)
}

// Join undoes Part.
func (l *Lab) Join(ctx context.Context, node int, from ...int) error {
	return l.routes(ctx, netns.Show, node, from)
}

func (l *Lab) routes(ctx context.Context, do func(context.Context, string, net.IP) error, node int, others []int) error {
	for _, other := range others {
		for a, b := range map[int]int{node: other, other: node} {
			if err := do(ctx, l.Options.Netns(a), net.ParseIP(l.Options.NodeIP(b))); err != nil {
				return err
			}
		}
	}
	return nil
}
