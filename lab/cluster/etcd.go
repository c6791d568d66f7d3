package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// EtcdLeader is the node whose member leads.
func (l *Lab) EtcdLeader(ctx context.Context) (int, error) {
	for _, c := range l.Options.Components(Etcd) {
		// A member that doesn't answer does not lead.
		if m, err := l.EtcdMetrics(ctx, c.Node); err == nil && m["etcd_server_is_leader"] == 1 {
			return c.Node, nil
		}
	}
	return 0, errors.New("no etcd member leads")
}

// MoveEtcdLeader makes the member of the given node the leader.
func (l *Lab) MoveEtcdLeader(ctx context.Context, node int) error {
	return Until(ctx, healthTimeout, "etcd to be led by "+l.Options.NodeName(node), func(ctx context.Context) error {
		leader, err := l.EtcdLeader(ctx)
		if err != nil || leader == node {
			return err
		}
		metrics, err := l.EtcdMetrics(ctx, node)
		if err != nil {
			return err
		}
		id := metrics.label("etcd_server_id", "server_id")
		if _, err := l.Etcdctl(ctx, "--endpoints="+l.Options.EtcdEndpoints()[leader], "move-leader", id); err != nil {
			return err
		}
		return errors.New("the leader has just been moved")
	})
}

// Etcdctl runs etcdctl against all members, unless args name others.
func (l *Lab) Etcdctl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, l.Binaries.Etcdctl, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ETCDCTL_") { // a shell that evaluated lab env has them all
			cmd.Env = append(cmd.Env, v)
		}
	}
	for _, v := range l.Options.Env() {
		flag := "--" + strings.ToLower(strings.TrimPrefix(v.Name, "ETCDCTL_"))
		if strings.HasPrefix(v.Name, "ETCDCTL_") && !set(args, flag) {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("etcdctl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// set says whether args has the flag. etcdctl refuses a flag that its
// environment sets too.
func set(args []string, flag string) bool {
	for _, arg := range args {
		if strings.HasPrefix(arg, flag+"=") {
			return true
		}
	}
	return false
}

// WipeEtcd removes the data of a member that is down.
func (l *Lab) WipeEtcd(node int) error {
	return os.RemoveAll(filepath.Join(l.Options.EtcdData(node), "member"))
}
