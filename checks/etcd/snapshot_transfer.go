package etcd

import (
	_ "embed"
	"fmt"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed snapshot_transfer.md
var snapshotTransferDoc string

// SnapshotTransfer looks for members that send a snapshot to one that fell
// behind, and fail.
var SnapshotTransfer = &checks.Check{
	ID:        "etcd-snapshot-transfer",
	Component: collectors.Etcd,
	Title:     "etcd members that fell behind catch up",
	Doc:       snapshotTransferDoc,
	Needs:     []collectors.Any{etcd.SnapshotMetrics},
	Remedies: []checks.Remedy{
		{Title: "see how far each member is", Command: "etcdctl endpoint status --cluster -w table", Risk: checks.ReadOnly},
		{Title: "read why it failed", Command: "crictl logs --tail 2000 $(crictl ps -q --name etcd) 2>&1 | grep -i snapshot | tail -20", Risk: checks.ReadOnly},
	},
	Run: snapshotTransfer,
}

const transferSource = "etcd: a snapshot is sent to a member that is further behind than the log reaches"

func snapshotTransfer(p *checks.Pass) {
	for m, s := range checks.Each(p, etcd.SnapshotMetrics) {
		failed := s.Sent.Delta + s.Received.Delta
		ever := s.Sent.Total + s.Received.Total
		var v *checks.Verdict
		switch {
		case failed > 0:
			v = p.Warn(m, "a snapshot could not be sent %s and not be received %s in %s", times(s.Sent.Delta), times(s.Received.Delta), checks.Seconds(s.Sent.Elapsed))
		case s.Applying > 0:
			v = p.Info(m, "it takes in a snapshot from the leader; do not defragment it meanwhile").Mark("applying")
		case s.Sending > 0:
			v = p.Info(m, "it sends a snapshot to %s that fell behind", checks.Count(s.Sending, "member")).Mark("sending")
		case s.Receiving > 0:
			v = p.Info(m, "it receives a snapshot: it had fallen behind").Mark("receiving")
		case !s.Sent.Watched && ever > 0:
			p.Unknown(m, collectors.Gapf(collectors.NotAsked, "%.0f failures since it started; whether it goes on is not known: %s", ever, s.Sent.Why))
			continue
		default:
			v = p.OK(m, "no snapshot under way; %.0f failed since it started", ever)
		}
		v.Saw(etcd.SnapshotMetrics, "failed", fmt.Sprintf("%.0f", failed), "0", transferSource).
			Saw(etcd.SnapshotMetrics, "under way", fmt.Sprintf("%.0f", s.Sending+s.Receiving+s.Applying), "", "")
	}
}
