package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/checks/etcd"
	"github.com/ktriage/ktriage/internal/etcdview"
)

func (a *app) etcdStatus() *cobra.Command {
	var f sourceFlags
	var out form
	var hash bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show all members in one table: role, version, sizes, raft, alarms",
		Long: `Show what every member of etcd says of itself, all asked at the same time: role,
version, database size, how much of it is in use and free pages, quota, raft
term and index, how far it is behind the leader, revision, alarms, errors.

A cell with ? could not be asked; who, and why, is said below the table. A cell
with n/a is not told by that version of etcd. Without a client certificate for
etcd the table is made of its metrics, with fewer cells; where etcd cannot be
reached at all, of what the API servers tell of it.

With --hash each member also computes a hash of all that it holds, at one
revision for all. It reads its whole database for that, so that it is busy for
seconds per GiB; use it when you suspect that the members' data differs.

Nothing is judged but the hashes: ktriage doctor does that.

Exit codes: 0 every member told its status (and all hashes are the same), 2 the
hashes differ, 3 something could not be asked, 64 wrong usage.`,
		Example: `  ktriage etcd status
  ktriage etcd status -o wide
  ktriage etcd status --hash
  ktriage etcd status --etcd-endpoints https://10.0.0.1:2379 --etcd-cacert ca.crt --etcd-cert client.crt --etcd-key client.key
  ktriage etcd status --from incident.tar.gz
  ktriage etcd status -o json | jq -r '.members[] | [.name, .role, .behindLeaderEntries] | @tsv'`,
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
			facts := slices.Clone(etcdview.StatusFacts)
			deep := []*checks.Check{etcd.HashDivergence}
			if hash {
				facts = slices.Concat(facts, checks.Facts(deep))
			}
			snap := a.look(ctx, o, &f, nil, facts...)
			var findings []checks.Finding
			if hash {
				findings = checks.Run(snap, deep)
			}
			doc := etcdview.NewStatus(snap, o.name, hash, findings)
			if !doc.Answered() {
				doc.AddStore(a.look(ctx, o, &f, nil, etcdview.StoreFacts...))
			}
			if err := out.write(a, doc, doc.Text); err != nil {
				return err
			}
			switch {
			case doc.Hash != nil && doc.Hash.Status == checks.Critical:
				return exitCode(ExitCritical)
			case !doc.Whole():
				if !doc.Answered() {
					return hinted{fmt.Errorf("no member of etcd answers"), "ktriage doctor judges what can be reached"}
				}
				return exitCode(ExitUnknown)
			}
			return nil
		},
	}
	f.add(cmd.Flags(), true)
	usualWindow(cmd.Flags(), &f, time.Second, "how long lies between the two looks at metrics")
	out.add(cmd.Flags(), "text", "wide", "json", "yaml")
	cmd.Flags().BoolVar(&hash, "hash", false, "also compare what the members hold, by a hash at one revision")
	cmd.Flags().BoolVar(&hash, "deep", false, "the same, as ktriage doctor calls it")
	return cmd
}
