package netns

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
)

// AddAddr gives a namespace's loopback interface one more address. One that it
// has already is no error.
func AddAddr(ctx context.Context, space string, addr net.IP) error {
	return ip(ctx, fmt.Sprintf("addr replace %s/32 dev lo\n", addr), "-n", space)
}

// RemoveAddr takes an address away again, if it is there.
func RemoveAddr(ctx context.Context, space string, addr net.IP) error {
	out, err := exec.CommandContext(ctx, "ip", "-n", space, "-o", "addr", "show", "dev", "lo").Output()
	if err != nil {
		return fmt.Errorf("list addresses of %s: %w", space, err)
	}
	if !strings.Contains(string(out), " "+addr.String()+"/32 ") {
		return nil
	}
	return ip(ctx, fmt.Sprintf("addr del %s/32 dev lo\n", addr), "-n", space)
}
