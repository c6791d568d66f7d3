package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ktriage/ktriage/lab/cluster"
)

// TestNothingSurvivesItsSupervisor starts the smallest lab beside the shared
// one, and ends it both ways.
func TestNothingSurvivesItsSupervisor(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: a lab makes network namespaces")
	}
	for _, tt := range []struct {
		name string
		end  func(*testing.T, *cluster.Lab)
	}{
		{"when it is asked to stop", func(*testing.T, *cluster.Lab) {}},
		{"when it is killed", func(t *testing.T, lab *cluster.Lab) {
			status, err := lab.Supervisor.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(status.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if err := cluster.Until(t.Context(), 5*time.Second, "its children's end", func(context.Context) error {
				return noProcessMentions(lab.Options.Dir)
			}); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			lab, err := up(t.Context(), cluster.Options{Dir: dir, ControlPlanes: 1, Workers: 1})
			t.Cleanup(func() { cluster.Down(context.Background(), dir) })
			if err != nil {
				t.Fatal(err)
			}
			if err := lab.Health(t.Context()); err != nil {
				t.Error(err)
			}
			tt.end(t, lab)
			if err := cluster.Down(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			if err := noProcessMentions(dir); err != nil {
				t.Error(err)
			}
			if bridge := lab.Options.Network().Bridge; lab.Options.Network().InUse() {
				t.Errorf("network interface %s is still there", bridge)
			}
			if _, err := net.InterfaceByName(lab.Options.Network().Veth(0)); err == nil {
				t.Errorf("network interface %s is still there", lab.Options.Network().Veth(0))
			}
		})
	}
}

// noProcessMentions looks for processes that were started with files of dir.
func noProcessMentions(dir string) error {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return err
	}
	for _, file := range files {
		// Those that end meanwhile are none.
		if cmdline, err := os.ReadFile(file); err == nil && bytes.Contains(cmdline, []byte(dir)) {
			return fmt.Errorf("%s: %s", file, bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '}))
		}
	}
	return nil
}
