// Package cli is the command line: one file a command. It reads flags, wires a
// Source to Collect, checks, diagnosis and a renderer, and decides the exit
// code. It judges nothing.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ktriage/ktriage/collectors/live"
)

// The exit codes. They are the same for every output format.
const (
	ExitOK       = 0
	ExitWarning  = 1
	ExitCritical = 2
	ExitUnknown  = 3  // something could not be judged, or nothing could
	ExitUsage    = 64 // EX_USAGE of sysexits.h
)

// An Invocation is one start of the program with all that it touches.
type Invocation struct {
	Args           []string // with the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	StdoutTTY      bool
	StderrTTY      bool
	Getenv         func(string) string
	Now            func() time.Time
}

// Terminal is the invocation by a user's shell. It silences what libraries log
// on their own, for the whole process: it reaches the user as gaps.
func Terminal() Invocation {
	live.Quiet()
	return Invocation{
		Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdoutTTY: term.IsTerminal(int(os.Stdout.Fd())), StderrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Getenv: os.Getenv, Now: time.Now,
	}
}

// Main runs the program and returns its exit code.
func Main(in Invocation) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	return run(ctx, in)
}

func run(ctx context.Context, in Invocation) int {
	a := &app{Invocation: in}
	root := a.root()
	args := in.Args[1:]
	if strings.TrimSuffix(filepath.Base(in.Args[0]), ".exe") == plugin {
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(args)
	root.SetIn(in.Stdin)
	root.SetOut(in.Stdout)
	root.SetErr(in.Stderr)
	err := root.ExecuteContext(ctx)
	var code exitCode
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &code):
		return int(code)
	}
	a.complain(err)
	var with coded
	if errors.As(err, &with) {
		return with.code
	}
	var usage usageError
	if errors.As(err, &usage) || strings.HasPrefix(err.Error(), "unknown command ") || strings.HasPrefix(err.Error(), "required flag") {
		return ExitUsage
	}
	return ExitUnknown
}

// app carries the invocation to the commands.
type app struct {
	Invocation
	conf configuration
	// calls writes the program's name as the user calls it into a text that
	// names its commands; nil where that is what it says already.
	calls func(string) string
}

// name is what the user calls the program: "ktriage" or "kubectl ktriage".
func (a *app) name() string {
	base := strings.TrimSuffix(filepath.Base(a.Args[0]), ".exe")
	if name, ok := strings.CutPrefix(base, "kubectl-"); ok {
		return "kubectl " + name
	}
	if base == plugin {
		return "kubectl ktriage"
	}
	return "ktriage"
}

// complain writes an error, and the hint that goes with it, to standard error.
func (a *app) complain(err error) {
	a.note("%v", err)
	var h hinted
	if errors.As(err, &h) {
		a.note("hint: %s", h.hint)
	}
}

// exitCode ends the program with a code, after its output was written.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

// hinted is an error with what to do about it.
type hinted struct {
	error
	hint string
}

func (e hinted) Unwrap() error { return e.error }

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ktriage",
		Short: "Tell what is wrong with a Kubernetes control plane, why, and what to do",
		Long: `ktriage looks at a Kubernetes control plane for a few seconds and tells what is
wrong with it, why, and what to do. It needs a kubeconfig, or etcd's endpoints,
or a recording; what it could not see it says, and never calls healthy.

Only fix and apply change anything, after they have shown what. etcd perf --load
writes keys of its own, when asked to, and takes them away again; report writes
the report, to where its flags say.`,
		Example: `  ktriage doctor                      judge the cluster of the current kubeconfig
  ktriage doctor --from demo          judge a recording of a sick cluster
  ktriage doctor -o json              the same for a program
  ktriage pending                     why pods do not run, and what would help
  ktriage explain etcd-wal-fsync-slow what a rule looks at, and what to do`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: a.name()},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q", args[0])
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var c credentialError
		if errors.As(err, &c) {
			err = c // without the value, which the flag's own error repeats
		}
		return usageError{hinted{err, "see " + cmd.CommandPath() + " --help"}}
	})
	root.AddCommand(a.doctor(), a.report(), a.render(), a.diff(), a.vitals(), a.etcd(), a.certs(), a.pending(), a.permissions(), a.capture(), a.explain(), a.checks(), a.fix(), a.plan(), a.apply(), a.version(), a.docs(), a.config())
	root.PersistentFlags().String("config", "", "the configuration, a `file`; KTRIAGE_CONFIG, or found in the usual places")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.configure(cmd) }
	a.completes(root)
	a.rename(root)
	return root
}

// noArgs is for commands that take none.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{hinted{fmt.Errorf("%s takes no argument, got %q", cmd.CommandPath(), args[0]), "see " + cmd.CommandPath() + " --help"}}
	}
	return nil
}
