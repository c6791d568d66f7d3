package suite

// A Trap is a true observation from which a wrong verdict is easily made. Each was
// fallen into by a tool or an alert of the field.
type Trap struct {
	What string // what is seen, as a sentence without a period
	How  string // what ktriage does of it, likewise

	Held   []Held   // what fails if a check falls into it
	Unread []string // names that no fact may ask for, because there is no right use of them
}

// A Held is a test of a trap: the case of a check or a Go test.
type Held struct {
	Case string // "etcd-db-fragmented/mass_delete"
	Says string // how a line of the case's verdicts begins: "info etcd/cp-1"

	Test string // "collectors/leases TestLeasesAreHeldAgainstTheServersClock"
}

// Traps returns the catalogue of false alarms.
func Traps() []Trap { return traps }

var traps = []Trap{
	{
		What: "A process's histograms and counters still hold a bad hour of last month",
		How:  "what happened in the window decides; where there was one look only, the verdict says since when and is a warning at most",
		Held: []Held{
			{Case: "etcd-wal-fsync-slow/past_incident", Says: "ok etcd/cp-1"},
			{Case: "etcd-heartbeat-failures/past", Says: "ok etcd/cp-1"},
			{Case: "apiserver-write-latency-slo/lifetime", Says: "warning apiserver"},
			{Case: "apiserver-429/past", Says: "ok apiserver"},
		},
	},
	{
		What: "etcd has seen at least one change of leader, always: the first election",
		How:  "changes in the window count, and those of the lifetime by the hour, of a process that is not young",
		Held: []Held{
			{Case: "etcd-leader-flapping/fresh_cluster", Says: "ok etcd"},
			{Case: "etcd-leader-flapping/past_incident", Says: "info etcd"},
		},
	},
	{
		What: "Schedulers and controller managers that do not lead have empty queues",
		How:  "only the leader's are judged; of the others it is said that they do not lead",
		Held: []Held{
			{Case: "scheduler-active-queue-backlog/healthy", Says: "outOfScope scheduler/cp-2"},
			{Case: "scheduler-throughput-zero/healthy", Says: "outOfScope scheduler/cp-2"},
			{Case: "kcm-queue-depth/healthy", Says: "outOfScope controllers/cp-1"},
			{Test: "internal/vitals TestOnlyTheLeadersQueuesAreVitals"},
		},
	},
	{
		What: "The histogram of client certificates keeps those that were renewed since, and is empty where nobody has one",
		How:  "requests in the window count; the lifetime is advice; without a certificate there is nothing to judge",
		Held: []Held{
			{Case: "client-cert-expiring/healthy", Says: "ok apiserver"},
			{Case: "client-cert-expiring/lifetime", Says: "info apiserver"},
			{Case: "client-cert-expiring/nobody", Says: "outOfScope apiserver"},
		},
	},
	{
		What: "rest_client_requests_total of an API server counts its loopback, webhooks and kubelets, and where components share a process all of them",
		How:  "it is read of processes that have one API server to ask, and not where they share one",
		Held: []Held{{Case: "kcm-client-errors/k3s", Says: "outOfScope controllers"}},
	},
	{
		What: "etcd's calls end with Unavailable when a watch's client restarts, with OutOfRange after a compaction, with Canceled all the time",
		How:  "only codes that mean trouble of the server count, without watches",
		Held: []Held{{Case: "etcd-grpc-failures/traps", Says: "ok etcd/cp-1"}},
	},
	{
		What: "Watches and connections to pods last for long, and end in errors of what is behind them",
		How:  "verbs WATCH and CONNECT, and subresources such as log and proxy, are left out of latencies and errors",
		Held: []Held{
			{Case: "apiserver-5xx-ratio/not_judged", Says: "ok apiserver"},
			{Case: "apiserver-aborts/watches", Says: "ok apiserver"},
			{Case: "etcd-grpc-slow/extensive", Says: "ok etcd/cp-2"},
		},
	},
	{
		What: "Conflicts (409), objects that are not there (404) and expired revisions (410) are answers like any other",
		How:  "they are no errors, of the API server or of its clients",
		Held: []Held{
			{Case: "apiserver-5xx-ratio/client_codes", Says: "ok apiserver"},
			{Case: "kcm-client-errors/policy", Says: "ok controllers/cp-2"},
		},
	},
	{
		What: "A new leader looks at everything once, and its queues are long meanwhile",
		How:  "queues are not judged for two minutes after the lease was taken",
		Held: []Held{
			{Case: "kcm-queue-depth/new_leader", Says: "outOfScope controllers/cp-2"},
			{Case: "kcm-queue-latency/new_leader", Says: "outOfScope controllers/cp-2"},
			{Case: "kcm-client-throttled/new_leader", Says: "outOfScope controllers/cp-2"},
		},
	},
	{
		What: "The lease of a node lingers when the node is gone",
		How:  "leases are held against the nodes that there are",
		Held: []Held{{Case: "node-lease-stale/left", Says: "ok nodes"}},
	},
	{
		What: "Pods of Jobs that are done are not pending, gated pods wait for somebody else, and DaemonSets want no pod on a node whose taint they do not tolerate",
		How:  "pending is what the API server calls so; gated pods have a rule of their own; a DaemonSet's nodes are counted as its controller counts them",
		Held: []Held{
			{Case: "scheduler-unschedulable-pods/healthy", Says: "ok pods"},
			{Case: "scheduler-gated-pods/gated", Says: "info pods"},
			{Case: "daemonset-stuck/healthy", Says: "ok controllers"},
		},
	},
	{
		What: "A paused Deployment does not progress, and one of no replicas has none available",
		How:  "only what the controller itself calls failed is called so, and what wants no pods lacks none",
		Held: []Held{
			{Case: "deployment-not-progressing/paused", Says: "ok controllers"},
			{Case: "deployment-replicas-mismatch/healthy", Says: "ok controllers"},
		},
	},
	{
		What: "After much was deleted etcd's file is mostly free pages",
		How:  "that is advice while the quota is far: the pages are used again",
		Held: []Held{{Case: "etcd-db-fragmented/mass_delete", Says: "info etcd/cp-1"}},
	},
	{
		What: "Nodes of Fargate and virtual-kubelet are no machines, and a cordoned node may be down on purpose",
		How:  "they are not missed, and the version of virtual-kubelet is not held against the API server's",
		Held: []Held{
			{Case: "node-notready/virtual", Says: "ok nodes"},
			{Case: "node-notready/excused", Says: "ok nodes"},
			{Case: "node-version-skew/virtual", Says: "ok nodes"},
		},
	},
	{
		What: "etcd says 0 for the time of its last compaction until there was one since its start",
		How:  "it counts from the start, and there is no verdict where that is not known",
		Held: []Held{
			{Case: "etcd-compaction-stalled/never", Says: "ok etcd/cp-2"},
			{Case: "etcd-compaction-stalled/never", Says: "unknown etcd/cp-3"},
		},
	},
	{
		What: "A load balancer that probes with TCP leaves a failed TLS handshake each time",
		How:  "what comes as often as probes do is no trouble",
		Held: []Held{{Case: "apiserver-tls-handshake-errors/probe", Says: "ok apiserver"}},
	},
	{
		What:   "kubernetes_healthcheck is not served before 1.26",
		How:    "health is asked of /livez and /readyz, and where there are none that is said",
		Held:   []Held{{Case: "apiserver-readyz-check-failing/old", Says: "outOfScope apiserver"}},
		Unread: []string{"kubernetes_healthcheck"},
	},
	{
		What:   "ComponentStatus calls schedulers and controller managers unhealthy that listen elsewhere than on the API server's loopback",
		How:    "it is not asked for",
		Unread: []string{"componentstatuses"},
	},
	{
		What: "k3s serves the metrics of all its components in one registry",
		How:  "the process is judged once, and what cannot be told apart is not judged",
		Held: []Held{
			{Case: "kcm-queue-depth/k3s", Says: "warning controllers/k3s"},
			{Case: "kcm-client-errors/k3s", Says: "outOfScope scheduler"},
		},
	},
	{
		What: "The clock of the machine that ktriage runs on is off, or that of a lease's holder",
		How:  "ages are by the API server's clock, of the reply's Date header, and a lease that goes on being renewed has not run out",
		Held: []Held{
			{Test: "collectors/leases TestLeasesAreHeldAgainstTheServersClock"},
			{Case: "lease-expired/clock_behind", Says: "ok leases/kube-system/kube-scheduler"},
			{Case: "lease-clock-skew/behind", Says: "warning leases/kube-system/kube-scheduler"},
		},
	},
	{
		What: "etcd serves grpc_server_handling_seconds with --metrics=extensive only",
		How:  "other histograms are read in its place; where there is none, how fast it is is not known",
		Held: []Held{
			{Case: "etcd-grpc-slow/healthy", Says: "ok etcd/cp-1"},
			{Case: "etcd-grpc-slow/idle", Says: "unknown etcd/cp-3"},
		},
	},
	{
		What: "An etcd of one member has no majority to lose, and may have no leader all the same",
		How:  "what may fail is not judged, and whether it has a leader is",
		Held: []Held{
			{Case: "etcd-quorum-fragile/single", Says: "outOfScope etcd"},
			{Case: "etcd-no-leader/single", Says: "critical etcd/cp-1"},
			{Case: "etcd-raft-index-lag/single", Says: "outOfScope etcd/cp-1"},
		},
	},
	{
		What: "Events may have an etcd of their own, with a quota of its own",
		How:  "the quota of the members that are seen is not held against it, and its size is told",
		Held: []Held{{Case: "apiserver-storage-size-high/two_stores", Says: "ok apiserver"}},
	},
	{
		What: "From 1.37 on lists are counted once for the watch cache and once for etcd",
		How:  "those that etcd answered count",
		Held: []Held{{Case: "apiserver-expensive-lists/cache", Says: "ok apiserver"}},
	},
	{
		What: "A counter that is smaller than before belongs to a process that was started again, or to another behind the same address",
		How:  "the two looks are compared only if one process answered both",
		Held: []Held{
			{Test: "collectors/metrics TestWindowNoticesAnotherInstance"},
			{Case: "etcd-heartbeat-failures/past", Says: "unknown etcd/cp-2"},
			{Case: "etcd-leader-flapping/all_restarted", Says: "unknown etcd"},
		},
	},
	{
		What: "Two slow observations of sixty may be chance",
		How:  "what is slow must be too often so to be chance, and the run looks longer where it cannot tell",
		Held: []Held{
			{Case: "etcd-wal-fsync-slow/too_few", Says: "ok etcd/cp-1"},
			{Test: "collectors/metrics TestFewObservationsProveNothing"},
		},
	},
	{
		What: "A metric that is not served was not counted as zero",
		How:  "its absence is told, with the version that brings it",
		Held: []Held{
			{Case: "apiserver-write-latency-slo/absent", Says: "unknown apiserver"},
			{Case: "etcd-grpc-failures/absent", Says: "unknown etcd/cp-1"},
			{Test: "checks/etcd TestHealthyClustersGiveNoAlarm"},
		},
	},
	{
		What: "No lease of a leader is no fault where nobody elects one",
		How:  "components that run with --leader-elect=false are left out",
		Held: []Held{
			{Case: "lease-expired/none", Says: "outOfScope leases"},
			{Case: "scheduler-no-leader/without_election", Says: "outOfScope scheduler"},
		},
	},
}
