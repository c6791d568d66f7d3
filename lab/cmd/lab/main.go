// Lab builds, runs and breaks a real Kubernetes control plane on this machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: lab build [OPTION...] | up [OPTION...] | status | env | fault [NAME] | heal | matrix [OPTION...] | down

  build   build the programs of the control plane, once (-kubernetes 1.34: an older line)
  up      start a lab and wait until it is healthy (up -h lists its options)
  status  show its processes
  env     print what a shell needs to use it: eval "$(lab env)"
  fault   inject a fault, or list all
  heal    undo the fault and wait until the lab is healthy
  matrix  try ktriage on all faults, each on a lab that is fit (matrix -h lists its options)
  down    stop it and remove its files
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "lab: %v\n", err)
		if errors.Is(err, errUsage) {
			fmt.Fprint(os.Stderr, usage)
			os.Exit(64)
		}
		os.Exit(1)
	}
}

var errUsage = errors.New("wrong usage")

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	commands := map[string]func(context.Context, []string) error{
		"build": buildCommand, "up": up, "status": status, "env": env,
		"fault": fault, "heal": heal, "matrix": matrixCommand, "down": down, "supervise": supervise,
	}
	command, ok := commands[args[0]]
	if !ok {
		return fmt.Errorf("%w: no command %q", errUsage, args[0])
	}
	return command(ctx, args[1:])
}
