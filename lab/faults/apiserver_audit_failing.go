package faults

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/ktriage/ktriage/lab/cluster"
)

var apiServerAuditFailing = Fault{
	Name:  "apiserver-audit-failing",
	Doc:   "The disk for the API server's audit log is full (it writes to /dev/full). Everything works, and nothing is recorded.",
	Want:  Problem{Check: "apiserver-audit-errors"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		path := filepath.Join(lab.Options.PKI(0), "audit.yaml")
		policy := "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"
		if err := os.WriteFile(path, []byte(policy), 0o644); err != nil {
			return err
		}
		return reconfigure(ctx, lab, map[string]string{"audit-policy-file": path, "audit-log-path": "/dev/full"})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "audit events that are lost", func(ctx context.Context) error {
			metrics, err := lab.APIServerMetrics(ctx)
			if err != nil {
				return err
			}
			if metrics.Sum("apiserver_audit_error_total") == 0 {
				return errors.New("none is lost")
			}
			return nil
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error { return reconfigure(ctx, lab, nil) },
}
