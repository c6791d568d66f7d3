package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/ktriage/ktriage/lab/build"
	"github.com/ktriage/ktriage/lab/supervise"
)

// Up starts the lab that opts describe and waits until it is healthy. supervisor
// is a program that, given the lab's folder, calls Supervise; it is copied, so
// it may go away afterwards. A lab that is up already is left as it is.
func Up(ctx context.Context, opts Options, supervisor []string, progress io.Writer) (*Lab, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if lab, err := Open(opts.Dir); err == nil {
		if _, err := lab.Supervisor.Status(ctx); err == nil && follow(ctx, lab, progress) == nil {
			return lab, nil
		}
	}
	if err := Down(ctx, opts.Dir); err != nil {
		return nil, err
	}
	if err := opts.needs(); err != nil {
		return nil, err
	}
	for opts.Network().InUse() {
		if opts.Index++; opts.Index > maxIndex {
			return nil, fmt.Errorf("%d labs run on this machine already", maxIndex+1)
		}
	}
	if err := opts.launch(supervisor); err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	lab, err := Open(opts.Dir)
	if err != nil {
		return nil, err
	}
	return lab, follow(ctx, lab, progress)
}

// needs says what this machine lacks to run the lab.
func (o Options) needs() error {
	if os.Geteuid() != 0 {
		return errors.New("a lab needs root: it makes network namespaces")
	}
	for program, pkg := range map[string]string{"ip": "iproute2", "strace": "strace"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is missing: run apt-get install %s", program, pkg)
		}
	}
	cache, err := build.CacheDir()
	if err != nil {
		return err
	}
	if missing := build.Paths(cache, o.Versions()).Missing(); len(missing) > 0 {
		return fmt.Errorf("%s is not built: run lab build --kubernetes %s", missing[0], o.Versions().Line())
	}
	return nil
}

func (o Options) launch(supervisor []string) error {
	for _, name := range []string{"logs", "bin"} {
		if err := os.MkdirAll(filepath.Join(o.Dir, name), 0o755); err != nil {
			return err
		}
	}
	if err := o.save(); err != nil {
		return err
	}
	program := filepath.Join(o.Dir, "bin/lab")
	if err := copyProgram(supervisor[0], program); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(o.Dir, "logs/supervisor.log"))
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command("nice", slices.Concat([]string{"-n", priority, program}, supervisor[1:], []string{o.Dir})...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Dir = o.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // or it stays a zombie for as long as this process lives
	return nil
}

// priority, of the supervisor and so of all that it starts, is above that of
// what else this machine does: a busy machine would look like a sick cluster.
const priority = "-10"

func copyProgram(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	return target.Close()
}

// follow shows the boot's phases until it ends.
func follow(ctx context.Context, lab *Lab, progress io.Writer) error {
	var phase string
	start := time.Now()
	return Until(ctx, 8*bootTimeout, "the lab's boot", func(ctx context.Context) error {
		status, err := lab.Supervisor.Status(ctx)
		if err != nil {
			// It needs a moment until it listens.
			if time.Since(start) > 10*time.Second {
				return permanent(err)
			}
			return err
		}
		if status.Phase != phase {
			phase = status.Phase
			fmt.Fprintf(progress, "%5.1fs %s\n", time.Since(start).Seconds(), phase)
		}
		switch {
		case status.Error != "":
			return permanent(fmt.Errorf("boot: %s (logs are in %s)", status.Error, filepath.Join(lab.Options.Dir, "logs")))
		case !status.Ready:
			return errors.New(status.Phase)
		}
		return nil
	})
}

// Down stops the lab in dir and removes its files but for the logs. It is no
// error if none runs there.
func Down(ctx context.Context, dir string) error {
	opts, err := loadOptions(dir)
	if err != nil {
		return nil // nothing there, or nothing of ours
	}
	client := supervise.NewClient(opts.socket())
	if status, err := client.Status(ctx); err == nil {
		// One that ends before its answer is out has done what it was asked to.
		if err := client.Shutdown(ctx); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			return fmt.Errorf("stop the lab in %s: %w", dir, err)
		}
		err := Until(ctx, stopTimeout, "the supervisor's end", func(context.Context) error {
			if syscall.Kill(status.PID, 0) == nil {
				return fmt.Errorf("process %d still runs", status.PID)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	// A supervisor that was killed left its network and disks behind.
	if err := opts.unmountDisks(); err != nil {
		return err
	}
	if err := opts.Network().Down(ctx); err != nil {
		return fmt.Errorf("remove the lab's network: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == "logs" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}
