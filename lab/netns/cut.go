package netns

import (
	"context"
	"fmt"
	"net"
)

// Plug sets whether the cable of the n-th space is in.
func (n Network) Plug(ctx context.Context, i int, in bool) error {
	state := "down"
	if in {
		state = "up"
	}
	return ip(ctx, fmt.Sprintf("link set %s %s\n", n.Veth(i), state))
}

// Hide makes an address unreachable from a space, as a broken switch between
// the two would: what is sent there is lost.
func Hide(ctx context.Context, space string, addr net.IP) error {
	return ip(ctx, fmt.Sprintf("route replace blackhole %s/32\n", addr), "-n", space)
}

// Show undoes Hide, if it is in effect.
func Show(ctx context.Context, space string, addr net.IP) error {
	return ip(ctx, fmt.Sprintf("route flush %s/32 type blackhole\n", addr), "-n", space)
}
