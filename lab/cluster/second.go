package cluster

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ktriage/ktriage/lab/supervise"
)

// SchedulerKubeconfig is that of the scheduler of a control-plane node.
func (o Options) SchedulerKubeconfig(node int) string {
	return filepath.Join(o.etcKubernetes(node), "scheduler.conf")
}

// ControllerManagerKubeconfig is that of the controller manager of a node.
func (o Options) ControllerManagerKubeconfig(node int) string {
	return filepath.Join(o.etcKubernetes(node), "controller-manager.conf")
}

// secondSchedulerPort is free on every node.
const secondSchedulerPort = 10359

// StartScheduler runs one more scheduler, with a configuration file of its own.
func (l *Lab) StartScheduler(ctx context.Context, name string, node int, config string) error {
	o := l.Options
	kubeconfig := o.SchedulerKubeconfig(node)
	return l.Supervisor.Start(ctx, supervise.Spec{
		Name:     name,
		Netns:    o.Netns(node),
		Hostname: o.NodeName(node),
		Path:     l.Binaries.Scheduler,
		Args: []string{
			"--config=" + config, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", secondSchedulerPort),
		},
		Log:  o.LogFile(name),
		Keep: true,
	})
}

// Monitor is the service account of the token kubeconfig, and its namespace.
const Monitor = monitor
