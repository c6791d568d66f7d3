package diagnose

import "github.com/ktriage/ktriage/checks"

// An Edge is one way in which trouble is known to spread, whether or not ktriage
// can tell it. Edges that no link tells say why, for ever: so that nobody adds
// without evidence what was turned down for the want of it.
type Edge struct {
	ID    string
	What  string   // "cause → effect"
	Links []string // the IDs of the links that tell it
	Not   string   // what of it no link tells, and why
	// Unseen is a cause that ktriage does not look at, in words that follow "it
	// cannot see"; Of are the findings that it could explain.
	Unseen string
	Of     []checks.ID
}

// Edges is the causal model that Links come from.
var Edges = []Edge{
	{ID: "E1", What: "full disk → etcd fails", Not: "no check looks at a node's file systems; node-pressure is the kubelet's account of its own",
		Unseen: "the node, and how full its disk is", Of: ids{"etcd-member-unreachable"}},
	{ID: "E2", What: "slow or busy disk → slow log syncs", Not: "no check looks at a node's disks",
		Unseen: "the node's disk, and who else writes to it", Of: ids{"etcd-wal-fsync-slow", "etcd-backend-commit-slow"}},
	{ID: "E3", What: "backup or another writer → slow disk", Not: "no check looks at a node's processes; said with E2"},
	{ID: "E4", What: "no processor time → late heartbeats, slow requests, with a fast disk", Links: []string{"E4", "E4c", "E4p", "E4r"}, Not: "no check looks at a node's processors: the heartbeats are the first that is seen of it",
		Unseen: "how busy the node's processors are", Of: ids{"etcd-heartbeat-failures"}},
	{ID: "E5", What: "slow log syncs → slow commits", Links: []string{"E5"}},
	{ID: "E6", What: "slow log syncs of the leader or a majority → slow writes", Links: []string{"E6", "E6r", "E6s"}},
	{ID: "E7", What: "slow log syncs → late heartbeats → elections", Links: []string{"E7", "E7b"}, Not: "not → etcd-peer-rtt-high: round trips touch no disk, so a far peer is a fault of its own"},
	{ID: "E8", What: "far or broken peers → elections, slow writes", Links: []string{"E8", "E8r"}, Not: "one far member of three is no reason for what the others do",
		Unseen: "the network between the members", Of: ids{"etcd-peer-rtt-high", "etcd-no-leader"}},
	{ID: "E9", What: "defragmentation → apply lag, slow requests, turned-away requests", Links: []string{"E9", "E9a"}},
	{ID: "E10", What: "snapshots by cron → slow syncs", Not: "no fact counts Snapshot calls; said with E2"},
	{ID: "E11", What: "lists of many objects → slow etcd, much memory", Links: []string{"E11"}, Not: "apiserver-log-slow-trace and apiserver-object-count-high stand beside it"},
	{ID: "E12", What: "no leader → failed proposals, errors of etcd", Links: []string{"E12", "E12r", "E19c", "E25c"}},
	{ID: "E13", What: "lost quorum, or a dead member → no leader, no writes", Links: []string{"E13", "E13a", "E13b", "E13c", "E13h", "E13p", "E13w", "M1", "M2", "M3"}, Not: "not → etcd-raft-index-lag: a dead member says nothing, and another's lag is its own"},
	{ID: "E14", What: "compaction stalls → the quota fills → NOSPACE", Links: []string{"E14", "E14g"}, Not: "not → etcd-nospace-alarm: while it stands the API server cannot write its compactions either, so the order is not told"},
	{ID: "E15", What: "flood of events or writes → growth", Links: []string{"E15"}, Not: "a flood is never folded under NOSPACE, of which it may be the cause",
		Unseen: "what filled the database", Of: ids{"etcd-nospace-alarm", "etcd-db-quota-usage"}},
	{ID: "E16", What: "free pages → the quota fills", Links: []string{"E16", "E16l", "E16s"}},
	{ID: "E17", What: "NOSPACE → failing writes, expired leases", Links: []string{"E17", "E17q", "E17r", "E17e"}},
	{ID: "E18", What: "CORRUPT → failing reads and writes", Links: []string{"E13c", "E13d"}},
	{ID: "E19", What: "slow etcd → slow calls to it", Links: []string{"E19", "E19b", "E19c"}},
	{ID: "E20", What: "network or processor → slow calls to a fast etcd", Not: "no check looks at either: such a finding stands alone",
		Unseen: "the network to etcd and how busy the API server's node is", Of: ids{"apiserver-etcd-latency"}},
	{ID: "E21", What: "slow calls to etcd → slow requests", Links: []string{"E21", "E21l", "E21r", "E21s", "E21w", "E21k", "E21a"}, Not: "not → apiserver-webhook-latency-gap: what etcd takes is in both of the times that it compares"},
	{ID: "E22", What: "slow webhook → writes wait", Links: []string{"E22"}},
	{ID: "E23", What: "slow requests → seats run out → requests are turned away", Links: []string{"E23", "E23b", "E23c", "E23w", "E23g", "E23t", "E23m", "E23l"}},
	{ID: "E24", What: "chatty client → requests are turned away", Not: "no fact tells clients apart",
		Unseen: "which clients send the requests", Of: ids{"apf-requests-rejected", "apf-seats-exhausted", "apiserver-429"}},
	{ID: "E25", What: "slow API or starved renewals → late leases", Links: []string{"E25", "E25b", "E25c", "E25e"}},
	{ID: "E26", What: "expired lease → nobody leads, restarts", Links: []string{"E26s", "E26k", "E26ls", "E26lk", "E26h", "E26p", "E26i", "E26o", "L4", "L5"}},
	{ID: "E27", What: "many leases lost at once → a stall in the past", Not: "what it points to is over and not seen any more: lease-mass-loss says so itself"},
	{ID: "E28", What: "no controller manager → nothing is reconciled", Links: []string{"E28", "E28g", "E28l", "E28q"}, Not: "not → deployment-not-progressing, which a controller has to write"},
	{ID: "E29", What: "no scheduler → pods without a verdict", Links: []string{"E29", "E29l"}, Not: "not → scheduler-unschedulable-pods: a scheduler has looked at those, and said why not"},
	{ID: "E30", What: "long or failing queue → its own objects lag", Links: []string{"E30", "E30g", "E30o", "E30q", "E30r", "E30w"}},
	{ID: "E31", What: "client's own rate limit → long queues", Links: []string{"E31", "E31s", "E31w"}},
	{ID: "E32", What: "webhook that cannot be called → it fails closed", Links: []string{"E32", "E32c", "E32s", "E32t"}, Not: "webhook-timeout-sum is advice about the worst case, and no cause of webhook-slow, which was measured"},
	{ID: "E33", What: "webhook fails closed → pods are not created → rollouts stop", Links: []string{"E33", "E33c", "E33d", "E33e", "E33r", "E33v"}},
	{ID: "E34", What: "webhook on leases, nodes, pods → leases expire, nodes go stale", Links: []string{"E34", "E34b", "E34n"}, Not: "mirror pods have no check"},
	{ID: "E35", What: "webhook takes in its own pods → deadlock", Links: []string{"E32s"}},
	{ID: "E36", What: "extension API unavailable → namespaces stay", Links: []string{"E36", "E36c", "E36f", "E36g", "E36h", "E36k"}},
	{ID: "E37", What: "conversion webhook fails → lists fail, namespaces stay", Links: []string{"E33e", "E37", "E37c", "E37s", "E37t"}},
	{ID: "E38", What: "serving certificate expired → nobody connects", Links: []string{"E38", "E38n"}, Not: "not ca-expiring → kcm-client-errors: no error names the CA of who was refused. not cert-file-vs-served → cert-serving-expiring: it stands beside it, with the cure"},
	{ID: "E39", What: "client certificate expired, or no rights → 401, 403 → leases expire", Links: []string{"E39", "E39b", "E39c", "E39k", "E39q", "E39r", "E39a", "E39d"}},
	{ID: "E40", What: "kubelet client certificate expired → logs and exec fail", Not: "nothing is asked of kubelets"},
	{ID: "E41", What: "API not reached → many nodes stale", Links: []string{"E41", "E41a", "E41b", "E41k"}},
	{ID: "E42", What: "kubelet or its network down → few nodes stale", Links: []string{"E42", "E42d", "E42e", "E42p", "E42w"},
		Unseen: "the node's kubelet and its network", Of: ids{"node-notready", "node-lease-stale", "nodes-mass-notready"}},
	{ID: "E43", What: "many nodes not ready → eviction stops", Not: "a note, not a cause: nodes-mass-notready says it"},
	{ID: "E44", What: "API server restarts → relists → slow API", Links: []string{"E44n"}, Not: "no fact counts lists by start of an instance: both would be true of any busy cluster",
		Unseen: "why the process ended, and the node's memory", Of: ids{"apiserver-restarting"}},
	{ID: "E45", What: "a control-plane node lost → the rest overloaded", Not: "no check looks at a node's processors"},
	{ID: "E46", What: "clock skew → leases misjudged", Links: []string{"E46"}},
	{ID: "E47", What: "known-bad etcd version → divergence", Not: "a version proves nothing: etcd-version-known-bad is advice beside it"},
	{ID: "E48", What: "service IPs used up → Services fail", Links: []string{"E48"}},
	{ID: "E49", What: "quota, Pod Security, limits → pods are refused → rollouts stop", Links: []string{"E33d"}, Not: "who refuses is in replicaset-failedcreate itself"},
	{ID: "E50", What: "no room → unschedulable pods → rollouts stop; slow or failing steps → slow placement", Links: []string{"E50", "E50e", "E50f", "E50p"}, Not: "what is short is in scheduler-unschedulable-pods itself"},
	{ID: "E51", What: "no cloud controller manager → uninitialised nodes → unschedulable pods", Links: []string{"E51", "E51c"}, Not: "a cloud controller manager that is down is told by lease-expired"},
	{ID: "E52", What: "encryption fails → reads fail", Links: []string{"E52", "E52c", "E52r", "E52s", "E52d", "E52k"}},
	{ID: "E53", What: "full audit disk → audit errors", Not: "no check looks at a node's file systems",
		Unseen: "how full the audit log's disk is", Of: ids{"apiserver-audit-errors"}},
	{ID: "E54", What: "liveness kill during defragmentation → restart loop", Not: "no fact reads events of etcd's pods"},
	{ID: "E55", What: "watch starvation of old etcd → stale caches", Not: "no fact tells a watch's backlog; etcd-version-known-bad is advice"},
	{ID: "E56", What: "flags, certificates or files that a process cannot use → it ends as soon as it starts", Not: "only its log and its node's files tell, and no check reads them",
		Unseen: "what the process said last, and the flags and certificates on its node", Of: ids{"apiserver-unreachable", "etcd-member-unreachable", "scheduler-down", "kcm-down", "kcm-restarts", "static-pod-crashloop"}},
}
