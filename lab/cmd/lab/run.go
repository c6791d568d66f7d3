package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/ktriage/ktriage/lab/build"
	"github.com/ktriage/ktriage/lab/cluster"
)

func buildCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	var line string
	kubernetesVar(flags, &line)
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	versions, err := build.Find(line)
	if err != nil {
		return err
	}
	dir, err := build.ModuleDir(ctx)
	if err != nil {
		return err
	}
	bins, err := build.Ensure(ctx, dir, versions, os.Stderr)
	if err != nil {
		return err
	}
	for _, path := range []string{bins.Etcd, bins.Etcdctl, bins.APIServer, bins.ControllerManager, bins.Scheduler, bins.Kwok, bins.OldEtcd} {
		fmt.Println(path)
	}
	return nil
}

func up(ctx context.Context, args []string) error {
	opts, err := parseOptions(args)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	lab, err := cluster.Up(ctx, opts, []string{self, "supervise"}, os.Stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "up: export KUBECONFIG=%s\n", lab.Options.Kubeconfig())
	return nil
}

// supervise is what up runs in the background; it is not for people.
func supervise(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errUsage
	}
	return cluster.Supervise(ctx, args[0])
}

func status(ctx context.Context, _ []string) error {
	lab, err := cluster.Open(cluster.DefaultDir())
	if err != nil {
		return err
	}
	s, err := lab.Supervisor.Status(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("folder     %s\nsupervisor %d\nphase      %s\n", lab.Options.Dir, s.PID, s.Phase)
	if s.Error != "" {
		fmt.Printf("error      %s\n", s.Error)
	}
	if name := lab.Fault(); name != "" {
		fmt.Printf("fault      %s\n", name)
	}
	if s.Ready {
		health := "good"
		if err := lab.Health(ctx); err != nil {
			health = err.Error()
		}
		fmt.Printf("health     %s\n", health)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nPROCESS\tPID\tUP\tRESTARTS\tLAST EXIT")
	for _, p := range s.Procs {
		age := "-"
		if p.Running() {
			age = time.Since(p.StartedAt).Round(time.Second).String()
		} else if p.Held {
			age = "held"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\n", p.Name, p.PID, age, p.Restarts, p.LastExit)
	}
	return w.Flush()
}

func env(context.Context, []string) error {
	lab, err := cluster.Open(cluster.DefaultDir())
	if err != nil {
		return err
	}
	for _, v := range lab.Options.Env() {
		fmt.Printf("export %s=%q\n", v.Name, v.Value)
	}
	return nil
}

func down(ctx context.Context, _ []string) error {
	return cluster.Down(ctx, cluster.DefaultDir())
}
