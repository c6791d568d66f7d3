package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ktriage/ktriage/lab/build"
	"github.com/ktriage/ktriage/lab/supervise"
	"k8s.io/client-go/kubernetes"
)

// Lab is a handle on a lab that runs, from any process: what faults and tests
// work with.
type Lab struct {
	Options    Options
	Binaries   build.Binaries
	Supervisor *supervise.Client
}

// Open returns the lab in dir, running or not.
func Open(dir string) (*Lab, error) {
	opts, err := loadOptions(dir)
	if err != nil {
		return nil, err
	}
	cache, err := build.CacheDir()
	if err != nil {
		return nil, err
	}
	return &Lab{
		Options:    opts,
		Binaries:   build.Paths(cache, opts.Versions()),
		Supervisor: supervise.NewClient(opts.socket()),
	}, nil
}

// Client is a client of the first API server, with all rights and never throttled.
func (l *Lab) Client() (kubernetes.Interface, error) {
	config, err := restConfig(filepath.Join(l.Options.etcKubernetes(0), "super-admin.conf"))
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// Health returns nil if all of the lab is as it should be, else what is not.
func (l *Lab) Health(ctx context.Context) error {
	status, err := l.Supervisor.Status(ctx)
	if err != nil {
		return err
	}
	client, err := l.Client()
	if err != nil {
		return err
	}
	return health(ctx, l.Options, client, status.Procs)
}

// healthTimeout is enough for nodes to come back and leases to be taken over
// after the worst fault.
const healthTimeout = 3 * time.Minute

// WaitHealthy waits until Health has nothing to say.
func (l *Lab) WaitHealthy(ctx context.Context) error {
	return Until(ctx, healthTimeout, "a healthy cluster", l.Health)
}

// Kill takes components down with SIGKILL and keeps them down.
func (l *Lab) Kill(ctx context.Context, components ...Component) error {
	for _, c := range components {
		if err := l.Supervisor.Hold(ctx, c.Name(), syscall.SIGKILL); err != nil {
			return fmt.Errorf("kill %s: %w", c.Name(), err)
		}
	}
	return nil
}

// Revive starts components that Kill took down.
func (l *Lab) Revive(ctx context.Context, components ...Component) error {
	for _, c := range components {
		if err := l.Supervisor.Release(ctx, c.Name()); err != nil {
			return fmt.Errorf("revive %s: %w", c.Name(), err)
		}
	}
	return nil
}

// Read fetches a URL from a control-plane node, in its network.
func (l *Lab) Read(ctx context.Context, node int, url string) ([]byte, error) {
	return read(ctx, nodeClient(l.Options.Netns(node), dialTimeout), url)
}
