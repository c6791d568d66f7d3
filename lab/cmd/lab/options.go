package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/ktriage/ktriage/lab/build"
	"github.com/ktriage/ktriage/lab/cluster"
	"github.com/ktriage/ktriage/lab/faults"
)

// parseOptions reads what kind of lab up shall start.
func parseOptions(args []string) (cluster.Options, error) {
	var o cluster.Options
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	for name, field := range map[string]*int{
		"control-planes": &o.ControlPlanes, "etcd-members": &o.EtcdMembers, "api-servers": &o.APIServers,
		"controller-managers": &o.ControllerManagers, "schedulers": &o.Schedulers, "workers": &o.Workers,
	} {
		flags.IntVar(field, name, 0, "how many; 0 is the default")
	}
	kubernetesVar(flags, &o.Kubernetes)
	flags.BoolVar(&o.StackedEtcd, "stacked-etcd", false, "let each API server talk to its own node's etcd member only")
	flags.IntVar(&o.OldEtcd, "old-etcd", 0, "how many etcd members, the last ones, run the previous minor version")
	flags.BoolVar(&o.PeerRelays, "peer-relays", false, "let etcd members speak to each other through relays that can be slow")
	flags.BoolVar(&o.Bare, "bare", false, "leave the example workload out")
	flags.BoolVar(&o.RealDisk, "real-disk", false, "keep etcd's data on this machine's disk, not in memory")
	flags.DurationVar(&o.CertValidity, "cert-validity", 0, "how long certificates last; 0 is a year")
	flags.Func("arg", "set a flag of a component, as COMPONENT:FLAG=VALUE; may be repeated", func(s string) error {
		kind, rest, ok := strings.Cut(s, ":")
		name, value, ok2 := strings.Cut(rest, "=")
		if !ok || !ok2 {
			return fmt.Errorf("want COMPONENT:FLAG=VALUE, as in etcd:quota-backend-bytes=33554432")
		}
		if o.ExtraArgs == nil {
			o.ExtraArgs = map[string]map[string]string{}
		}
		if o.ExtraArgs[kind] == nil {
			o.ExtraArgs[kind] = map[string]string{}
		}
		o.ExtraArgs[kind][name] = value
		return nil
	})
	fault := flags.String("for", "", "make the lab that this fault needs")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%w: up takes no arguments", errUsage)
	}
	if *fault != "" {
		f, err := faults.Find(*fault)
		if err != nil {
			return o, fmt.Errorf("%w: %w", errUsage, err)
		}
		o = f.Options(o)
	}
	return o, nil
}

// kubernetesVar lets a command take the line of Kubernetes.
func kubernetesVar(flags *flag.FlagSet, line *string) {
	flags.Func("kubernetes", "line of Kubernetes, such as 1.34, with the etcd of its time; empty is the default, "+build.Default.Line(), func(s string) error {
		*line = s
		_, err := build.Find(s)
		return err
	})
}
