package faults

import (
	"context"
	"errors"
	"strings"

	"github.com/ktriage/ktriage/lab/cluster"
)

var etcdUnstartedMember = Fault{
	Name: "etcd-unstarted-member",
	Doc:  "A fourth member was added to etcd and never started. Three of four must answer now, so no more may fail than of three.",
	Want: Problem{Check: "etcd-unstarted-member"},
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		nobody := len(lab.Options.EtcdEndpoints()) // the node after the last
		_, err := lab.Etcdctl(ctx, "member", "add", lab.Options.NodeName(nobody), "--peer-urls="+lab.Options.EtcdPeerURL(nobody))
		return err
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		_, err := unstarted(ctx, lab)
		return err
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		id, err := unstarted(ctx, lab)
		if err != nil {
			return nil // it was not added
		}
		_, err = lab.Etcdctl(ctx, "member", "remove", id)
		return err
	},
}

// unstarted finds the ID of the member that has not started.
func unstarted(ctx context.Context, lab *cluster.Lab) (string, error) {
	out, err := lab.Etcdctl(ctx, "member", "list")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if id, rest, _ := strings.Cut(line, ","); strings.HasPrefix(strings.TrimSpace(rest), "unstarted") {
			return id, nil
		}
	}
	return "", errors.New("all members have started")
}
