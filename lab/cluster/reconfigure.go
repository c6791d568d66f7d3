package cluster

import (
	"context"
	"fmt"
	"maps"
)

// Reconfigure starts a component again with these flags set besides, or in the
// place of, its own; with none, as it was at first. A component that is down is
// up afterwards.
func (l *Lab) Reconfigure(ctx context.Context, c Component, flags map[string]string) error {
	own := c.opts.ExtraArgs[string(c.Kind)]
	extra := maps.Clone(own)
	if extra == nil {
		extra = map[string]string{}
	}
	maps.Copy(extra, flags)
	c.opts.ExtraArgs = maps.Clone(c.opts.ExtraArgs)
	if c.opts.ExtraArgs == nil {
		c.opts.ExtraArgs = map[string]map[string]string{}
	}
	c.opts.ExtraArgs[string(c.Kind)] = extra
	if err := l.Supervisor.Start(ctx, c.Spec(l.Binaries)); err != nil {
		return fmt.Errorf("restart %s: %w", c.Name(), err)
	}
	return nil
}

// Probe asks a component what a kubelet asks: nil if it is ready.
func (l *Lab) Probe(ctx context.Context, c Component) error {
	return get(ctx, nodeClient(l.Options.Netns(c.Node), dialTimeout), c.probe())
}

// WaitReady waits until components pass their probes.
func (l *Lab) WaitReady(ctx context.Context, components ...Component) error {
	for _, c := range components {
		err := Until(ctx, bootTimeout, c.Name(), func(ctx context.Context) error { return l.Probe(ctx, c) })
		if err != nil {
			return err
		}
	}
	return nil
}
