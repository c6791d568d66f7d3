package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/ktriage/ktriage/lab/netns"
	"github.com/ktriage/ktriage/lab/supervise"
)

// helperEnv tells the supervisor's program, started once more, to be a helper.
const helperEnv = "KTRIAGE_LAB_HELPER"

// Helper is a process of the lab's own that a fault needs while it lasts.
type Helper struct {
	Backend *Backend `json:",omitempty"`
	Clients *Clients `json:",omitempty"`
	Starver *Starver `json:",omitempty"`
	Relay   *Relay   `json:",omitempty"`
	Writer  *Writer  `json:",omitempty"`
}

// StartHelper runs a helper on a control-plane node, under a name of its own.
func (l *Lab) StartHelper(ctx context.Context, name string, node int, h Helper) error {
	spec, err := l.Options.helper(name, node, h)
	if err != nil {
		return err
	}
	return l.Supervisor.Start(ctx, spec)
}

func (o Options) helper(name string, node int, h Helper) (supervise.Spec, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return supervise.Spec{}, err
	}
	return supervise.Spec{
		Name:  name,
		Netns: o.Netns(node),
		Path:  supervise.Self,
		Env:   []string{helperEnv + "=" + string(text)},
		Log:   o.LogFile(name),
		Keep:  true,
	}, nil
}

// StopHelper ends a helper, if it is there.
func (l *Lab) StopHelper(ctx context.Context, name string) error {
	status, err := l.Supervisor.Status(ctx)
	if err != nil {
		return err
	}
	for _, p := range status.Procs {
		if p.Name == name {
			return l.Supervisor.Stop(ctx, name)
		}
	}
	return nil
}

// help is what the program does when it is a helper; false if it is none.
func help(ctx context.Context) (bool, error) {
	text := os.Getenv(helperEnv)
	if text == "" {
		return false, nil
	}
	var h Helper
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return true, fmt.Errorf("read %s: %w", helperEnv, err)
	}
	switch {
	case h.Backend != nil:
		return true, h.Backend.serve(ctx)
	case h.Clients != nil:
		return true, h.Clients.run(ctx)
	case h.Starver != nil:
		return true, h.Starver.run(ctx)
	case h.Relay != nil:
		return true, h.Relay.run(ctx)
	case h.Writer != nil:
		return true, h.Writer.run(ctx)
	}
	return true, errors.New("a helper without work")
}

// AddServiceIP gives a control-plane node the address of a service, as if a
// kube-proxy there forwarded it to the node: what listens on it answers, and
// where nothing listens connections are refused.
func (l *Lab) AddServiceIP(ctx context.Context, node int, ip string) error {
	return netns.AddAddr(ctx, l.Options.Netns(node), net.ParseIP(ip))
}

// RemoveServiceIP undoes AddServiceIP.
func (l *Lab) RemoveServiceIP(ctx context.Context, node int, ip string) error {
	return netns.RemoveAddr(ctx, l.Options.Netns(node), net.ParseIP(ip))
}
