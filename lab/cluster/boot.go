package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ktriage/ktriage/lab/build"
	"github.com/ktriage/ktriage/lab/supervise"
	"k8s.io/client-go/kubernetes"
)

// bootTimeout bounds each step of a boot. All of them together take about 20 s
// on two idle cores.
const bootTimeout = 2 * time.Minute

// boot brings a lab up inside its supervisor, in an order in which each step's
// needs are met.
type boot struct {
	opts   Options
	bins   build.Binaries
	procs  *supervise.Manager
	client kubernetes.Interface
	phase  func(string)
}

func (b *boot) run(ctx context.Context) error {
	for _, step := range []struct {
		phase string
		do    func(context.Context) error
	}{
		{"making the nodes' network", b.network},
		{"making etcd's disks", func(context.Context) error { return b.opts.mountDisks() }},
		{"making certificates", func(context.Context) error { return b.opts.writePKI() }},
		{"starting etcd", b.etcd},
		{"starting the API server", b.apiServer},
		{"granting rights", b.grant},
		{"starting controllers, schedulers and kubelets", b.controllers},
		{"deploying the workload", b.workload},
		{"waiting for health", b.healthy},
	} {
		b.phase(step.phase)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.phase, err)
		}
	}
	return nil
}

func (b *boot) network(ctx context.Context) error { return b.opts.Network().Up(ctx) }

func (b *boot) start(kinds ...Kind) error {
	for _, c := range b.opts.Components(kinds...) {
		if err := b.procs.Start(c.Spec(b.bins)); err != nil {
			return err
		}
	}
	return nil
}

func (b *boot) etcd(ctx context.Context) error {
	if b.opts.PeerRelays {
		for _, c := range b.opts.Components(Etcd) {
			spec, err := b.opts.helper(b.opts.relayName(c.Node), c.Node, b.opts.relay(c.Node, 0))
			if err != nil {
				return err
			}
			if err := b.procs.Start(spec); err != nil {
				return err
			}
		}
	}
	if err := b.start(Etcd); err != nil {
		return err
	}
	for _, c := range b.opts.Components(Etcd) {
		client := nodeClient(b.opts.Netns(c.Node), dialTimeout)
		err := Until(ctx, bootTimeout, c.Name(), func(ctx context.Context) error { return get(ctx, client, c.probe()) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *boot) apiServer(ctx context.Context) error {
	if err := b.start(APIServer); err != nil {
		return err
	}
	config, err := restConfig(filepath.Join(b.opts.etcKubernetes(0), "super-admin.conf"))
	if err != nil {
		return err
	}
	if b.client, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("make API client: %w", err)
	}
	for _, c := range b.opts.Components(APIServer) {
		client := nodeClient(b.opts.Netns(c.Node), dialTimeout)
		err := Until(ctx, bootTimeout, c.Name(), func(ctx context.Context) error { return get(ctx, client, c.probe()) })
		if err != nil {
			return err
		}
	}
	return Until(ctx, bootTimeout, "the bootstrap roles", func(ctx context.Context) error { return bootstrapped(ctx, b.client) })
}

func (b *boot) grant(ctx context.Context) error { return b.opts.grant(ctx, b.client) }

func (b *boot) controllers(ctx context.Context) error {
	if err := b.start(ControllerManager, Scheduler); err != nil {
		return err
	}
	if err := b.opts.createNodes(ctx, b.client); err != nil {
		return err
	}
	kubelets, err := b.opts.kubelets(b.bins)
	if err != nil {
		return err
	}
	for _, spec := range kubelets {
		if err := b.procs.Start(spec); err != nil {
			return err
		}
	}
	return b.staticPods(ctx)
}

// staticPods lets each control-plane node's kubelet show its static pods, for as
// long as ctx lasts.
func (b *boot) staticPods(ctx context.Context) error {
	for _, c := range b.opts.Components() {
		config, err := restConfig(filepath.Join(b.opts.etcKubernetes(c.Node), "kubelet.conf"))
		if err != nil {
			return err
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return fmt.Errorf("make API client of the kubelet of %s: %w", c.NodeName(), err)
		}
		go (&kubelet{component: c, procs: b.procs, client: client}).run(ctx)
	}
	return nil
}

func (b *boot) workload(ctx context.Context) error {
	if b.opts.Bare {
		return nil
	}
	return b.opts.createWorkload(ctx, b.client)
}

func (b *boot) healthy(ctx context.Context) error {
	return Until(ctx, bootTimeout, "a healthy cluster", func(ctx context.Context) error {
		return health(ctx, b.opts, b.client, b.procs.States())
	})
}
