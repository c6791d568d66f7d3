package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/internal/certs"
	"github.com/ktriage/ktriage/internal/report"
)

func (a *app) certs() *cobra.Command {
	var f sourceFlags
	var out form
	cmd := &cobra.Command{
		Use:   "certs",
		Short: "List all certificates by when they end, with what breaks then",
		Long: `List the certificates of the control plane, what ends first at the top: those
that servers really show (API servers, scheduler, controller manager, etcd,
kubelets of control-plane nodes, webhooks and extension API servers), those of
clients as far as this run was given them or runs on their node, and the CAs.
What could not be seen is listed too, with the reason. It judges nothing: that
is for ktriage doctor. Exit code 0, or 3 if not one certificate could be seen.`,
		Example: `  ktriage certs
  ktriage certs -o json | jq '.certificates[] | select(.daysLeft < 30)'
  ktriage certs --from incident.tar.gz`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			o, err := a.origin(&f)
			if err != nil {
				return err
			}
			defer o.close()
			ctx, cancel := deadline(cmd.Context(), &f)
			defer cancel()
			started := a.Now()
			if o.meta != nil {
				started = o.meta.StartedAt
			}
			p := a.progress(o, 0)
			facts := slices.Concat(report.Facts, certs.Facts())
			snap := collectors.Collect(ctx, o.source, started, 0, collectors.Options{Progress: p.update}, facts...).Snapshot
			p.done()
			t := certs.Read(snap)
			doc := struct {
				SchemaVersion string      `json:"schemaVersion"`
				Cluster       clusterName `json:"cluster"`
				certs.Table   `json:",inline"`
			}{report.SchemaVersion, lookedAt(snap), t}
			if err := out.write(a, doc, func(bool) string { return certs.Text(t) }); err != nil {
				return err
			}
			if len(t.Rows) == 0 {
				return hinted{fmt.Errorf("not one certificate could be seen"), "the list says why"}
			}
			return nil
		},
	}
	f.add(cmd.Flags(), true)
	out.add(cmd.Flags(), "text", "json", "yaml")
	return cmd
}

// clusterName is which cluster was looked at.
type clusterName struct {
	Name    string `json:"name"`
	Server  string `json:"server"`
	Version string `json:"version"`
}

func lookedAt(s *collectors.Snapshot) clusterName {
	access, _ := cluster.HowReached.One(s)
	version, _ := cluster.Version.One(s)
	return clusterName{access.Name, access.Server, version.Git}
}
