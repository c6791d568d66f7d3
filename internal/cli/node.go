package cli

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/suite"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/live"
	"github.com/ktriage/ktriage/collectors/live/machine"
)

// nodeFlags say whether the node that ktriage runs on is looked at instead of
// the cluster.
type nodeFlags struct {
	on   bool
	root string
	set  func(name string) bool
}

func (f *nodeFlags) add(fs *pflag.FlagSet) {
	fs.BoolVar(&f.on, "node", false, "look at the control-plane node that ktriage runs on, without the API; by itself if the API server does not answer on such a node")
	fs.StringVar(&f.root, "host-root", "", "with --node: the `folder` that the node's file system is mounted at, with its proc, sys and dev (or HOST_PROC, HOST_SYS, HOST_DEV)")
	f.set = fs.Changed
}

// check refuses what makes no sense together.
func (f *nodeFlags) check(s *sourceFlags) error {
	switch {
	case f.root != "" && !f.on:
		return usagef("--host-root is for --node: give both")
	case f.on && len(s.from) > 0:
		return usagef("--node looks at this machine, and --from at what was recorded: give one of them")
	}
	if f.root == "" {
		return nil
	}
	root, err := filepath.Abs(f.root)
	if err != nil {
		return usagef("--host-root %s: %v", f.root, err)
	}
	if st, err := os.Stat(root); err != nil || !st.IsDir() {
		return usagef("--host-root %s: there is no such folder", f.root)
	}
	f.root = root
	return nil
}

// manifest is what kubeadm and the likes put on a control-plane node only.
const manifest = "/etc/kubernetes/manifests/kube-apiserver.yaml"

// chooses reports whether to look at the node though nobody said so: this is a
// control-plane node, no other cluster was named, and the API server does not
// answer.
func (a *app) chooses(ctx context.Context, f *nodeFlags, s *sourceFlags, o *origin) bool {
	if f.set("node") || len(s.from) > 0 || len(s.etcd.Endpoints) > 0 {
		return false
	}
	for _, other := range [...]string{"kubeconfig", "context", "cluster", "server", "user", "token"} {
		if f.set(other) {
			return false
		}
	}
	if _, err := os.Stat(manifest); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, s.apiWithin())
	defer cancel()
	reply, err := o.source.Fetch(ctx, collectors.Request{Verb: collectors.Get, URL: "kube:/version"})
	if err == nil {
		reply.Body.Close()
		return false
	}
	g, what := collectors.AsGap(err, collectors.Unreachable), "does not answer"
	switch g.Reason {
	case collectors.Unreachable, collectors.Timeout, collectors.NoPath, collectors.Absent:
	case collectors.NotAsked:
		what = "cannot be asked"
	default:
		return false
	}
	a.note("the API server %s (%s), and this is a control-plane node: looking at the node itself, as --node does; --node=false looks at the cluster all the same", what, g.Detail)
	return true
}

// apiWithin is how long is waited for the API server before the node is looked
// at instead.
func (f *sourceFlags) apiWithin() time.Duration { return min(5*time.Second, f.timeout/4) }

// local is the origin of a run on the node itself.
func (a *app) local(f *nodeFlags) (*origin, error) {
	// Certificates on disk are read as in every run.
	files, err := live.New(live.Config{HostRoot: f.root, Version: version(), Getenv: func(string) string { return "" }})
	if err != nil {
		return nil, err
	}
	src := machine.New(machine.Config{Root: f.root, Proc: a.Getenv("HOST_PROC"), Sys: a.Getenv("HOST_SYS"), Dev: a.Getenv("HOST_DEV")}, files)
	return &origin{source: src, name: "node", node: true, cost: src.Cost, close: func() { files.Close() }}, nil
}

// onNode keeps the checks that can be judged where a run looks: on the node
// itself, or at the cluster.
func onNode(cs []*checks.Check, node bool) []*checks.Check {
	if node {
		return suite.OnNode(cs)
	}
	return suite.OfCluster(cs)
}
