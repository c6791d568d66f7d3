package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/leases"
)

type ids = []checks.ID

// Marks of findings that links read.
const (
	// WritePath marks a slow etcd member through which every write goes: the
	// leader, or one of so many followers that no fast majority is left.
	WritePath = "write-path"
	Leader    = "leader"
)

// Links is the model of the control plane: what brings about what, and by what
// evidence that is told in one run. Sources are in docs/causes.md.
var Links = []Link{
	// Storage: disk, then raft, then everything that writes.
	{ID: "E5", Causes: ids{"etcd-wal-fsync-slow"}, Effects: ids{"etcd-backend-commit-slow"}, When: sameTarget,
		Because: "the commit waits for the same disk as the log"},
	{ID: "E6", Causes: ids{"etcd-wal-fsync-slow", "etcd-backend-commit-slow"}, Effects: ids{"etcd-apply-slow", "etcd-grpc-slow", "etcd-proposals-pending", "etcd-proposals-failed", "etcd-apply-lag"}, When: onWritePath,
		Because: "no write is done before a majority has it on disk"},
	{ID: "E6s", Causes: ids{"etcd-wal-fsync-slow", "etcd-backend-commit-slow"}, Effects: ids{"etcd-apply-slow", "etcd-raft-index-lag", "etcd-apply-lag", "etcd-grpc-slow", "etcd-proposals-pending"}, When: sameTarget,
		Because: "this member applies only what its own disk has taken"},
	{ID: "E7", Causes: ids{"etcd-wal-fsync-slow"}, Effects: ids{"etcd-heartbeat-failures", "etcd-leader-flapping", "etcd-no-leader", "etcd-peer-rtt-high"}, When: onWritePath,
		Because: "a leader that waits for its disk is late with heartbeats"},
	{ID: "E4", Causes: ids{"etcd-heartbeat-failures"}, Effects: ids{"etcd-apply-slow", "etcd-grpc-slow", "etcd-proposals-pending", "etcd-proposals-failed", "etcd-peer-rtt-high", "apiserver-etcd-latency", "apiserver-etcd-errors"}, When: disksAreFast,
		Because: "a leader that gets no processor time is late with everything that goes through it"},
	{ID: "E7b", Causes: ids{"etcd-heartbeat-failures"}, Effects: ids{"etcd-leader-flapping", "etcd-no-leader"}, When: Anywhere,
		Because: "followers that hear no heartbeat elect another leader"},
	{ID: "E8", Causes: ids{"etcd-peer-rtt-high"}, Effects: ids{"etcd-leader-flapping", "etcd-no-leader", "etcd-apply-slow", "etcd-grpc-slow", "etcd-proposals-pending"}, When: disksAreFast,
		Because: "heartbeats and log entries are late between the members"},
	{ID: "E9", Causes: ids{"etcd-defrag-inflight"}, Effects: ids{"etcd-apply-lag", "etcd-apply-slow", "etcd-raft-index-lag"}, When: sameTarget,
		Because: "a member that defragments applies nothing"},
	{ID: "E12", Causes: ids{"etcd-leader-flapping", "etcd-no-leader"}, Effects: ids{"etcd-proposals-failed", "etcd-proposals-pending", "apiserver-etcd-errors"}, When: Anywhere,
		Because: "proposals fail while there is no leader"},
	{ID: "E13", Causes: ids{"etcd-member-unreachable"}, Effects: ids{"etcd-quorum-fragile", "etcd-raft-index-lag", "etcd-peer-rtt-high", "etcd-leader-flapping", "etcd-proposals-failed"}, When: Anywhere,
		Because: "a member is missing"},
	{ID: "E13h", Causes: ids{"etcd-member-unreachable", "etcd-no-leader"}, Effects: ids{"apiserver-etcd-latency", "apiserver-etcd-errors", "apiserver-5xx-ratio", "apiserver-write-latency-slo", "apiserver-read-latency-slo", "apiserver-readyz-check-failing", "lease-renew-slow", "lease-expired", "lease-flapping", "lease-mass-loss", "kcm-restarts", "kcm-client-errors", "scheduler-errors"}, When: hangs,
		Because: "what the API server asks that member waits until it times out"},
	{ID: "E13a", Causes: ids{"etcd-member-unreachable"}, Effects: ids{"etcd-apply-slow", "etcd-grpc-slow", "etcd-proposals-pending"}, When: spareless,
		Because: "with none to spare, every write waits for the slowest that is left"},
	{ID: "E13b", Causes: ids{"etcd-quorum-lost"}, Effects: ids{"etcd-member-unreachable", "etcd-no-leader", "etcd-quorum-fragile", "etcd-proposals-pending", "etcd-proposals-failed", "etcd-leader-flapping"}, When: Surely,
		Because: "without a majority there is no leader and no write"},
	{ID: "E13c", Causes: ids{"etcd-quorum-lost", "etcd-no-leader", "etcd-corrupt-alarm"}, Effects: ids{"apiserver-unreachable", "apiserver-readyz-check-failing", "apiserver-livez-failing", "apiserver-etcd-errors", "apiserver-etcd-latency", "apiserver-5xx-ratio", "apiserver-write-latency-slo", "apiserver-read-latency-slo", "lease-expired", "lease-renew-slow"}, When: nobodyLeads,
		Because: "the API server stores everything in etcd"},
	{ID: "M1", Causes: ids{"etcd-unstarted-member"}, Effects: ids{"etcd-even-or-single"}, When: oddWithout,
		Because: "without it the number of voters is odd"},
	{ID: "M2", Causes: ids{"etcd-learner-stuck"}, Effects: ids{"etcd-even-or-single"}, When: oddWith,
		Because: "as a voter it would make their number odd"},
	{ID: "M3", Causes: ids{"etcd-unstarted-member"}, Effects: ids{"etcd-quorum-fragile"}, When: onlyThoseDown,
		Because: "it counts as a voter and cannot vote"},
	{ID: "E16", Causes: ids{"etcd-db-fragmented", "etcd-compaction-stalled"}, Effects: ids{"etcd-db-quota-usage"}, When: SamePlace,
		Because: "pages that hold nothing count against the quota"},
	{ID: "E16s", Causes: ids{"etcd-db-quota-usage", "etcd-db-fragmented"}, Effects: ids{"apiserver-storage-size-high"}, When: Anywhere,
		Because: "it is the same database"},
	{ID: "E17q", Causes: ids{"etcd-nospace-alarm"}, Effects: ids{"etcd-db-quota-usage", "etcd-db-fragmented", "apiserver-storage-size-high"}, When: Anywhere,
		Because: "the alarm was raised at the quota"},
	{ID: "E17", Causes: ids{"etcd-nospace-alarm"}, Effects: ids{"apiserver-5xx-ratio", "apiserver-etcd-errors", "apiserver-readyz-check-failing", "lease-expired", "lease-renew-slow", "kcm-retries-high", "kcm-down", "scheduler-down", "scheduler-no-leader", "kcm-no-leader", "kcm-client-errors", "apiserver-event-flood", "controllers-lagging"}, When: Direct.always,
		Because: "etcd refuses every write while the alarm stands"},

	// From etcd up to the clients.
	{ID: "E19", Causes: ids{"etcd-wal-fsync-slow", "etcd-backend-commit-slow"}, Effects: ids{"apiserver-etcd-latency", "apiserver-etcd-errors", "apiserver-readyz-check-failing", "apiserver-livez-failing", "apiserver-write-latency-slo", "apiserver-read-latency-slo", "apiserver-5xx-ratio"}, When: onWritePath,
		Because: "the API server waits for etcd"},
	{ID: "E19b", Causes: ids{"etcd-apply-slow", "etcd-grpc-slow", "etcd-peer-rtt-high", "etcd-proposals-pending", "etcd-apply-lag"}, Effects: ids{"apiserver-etcd-latency", "apiserver-etcd-errors", "apiserver-readyz-check-failing"}, When: Anywhere,
		Because: "the API server waits for etcd"},
	{ID: "E19c", Causes: ids{"etcd-leader-flapping", "etcd-no-leader"}, Effects: ids{"apiserver-etcd-latency", "apiserver-readyz-check-failing"}, When: disksAreFast,
		Because: "the API server waits for etcd to elect a leader"},
	{ID: "E21", Causes: ids{"apiserver-etcd-latency", "apiserver-etcd-errors"}, Effects: ids{"apiserver-write-latency-slo", "apiserver-read-latency-slo", "apiserver-5xx-ratio", "apiserver-webhook-latency-gap", "apiserver-requests-terminated"}, When: SamePlace,
		Because: "requests take as long as the store under them"},
	{ID: "E21l", Causes: ids{"apiserver-etcd-latency", "apiserver-etcd-errors"}, Effects: ids{"apiserver-readyz-check-failing", "apiserver-livez-failing"}, When: probesStore,
		Because: "its own check of etcd waits, too"},
	{ID: "E21r", Causes: ids{"apiserver-readyz-check-failing"}, Effects: ids{"apiserver-livez-failing", "apiserver-5xx-ratio"}, When: SamePlace,
		Because: "the instance says itself that it cannot serve"},
	{ID: "E52", Causes: ids{"apiserver-decode-errors"}, Effects: ids{"apiserver-5xx-ratio", "kcm-client-errors", "apiserver-429"}, When: SamePlace,
		Because: "an object that cannot be read makes every list of its kind fail"},
	{ID: "E52r", Causes: ids{"apiserver-decode-errors"}, Effects: ids{"apiserver-readyz-check-failing"}, When: cacheEmpty,
		Because: "the cache of what cannot be read is never filled"},
	{ID: "P2", Causes: ids{"kcm-restarts"}, Effects: ids{"static-pod-crashloop"}, When: itsPod,
		Because: "it is the pod of the same process"},
	{ID: "E23", Causes: ids{"apiserver-write-latency-slo", "apiserver-read-latency-slo", "apiserver-etcd-latency"}, Effects: ids{"apf-seats-exhausted", "apf-inflight-near-limit", "apf-queue-depth", "apf-wait-latency"}, When: SamePlace,
		Because: "slow requests hold their seats longer"},
	{ID: "E23b", Causes: ids{"apf-seats-exhausted", "apf-inflight-near-limit"}, Effects: ids{"apf-queue-depth", "apf-wait-latency", "apf-requests-rejected", "apiserver-429", "apf-leader-election-starved"}, When: SamePlace,
		Because: "every seat is taken"},
	{ID: "E23c", Causes: ids{"apf-requests-rejected"}, Effects: ids{"apiserver-429", "apiserver-requests-terminated", "kcm-client-errors"}, When: SamePlace,
		Because: "requests over the limit are answered 429"},

	{ID: "E23t", Causes: ids{"apiserver-429"}, Effects: ids{"kcm-client-errors"}, When: turnedAway,
		Because: "API servers turn clients away"},

	// From the API server to the components that live on it.
	{ID: "E25", Causes: ids{"apiserver-write-latency-slo", "apiserver-etcd-latency", "apf-leader-election-starved", "apiserver-unreachable", "apiserver-5xx-ratio", "apf-requests-rejected"}, Effects: ids{"lease-expired", "lease-renew-slow", "lease-flapping", "lease-mass-loss", "kcm-client-errors", "scheduler-attempt-latency", "scheduler-pod-sli-latency", "scheduler-errors", "kcm-queue-latency", "kcm-queue-depth", "kcm-retries-high", "controllers-lagging"}, When: Anywhere,
		Because: "it is done through the API server"},
	{ID: "E25b", Causes: ids{"etcd-wal-fsync-slow", "etcd-backend-commit-slow", "etcd-leader-flapping"}, Effects: ids{"lease-expired", "lease-renew-slow", "lease-flapping", "lease-mass-loss", "scheduler-attempt-latency", "scheduler-pod-sli-latency", "scheduler-errors", "kcm-client-errors", "kcm-queue-latency", "kcm-queue-depth", "kcm-retries-high", "scheduler-down", "kcm-down", "kcm-restarts", "scheduler-no-leader", "kcm-no-leader", "controllers-lagging"}, When: onWritePath,
		Because: "leases and bindings are writes, and writes wait for etcd"},
	{ID: "E26s", Causes: ids{"scheduler-down"}, Effects: ids{"lease-expired", "lease-renew-slow", "scheduler-no-leader", "lease-holder-missing"}, When: ofScheduler,
		Because: "no scheduler is there to renew the lease"},
	{ID: "E26k", Causes: ids{"kcm-down"}, Effects: ids{"lease-expired", "lease-renew-slow", "kcm-no-leader", "lease-holder-missing"}, When: ofControllers,
		Because: "no controller manager is there to renew the lease"},
	{ID: "E26ls", Causes: ids{"lease-expired"}, Effects: ids{"scheduler-no-leader"}, When: ofScheduler,
		Because: "who does not renew does not lead"},
	{ID: "E26lk", Causes: ids{"lease-expired"}, Effects: ids{"kcm-no-leader"}, When: ofControllers,
		Because: "who does not renew does not lead"},
	{ID: "E28", Causes: ids{"kcm-down", "kcm-no-leader"}, Effects: ids{"deployment-generation-lag", "replicaset-scale-lag", "kcm-namespace-stuck", "controllers-lagging"}, When: Direct.always,
		Because: "no controller is at work"},
	{ID: "E28l", Causes: ids{"lease-expired"}, Effects: ids{"deployment-generation-lag", "replicaset-scale-lag", "kcm-namespace-stuck", "controllers-lagging"}, When: ofControllers,
		Because: "no controller is at work"},
	{ID: "E28g", Causes: ids{"kcm-down", "kcm-no-leader"}, Effects: loops, When: both(Direct.always, hasMark("lag")),
		Because: "no controller is at work"},
	{ID: "E28q", Causes: ids{"controllers-lagging"}, Effects: append(ids{"deployment-generation-lag", "replicaset-scale-lag", "kcm-namespace-stuck"}, loops...), When: shares("queue="),
		Because: "where several kinds wait at once, it is what all controllers share"},
	{ID: "E30g", Causes: ids{"kcm-queue-depth", "kcm-stuck-worker", "kcm-retries-high"}, Effects: loops, When: both(shares("queue="), hasMark("lag")),
		Because: "its controller is behind"},
	{ID: "E39k", Causes: ids{"kcm-client-errors"}, Effects: ids{"controllers-lagging"}, When: controllersRefused,
		Because: "what the controllers ask is refused"},
	{ID: "E29", Causes: ids{"scheduler-down", "scheduler-no-leader"}, Effects: ids{"pod-pending-no-condition", "scheduler-unschedulable-pods", "scheduler-throughput-zero"}, When: Direct.always,
		Because: "no scheduler is at work"},
	{ID: "E29l", Causes: ids{"lease-expired"}, Effects: ids{"pod-pending-no-condition", "scheduler-throughput-zero"}, When: ofScheduler,
		Because: "no scheduler is at work"},
	{ID: "E30", Causes: ids{"kcm-queue-depth", "kcm-stuck-worker"}, Effects: ids{"deployment-generation-lag", "replicaset-scale-lag", "kcm-queue-latency", "controllers-lagging"}, When: Anywhere,
		Because: "its controller is behind"},
	{ID: "E39", Causes: ids{"kcm-client-errors"}, Effects: ids{"lease-expired", "lease-renew-slow", "scheduler-no-leader", "kcm-no-leader", "scheduler-down", "kcm-down", "scheduler-errors", "scheduler-throughput-zero", "kcm-queue-depth", "kcm-queue-latency", "kcm-retries-high", "kcm-restarts", "lease-flapping", "deployment-generation-lag", "replicaset-scale-lag", "controllers-lagging"}, When: turnedOut,
		Because: "the API server refuses nearly all that it asks"},
	{ID: "E39c", Causes: ids{"client-cert-expiring"}, Effects: ids{"kcm-client-errors"}, When: expired,
		Because: "certificates that clients come with have expired"},
	{ID: "E39b", Causes: ids{"kcm-client-errors"}, Effects: ids{"scheduler-errors", "pod-pending-no-condition", "scheduler-throughput-zero", "scheduler-active-queue-backlog", "scheduler-pod-sli-latency"}, When: mayNotBind,
		Because: "the scheduler may not bind pods, nor say why"},
	{ID: "E39r", Causes: ids{"kcm-client-errors"}, Effects: ids{"kcm-retries-high"}, When: forbidden,
		Because: "a controller that is refused tries again"},
	{ID: "E30q", Causes: ids{"kcm-retries-high"}, Effects: ids{"kcm-queue-latency", "kcm-queue-depth"}, When: shares("queue="),
		Because: "what fails is put back into the same queue"},
	{ID: "E30r", Causes: ids{"kcm-retries-high"}, Effects: ids{"deployment-generation-lag", "replicaset-scale-lag"}, When: shares("queue="),
		Because: "its controller fails at most of what it takes up"},
	{ID: "E31", Causes: ids{"kcm-client-throttled"}, Effects: ids{"kcm-queue-depth", "kcm-queue-latency", "controllers-lagging"}, When: SamePlace,
		Because: "its client waits for its own rate limit"},

	// Admission webhooks stand before every write, extension API servers and
	// conversion webhooks before discovery and lists.
	{ID: "E32", Causes: ids{"webhook-backend-missing", "webhook-cabundle-bad"}, Effects: ids{"webhook-failing-closed", "webhook-fail-open"}, When: sameTarget,
		Because: "the API server cannot call the webhook"},
	{ID: "E32s", Causes: ids{"webhook-backend-missing"}, Effects: ids{"webhook-slow", "webhook-self-deadlock"}, When: sameTarget,
		Because: "nobody answers behind its Service"},
	{ID: "E32t", Causes: ids{"webhook-failing-closed", "webhook-fail-open"}, Effects: ids{"webhook-slow"}, When: sameTarget,
		Because: "calls that are not answered take as long as they may"},
	{ID: "E33", Causes: ids{"webhook-backend-missing", "webhook-cabundle-bad", "webhook-failing-closed"}, Effects: ids{"replicaset-failedcreate"}, When: shares("webhook="),
		Because: "its pods are refused for want of this webhook"},
	{ID: "E33d", Causes: ids{"replicaset-failedcreate"}, Effects: ids{"deployment-not-progressing"}, When: shares("deployment="),
		Because: "its ReplicaSet is refused pods"},
	{ID: "E33r", Causes: ids{"replicaset-failedcreate"}, Effects: ids{"kcm-retries-high"}, When: hasMark("queue=replicaset"),
		Because: "what is refused is tried again"},
	{ID: "E33c", Causes: ids{"replicaset-failedcreate"}, Effects: ids{"kcm-client-errors"}, When: both(refusedByCall, hasMark("5xx")),
		Because: "creating a pod is answered with an error while its webhook cannot be called"},
	{ID: "E33e", Causes: ids{"webhook-backend-missing", "webhook-cabundle-bad", "webhook-failing-closed", "conversion-webhook-failing"}, Effects: ids{"apiserver-5xx-ratio", "apiserver-429", "apiserver-decode-errors"}, When: takesResource,
		Because: "what the webhook takes in is answered with an error while it cannot be called"},
	{ID: "E22", Causes: ids{"webhook-slow"}, Effects: ids{"apiserver-webhook-latency-gap", "apf-seats-exhausted", "apf-inflight-near-limit"}, When: Anywhere,
		Because: "writes wait for the webhook"},
	{ID: "E34", Causes: ids{"webhook-backend-missing", "webhook-cabundle-bad", "webhook-slow", "webhook-failing-closed"}, Effects: ids{"lease-expired", "lease-renew-slow", "scheduler-no-leader", "kcm-no-leader", "node-lease-stale", "nodes-mass-notready"}, When: takes("leases"),
		Because: "leases are not written without the webhook"},
	{ID: "E34n", Causes: ids{"webhook-backend-missing", "webhook-cabundle-bad", "webhook-slow", "webhook-failing-closed"}, Effects: ids{"node-notready"}, When: takes("nodes/status"),
		Because: "the status of nodes is not written without the webhook"},
	{ID: "E34b", Causes: ids{"webhook-backend-missing", "webhook-cabundle-bad", "webhook-slow", "webhook-failing-closed"}, Effects: ids{"scheduler-errors", "scheduler-attempt-latency"}, When: takes("pods/binding", "pods/status"),
		Because: "pods are not bound without the webhook"},
	{ID: "E36", Causes: ids{"apiservice-unavailable"}, Effects: ids{"kcm-namespace-stuck"}, When: shares("groupversion="),
		Because: "nobody knows what the namespace holds of that group"},
	{ID: "E37", Causes: ids{"conversion-webhook-failing"}, Effects: ids{"kcm-namespace-stuck"}, When: shares("group="),
		Because: "what the namespace holds of that group cannot be read"},
	{ID: "E37c", Causes: ids{"conversion-webhook-failing"}, Effects: ids{"kcm-client-errors"}, When: hasMark("429"),
		Because: "lists of what cannot be converted are turned away"},
	// Nodes: many at once are a symptom of what they share, one is its own.
	{ID: "E41", Causes: ids{"nodes-mass-notready"}, Effects: ids{"node-notready", "node-lease-stale"}, When: Surely,
		Because: "so many do not fail at once by themselves"},
	{ID: "E41a", Causes: ids{"apiserver-unreachable", "etcd-quorum-lost", "etcd-no-leader", "etcd-nospace-alarm"}, Effects: ids{"nodes-mass-notready", "node-lease-stale"}, When: Anywhere,
		Because: "kubelets say that they are alive through the API server"},
	{ID: "E41b", Causes: ids{"etcd-wal-fsync-slow", "etcd-backend-commit-slow"}, Effects: ids{"nodes-mass-notready", "node-lease-stale"}, When: onWritePath,
		Because: "a lease is renewed by a write, and writes wait for etcd"},
	{ID: "E42", Causes: ids{"node-notready"}, Effects: ids{"node-lease-stale"}, When: sameTarget,
		Because: "nothing is heard of its kubelet"},
	{ID: "E42p", Causes: ids{"node-notready", "nodes-mass-notready"}, Effects: ids{"pod-bound-not-started"}, When: Anywhere,
		Because: "a pod starts when the kubelet of its node does something"},

	{ID: "E42d", Causes: ids{"node-notready"}, Effects: ids{"kcm-terminating-pods"}, When: shares("node="),
		Because: "a pod is gone only when its kubelet says so"},
	{ID: "E42w", Causes: ids{"node-notready", "nodes-mass-notready", "scheduler-unschedulable-pods", "scheduler-down", "scheduler-no-leader"}, Effects: ids{"deployment-replicas-mismatch", "statefulset-stuck", "daemonset-stuck"}, When: unlessLag,
		Because: "pods that have no node, or one that is gone, are not ready"},
	{ID: "E36h", Causes: ids{"apiservice-unavailable"}, Effects: ids{"kcm-hpa-failing"}, When: metricsAPI,
		Because: "autoscalers read their metrics from this API"},
	{ID: "E36g", Causes: ids{"apiservice-unavailable", "conversion-webhook-failing"}, Effects: ids{"gc-orphans"}, When: Anywhere,
		Because: "the garbage collector stops where one kind of object cannot be listed"},

	// What the kubelet says of the process that is down.
	{ID: "E27x", Causes: ids{"lease-expired", "lease-renew-slow", "lease-flapping", "apiserver-write-latency-slo", "apiserver-etcd-latency"}, Effects: ids{"kcm-restarts", "static-pod-crashloop"}, When: endedForItsLease,
		Because: "who cannot renew its lease in time ends itself"},
	{ID: "P1", Causes: ids{"etcd-member-unreachable", "apiserver-unreachable", "scheduler-down", "kcm-down", "etcd-quorum-lost"}, Effects: ids{"static-pod-crashloop", "kcm-restarts", "apiserver-restarting"}, When: itsPod,
		Because: "it is the pod of the same process"},

	{ID: "E51", Causes: ids{"ccm-uninitialized-nodes"}, Effects: ids{"scheduler-unschedulable-pods"}, When: byItsTaint,
		Because: "no pod is placed on a node that the cloud controller manager has not taken up"},

	// What the logs say of the same.
	{ID: "L1", Causes: ids{"etcd-log-slow-fsync"}, Effects: ids{"etcd-log-slow-apply", "etcd-log-late-heartbeat"}, When: sameTarget,
		Because: "the same member logs that it waits for its disk"},
	{ID: "L1f", Causes: ids{"etcd-wal-fsync-slow"}, Effects: ids{"etcd-log-slow-fsync", "etcd-log-slow-apply", "etcd-log-late-heartbeat"}, When: Anywhere,
		Because: "the log tells of the slow disk"},
	{ID: "L2", Causes: ids{"etcd-nospace-alarm"}, Effects: ids{"etcd-log-nospace", "apiserver-log-etcd-err"}, When: Anywhere,
		Because: "the log tells of the alarm"},
	{ID: "L3", Causes: ids{"etcd-revision-divergence", "etcd-corrupt-alarm"}, Effects: ids{"etcd-log-corrupt"}, When: Anywhere,
		Because: "the log tells of the data that differs"},
	{ID: "L4", Causes: ids{"le-retrieve", "le-update"}, Effects: ids{"le-renew-failed", "le-lost"}, When: sameTarget,
		Because: "who cannot read or write the lease loses it"},
	{ID: "L5", Causes: ids{"le-renew-failed"}, Effects: ids{"le-lost"}, When: sameTarget,
		Because: "who does not renew the lease in time ends"},

	// What cannot be asked because of what is down.
	{ID: "G1", Causes: ids{"etcd-member-unreachable"}, Gaps: true, When: silentPart,
		Because: "the member does not answer"},
	{ID: "G1c", Causes: ids{"etcd-member-unreachable"}, Gaps: true, When: comparison,
		Because: "there is no other member left to compare with"},
	{ID: "G2", Causes: ids{"scheduler-down", "kcm-down"}, Gaps: true, When: silentPart,
		Because: "the process does not answer"},
	{ID: "G7", Causes: ids{"kcm-restarts"}, Gaps: true, When: silentPart,
		Because: "the process had just started, or had just ended"},
	{ID: "G6", Causes: ids{"kcm-client-errors"}, Gaps: true, When: cannotTell,
		Because: "it may not even ask who may read its metrics"},
	{ID: "G3", Causes: ids{"apiserver-unreachable"}, Gaps: true, When: throughAPI,
		Because: "it is asked through the API server"},
	{ID: "G8", Causes: ids{"apiserver-unreachable"}, Gaps: true, When: asksItself,
		Because: "it asks that API server who may read its metrics"},
	{ID: "G5", Causes: ids{"apiserver-readyz-check-failing", "apiserver-livez-failing", "apiserver-etcd-latency", "apiserver-read-latency-slo", "apf-requests-rejected"}, Gaps: true, When: tooSlow,
		Because: "it is asked through an API server that hardly answers"},
	{ID: "G4", Causes: ids{"etcd-quorum-lost", "etcd-no-leader"}, Gaps: true, When: throughEtcd,
		Because: "no answer is possible without a leader"},
}

// loops are the checks on single kinds of objects. What waits for its controller
// is marked as such; the rest is held up by something else.
var loops = ids{
	"daemonset-stuck", "job-stuck", "cronjob-missed", "endpoint-lag", "pvc-pending", "kcm-hpa-failing", "pdb-blocking", "quota-full",
	"kcm-default-objects-missing", "node-lifecycle-lag", "node-csr-pending", "gc-orphans",
}

// unlessLag fires for effects that do not wait for their controller.
func unlessLag(_, e checks.Finding, _ View) Strength {
	if e.Marked("lag") {
		return No
	}
	return CoOccurrence
}

// controllersRefused fires where the requests of a controller manager are
// refused.
func controllersRefused(c, _ checks.Finding, _ View) Strength {
	if c.Target.Component == collectors.Controllers && (c.Marked("401") || c.Marked("403")) {
		return Temporal
	}
	return No
}

// metricsAPI fires where the API that is not there is one of metrics.
func metricsAPI(c, e checks.Finding, all View) Strength {
	if slices.ContainsFunc(c.Marks, func(m string) bool { return strings.Contains(m, "metrics.k8s.io") }) {
		return unlessLag(c, e, all)
	}
	return No
}

// always makes a strength a predicate.
func (s Strength) always(_, _ checks.Finding, _ View) Strength { return s }

// byItsTaint fires where what keeps the pods away is the taint of nodes that
// wait for the cloud controller manager.
func byItsTaint(_, e checks.Finding, _ View) Strength {
	if strings.Contains(e.Summary, "node.cloudprovider.kubernetes.io/uninitialized") {
		return Direct
	}
	return No
}

// sameTarget fires for findings about the same thing.
func sameTarget(c, e checks.Finding, _ View) Strength {
	if c.Target.Is(e.Target) {
		return Direct
	}
	return No
}

// shares fires where both findings carry the same mark of that prefix: the same
// name.
func shares(prefix string) func(_, _ checks.Finding, _ View) Strength {
	return func(c, e checks.Finding, _ View) Strength {
		for _, m := range c.Marks {
			if strings.HasPrefix(m, prefix) && e.Marked(m) {
				return Direct
			}
		}
		return No
	}
}

// hasMark fires where the effect carries the mark.
func hasMark(m string) func(_, _ checks.Finding, _ View) Strength {
	return func(_, e checks.Finding, _ View) Strength {
		if e.Marked(m) {
			return CoOccurrence
		}
		return No
	}
}

// both fires where two predicates do, as weakly as the weaker.
func both(a, b func(_, _ checks.Finding, _ View) Strength) func(_, _ checks.Finding, _ View) Strength {
	return func(c, e checks.Finding, v View) Strength { return min(a(c, e, v), b(c, e, v)) }
}

// refusedByCall fires where the cause is a webhook that cannot be called, for
// which the API server answers 500; what it refuses by itself, it answers 403.
func refusedByCall(c, _ checks.Finding, _ View) Strength {
	if c.Marked("by=webhook call") {
		return CoOccurrence
	}
	return No
}

// takes fires where the webhook takes in writes of one of the resources.
func takes(resources ...string) func(_, _ checks.Finding, _ View) Strength {
	return func(c, _ checks.Finding, _ View) Strength {
		if slices.ContainsFunc(resources, func(r string) bool { return c.Marked("takes=" + r) }) {
			return CoOccurrence
		}
		return No
	}
}

// takesResource fires where the webhook takes in the resource of which most
// requests fail.
func takesResource(c, e checks.Finding, _ View) Strength {
	for _, m := range e.Marks {
		if r, ok := strings.CutPrefix(m, "resource="); ok && c.Marked("takes="+r) {
			return Temporal
		}
	}
	return No
}

// silentPart fires for gaps about the thing that is down, about a part of it,
// or, where a member did not answer, about all members together.
func silentPart(c, e checks.Finding, _ View) Strength {
	switch {
	case c.Target.Is(e.Target):
		return Direct
	case c.Target.Component != e.Target.Component || !slices.Contains(reachesNothing, e.Gap.Reason):
		return No
	case c.Target.Name == "" || e.Target.Name == "":
		return CoOccurrence
	}
	return No
}

// comparison fires for gaps of checks that compare members, where only one told
// anything.
func comparison(_, e checks.Finding, _ View) Strength {
	compares := ids{"etcd-db-size-divergence", "etcd-raft-index-lag"}
	if e.Gap.Reason == collectors.NotAsked && slices.Contains(compares, e.Check) {
		return Direct
	}
	return No
}

// itsPod fires where a pod is that of the process that is down: it is named
// after the component and, unless the component is down as a whole, the node.
func itsPod(c, e checks.Finding, _ View) Strength {
	of := map[collectors.Component]string{
		collectors.Etcd: "etcd", collectors.APIServer: "kube-apiserver", collectors.Scheduler: "kube-scheduler", collectors.Controllers: "kube-controller-manager",
	}
	if e.Target.Component == c.Target.Component && (e.Target.Is(c.Target) || c.Target.Name == "") {
		return Direct
	}
	_, pod, _ := strings.Cut(e.Target.Name, "/")
	name := of[c.Target.Component]
	if name == "" || !strings.HasPrefix(pod, name) {
		return No
	}
	if c.Target.Name == "" || strings.HasSuffix(pod, "-"+cmp.Or(c.Target.Node, c.Target.Name)) {
		return Direct
	}
	return No
}

// endedForItsLease fires where a scheduler or a controller manager ended as
// client-go's leader election ends a process that lost its lease: with exit code
// 1. A lease explains its own component only; a slow API server explains both.
func endedForItsLease(c, e checks.Finding, _ View) Strength {
	component := "kube-controller-manager"
	if e.Marked("component=kube-scheduler") {
		component = "kube-scheduler"
	}
	elected := e.Check == "kcm-restarts" || e.Marked("component=kube-controller-manager") || e.Marked("component=kube-scheduler")
	if !elected || !e.Marked("exit=Error (exit code 1)") {
		return No
	}
	if c.Target.Component == collectors.Leases && c.Target.Name != "kube-system/"+component {
		return No
	}
	return CoOccurrence
}

// onWritePath fires where the slow member is one that every write waits for. A
// single slow follower slows nothing but itself.
func onWritePath(c, _ checks.Finding, _ View) Strength {
	if c.Marked(WritePath) || c.Marked(Leader) {
		return CoOccurrence
	}
	return No
}

// probesStore fires where the health check that fails is the one that asks etcd,
// which gives up after two seconds.
func probesStore(c, e checks.Finding, v View) Strength {
	if !e.Marked("check=etcd") && !e.Marked("check=etcd-readiness") {
		return No
	}
	return SamePlace(c, e, v)
}

// Hangs marks a member that lets those who ask it wait.
const Hangs = "hangs"

// hangs fires where the member that is down, or has no leader to ask, keeps its
// clients waiting; one that turns them away costs them nothing. A controller manager that lost its lease
// ends with exit code 1.
func hangs(c, e checks.Finding, _ View) Strength {
	if !c.Marked(Hangs) && c.Check != "etcd-no-leader" || e.Check == "kcm-restarts" && !e.Marked("exit=Error (exit code 1)") {
		return No
	}
	return CoOccurrence
}

// nobodyLeads fires unless the cause is a single member that is cut off from a
// leader, which others have.
func nobodyLeads(c, _ checks.Finding, _ View) Strength {
	if c.Check == "etcd-no-leader" && c.Status != checks.Critical {
		return No
	}
	return Direct
}

// spareless fires where the members that are left are just enough, and no disk
// of theirs is the better explanation.
func spareless(c, e checks.Finding, all View) Strength {
	if spare, ok := c.Numbers["spare"]; !ok || spare != 0 {
		return No
	}
	return disksAreFast(c, e, all)
}

// oddWithout fires where the number of voters is even only because of members
// that the cause is about.
func oddWithout(c, e checks.Finding, all View) Strength {
	return oddBy(e, -all.count(c.Check))
}

// oddWith fires where it is even only because those are missing.
func oddWith(c, e checks.Finding, all View) Strength {
	return oddBy(e, all.count(c.Check))
}

func oddBy(e checks.Finding, n int) Strength {
	if voters := int(e.Number("voters")); voters > 0 && (voters+n)%2 == 1 {
		return Direct
	}
	return No
}

// onlyThoseDown fires where all voters that are down are those of the cause.
func onlyThoseDown(c, e checks.Finding, all View) Strength {
	if int(e.Number("down")) == all.count(c.Check) {
		return Direct
	}
	return No
}

// disksAreFast fires unless a slow disk, which is the better explanation, was seen.
func disksAreFast(_, _ checks.Finding, all View) Strength {
	if all.Bad("etcd-wal-fsync-slow") {
		return No
	}
	return CoOccurrence
}

func ofScheduler(c, e checks.Finding, _ View) Strength {
	return named(c, e, collectors.Scheduler, "kube-scheduler")
}

func ofControllers(c, e checks.Finding, _ View) Strength {
	return named(c, e, collectors.Controllers, "kube-controller-manager")
}

// turnedOut fires where the API server refused to know a component, or what it
// asked, for the most part: a single controller without rights stops no other.
func turnedOut(c, e checks.Finding, all View) Strength {
	if c.Number("unwelcome") < 0.5 {
		return No
	}
	return max(ofScheduler(c, e, all), ofControllers(c, e, all))
}

// expired fires where API servers meet expired certificates and a component is
// not known to them. Whose certificates they are no metric tells.
func expired(c, e checks.Finding, _ View) Strength {
	if c.Marked("expired") && e.Marked("401") {
		return CoOccurrence
	}
	return No
}

// cannotTell fires for gaps that consist of the refusal that the cause is about.
func cannotTell(c, e checks.Finding, _ View) Strength {
	if c.Target.Component == e.Target.Component && leases.RefusalOf(e.Gap) != leases.None {
		return Direct
	}
	return No
}

// cacheEmpty fires where what keeps an instance from being ready is a cache
// that is not filled.
func cacheEmpty(c, e checks.Finding, all View) Strength {
	if e.Marked("check=informer-sync") || e.Marked("check=poststarthook/storage-readiness") {
		return SamePlace(c, e, all)
	}
	return No
}

// turnedAway fires for components that were answered 429.
func turnedAway(_, e checks.Finding, _ View) Strength {
	if e.Marked("429") {
		return CoOccurrence
	}
	return No
}

// asksItself fires for gaps of components that say that they could not reach the
// very instance, or that, on its node, did not get to an answer: kubeadm lets
// schedulers and controller managers ask their own node's API server.
func asksItself(c, e checks.Finding, all View) Strength {
	for _, m := range c.Marks {
		if address, ok := strings.CutPrefix(m, "address="); ok && strings.Contains(e.Gap.Detail, "https://"+address+"/apis/auth") {
			return Direct
		}
	}
	elected := e.Target.Component == collectors.Scheduler || e.Target.Component == collectors.Controllers
	if elected && e.Gap.Reason == collectors.Timeout && strings.Contains(e.Gap.Detail, "/metrics") && node(c.Target) != "" && node(c.Target) == node(e.Target) {
		return CoOccurrence
	}
	return No
}

// forbidden fires for an instance that is answered 401 or 403.
func forbidden(c, e checks.Finding, all View) Strength {
	if c.Marked("401") || c.Marked("403") {
		return sameTarget(c, e, all)
	}
	return No
}

// mayNotBind fires where every binding is forbidden to the scheduler, or so
// much else that bindings will be, too.
func mayNotBind(c, _ checks.Finding, _ View) Strength {
	switch {
	case c.Target.Component != collectors.Scheduler:
		return No
	case c.Marked("may-not-bind"):
		return Direct
	case c.Number("unwelcome") >= 0.5:
		return CoOccurrence
	}
	return No
}

// named fires where each finding is of the component or of its lease.
func named(c, e checks.Finding, component collectors.Component, lease string) Strength {
	is := func(f checks.Finding) bool {
		if f.Target.Component == collectors.Leases {
			return strings.HasSuffix(f.Target.Name, "/"+lease)
		}
		return f.Target.Component == component || f.Target.Component == collectors.Pods
	}
	if is(c) && is(e) {
		return Direct
	}
	return No
}

// reachesNothing are the reasons of gaps that a dead peer leaves.
var reachesNothing = []collectors.Reason{collectors.Unreachable, collectors.NoPath, collectors.Timeout, collectors.ServerError, collectors.Absent}

// throughAPI fires for gaps of what is asked through the API server: all but
// etcd's own endpoints.
func throughAPI(c, e checks.Finding, _ View) Strength {
	if c.Status != checks.Critical || !slices.Contains(reachesNothing, e.Gap.Reason) {
		return No
	}
	if c.Target.Name == "" || c.Target.Is(e.Target) || !strings.Contains(e.Gap.Detail, "etcd://") {
		return CoOccurrence
	}
	return No
}

// tooSlow fires for gaps of requests that went through the API server and got
// no answer in time.
func tooSlow(_, e checks.Finding, _ View) Strength {
	slow := e.Gap.Reason == collectors.Timeout || e.Gap.Reason == collectors.NoPath || e.Gap.Reason == collectors.ServerError
	if slow && !strings.Contains(e.Gap.Detail, "etcd://") {
		return CoOccurrence
	}
	return No
}

// throughEtcd fires for gaps that failed on the way to or in etcd.
func throughEtcd(c, e checks.Finding, all View) Strength {
	if nobodyLeads(c, e, all) != No && slices.Contains(reachesNothing, e.Gap.Reason) {
		return CoOccurrence
	}
	return No
}
