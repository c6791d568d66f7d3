package netns

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
)

// Network is a bridge with namespaces hanging on it.
type Network struct {
	// Bridge is the name of the bridge, and the prefix of all other names. At
	// most 10 letters: interface names end at 15.
	Bridge string
	// Gateway is the address of this machine's side.
	Gateway *net.IPNet
	Spaces  []Space
}

// Space is the network of one node, or of several that share one.
type Space struct {
	Name  string
	Addrs []net.IP
}

// Veth is the bridge's end of the cable into the n-th space: where faults
// delay or drop packets.
func (n Network) Veth(i int) string { return fmt.Sprintf("%sv%d", n.Bridge, i) }

// Up makes the network. It must not be there yet.
func (n Network) Up(ctx context.Context) error {
	ones, _ := n.Gateway.Mask.Size()
	var batch strings.Builder
	fmt.Fprintf(&batch, "link add name %s type bridge\n", n.Bridge)
	fmt.Fprintf(&batch, "addr add %s dev %s\n", n.Gateway, n.Bridge)
	fmt.Fprintf(&batch, "link set %s up\n", n.Bridge)
	for i, space := range n.Spaces {
		fmt.Fprintf(&batch, "netns add %s\n", space.Name)
		fmt.Fprintf(&batch, "link add %s type veth peer name eth0 netns %s\n", n.Veth(i), space.Name)
		fmt.Fprintf(&batch, "link set %s master %s up\n", n.Veth(i), n.Bridge)
	}
	if err := ip(ctx, batch.String()); err != nil {
		return err
	}
	for _, space := range n.Spaces {
		batch.Reset()
		fmt.Fprintf(&batch, "link set lo up\n")
		for _, addr := range space.Addrs {
			fmt.Fprintf(&batch, "addr add %s/%d dev eth0\n", addr, ones)
		}
		fmt.Fprintf(&batch, "link set eth0 up\n")
		if err := ip(ctx, batch.String(), "-n", space.Name); err != nil {
			return err
		}
	}
	return nil
}

// Down removes the network, or what is left of one.
func (n Network) Down(ctx context.Context) error {
	var batch strings.Builder
	for i, space := range n.Spaces {
		// The cable goes by name: a namespace lives on, nameless, as long as a
		// process in it does.
		if exists(n.Veth(i)) {
			fmt.Fprintf(&batch, "link del %s\n", n.Veth(i))
		}
		if named(space.Name) {
			fmt.Fprintf(&batch, "netns del %s\n", space.Name)
		}
	}
	if exists(n.Bridge) {
		fmt.Fprintf(&batch, "link del %s\n", n.Bridge)
	}
	return ip(ctx, batch.String(), "-force")
}

// InUse says whether a bridge of this name exists.
func (n Network) InUse() bool { return exists(n.Bridge) }

func exists(link string) bool {
	_, err := net.InterfaceByName(link)
	return err == nil
}

func ip(ctx context.Context, batch string, flags ...string) error {
	if batch == "" {
		return nil
	}
	cmd := exec.CommandContext(ctx, "ip", append(flags, "-batch", "-")...)
	cmd.Stdin = strings.NewReader(batch)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(flags, " "), err, strings.TrimSpace(out.String()))
	}
	return nil
}
