package logs

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
)

// A Severity says how much a signature means.
type Severity int

// The severities.
const (
	Note     Severity = iota // explains other things
	Trouble                  // it hurts, or will
	Failure                  // the component cannot do its work while it lasts
	Terminal                 // one such line is enough: the process ended, or its data is damaged
)

// A Signature is a kind of log line that tells of something.
type Signature struct {
	ID        string
	Component collectors.Component // whom it is about
	Only      cluster.Role         // whose logs are looked at; empty: all
	Severity  Severity
	Few       int    // how many lines it takes to be more than an accident; 0 means 1
	Healthy   string // the title of its check
	Words     string // what it is called in a summary, of several lines
	Means     string // why it matters, sentences
	Next      string // a command
	NextTitle string
	Changes   bool           // Next changes something
	Any       []string       // parts of lines in lower case, one of which must be there
	Match     *regexp.Regexp // must match too; may be nil
	Not       []string       // parts of lines in lower case that make it another thing
	Example   []string       // one line a part or form, for the page and for the tests
}

// Of reports whether logs of the role are looked at. A log that does not say
// whose it is might be anyone's.
func (s *Signature) Of(r cluster.Role) bool { return s.Only == "" || r == "" || s.Only == r }

func (s *Signature) match(text, lower string) bool {
	found := false
	for _, a := range s.Any {
		if strings.Contains(lower, a) {
			found = true
			break
		}
	}
	if !found {
		return false
	}
	for _, n := range s.Not {
		if strings.Contains(lower, n) {
			return false
		}
	}
	return s.Match == nil || s.Match.MatchString(text)
}

// Find returns the signature of an ID.
func Find(id string) (Signature, bool) {
	for _, s := range Signatures {
		if s.ID == id {
			return s, true
		}
	}
	return Signature{}, false
}

const (
	memberHealth   = "etcdctl endpoint status --cluster -w table"
	etcdDisk       = "ktriage explain etcd-wal-fsync-slow"
	apiserverFlags = "kubectl -n kube-system get pod -l component=kube-apiserver -o yaml"
)

// Signatures lists what is looked for, by component. Sources of the texts:
// RULES.md section 3, that is etcd 3.3 to 3.7 and Kubernetes 1.14 to 1.37.
var Signatures = slices.Concat(usual, rarer)

// usual are those of troubles.
var usual = []Signature{
	// etcd
	{ID: "etcd-log-slow-apply", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Trouble, Few: 3,
		Healthy: "no etcd log tells of requests that took too long", Words: "requests that took too long",
		Means: "A request took over 100 ms in etcd. The disk, the processor or a request for very many keys is behind it; one member alone with such lines is the slow one.",
		Next:  etcdDisk, NextTitle: "see whether the disk is behind it",
		Any: []string{"took too long"}, Not: []string{"slowest request took too long", "waiting for readindex", "failed to send out heartbeat", "heartbeat on time"},
		Example: []string{`{"level":"warn","ts":"2026-01-02T03:04:05.000Z","caller":"txn/util.go:93","msg":"apply request took too long","took":"1.3s","expected-duration":"100ms","prefix":"read-only range ","request":"key:\"/registry/pods/\" ","response":"range_response_count:1"}`,
			`2020-10-20 12:15:22.876237 W | etcdserver: read-only range request "key:\"/registry/storageclasses\" " with result "range_response_count:0 size:6" took too long (2.285637356s) to execute`}},
	{ID: "etcd-log-slow-fsync", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Failure,
		Healthy: "no etcd log tells of a disk that takes over a second", Words: "syncs of the write-ahead log that took over a second",
		Means: "The disk took over a second to take a write of etcd's log. Every write of the cluster waits for a majority of such syncs.",
		Next:  etcdDisk, NextTitle: "see which member's disk it is",
		Any: []string{"slow fdatasync", "sync duration of"},
		Example: []string{`{"level":"warn","ts":"2026-01-02T03:04:05.000Z","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"1.2s","expected-duration":"1s"}`,
			`2020-10-20 12:15:20.018100 W | wal: sync duration of 1.018100466s, expected less than 1s`}},
	{ID: "etcd-log-late-heartbeat", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Trouble, Few: 3,
		Healthy: "no etcd leader logs that its heartbeats are late", Words: "heartbeats that the leader sent late",
		Means: "The leader was too busy, or waited too long for its disk, to send heartbeats. Followers that hear none elect another leader.",
		Next:  etcdDisk, NextTitle: "see whether the disk is behind it",
		Any: []string{"failed to send out heartbeat on time"},
		Example: []string{`{"level":"warn","ts":"2026-01-02T03:04:05.000Z","caller":"etcdserver/raft.go:416","msg":"leader failed to send out heartbeat on time; took too long, leader is overloaded likely from slow disk","to":"2df052a7ad3e2544","heartbeat-interval":"100ms"}`,
			`2018-01-02 03:04:05.000000 W | etcdserver: failed to send out heartbeat on time (exceeded the 100ms timeout for 120ms)`}},
	{ID: "etcd-log-readindex-slow", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Trouble, Few: 3,
		Healthy: "no etcd member logs that it waits for its leader", Words: "waits for the leader's word on a read",
		Means: "A member waited long for the leader to confirm a read: the leader is slow, or cannot be reached.",
		Next:  memberHealth, NextTitle: "see who leads",
		Any:     []string{"waiting for readindex response took too long"},
		Example: []string{`{"level":"warn","ts":"2026-01-02T03:04:05.000Z","caller":"etcdserver/v3_server.go:852","msg":"waiting for ReadIndex response took too long, retrying","sent-request-id":1,"retry-timeout":"500ms"}`}},
	{ID: "etcd-log-readindex-timeout", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Failure,
		Healthy: "no etcd member logs that its leader did not answer", Words: "reads for which the leader did not answer",
		Means: "A member got no word from the leader for a read: there is no leader, or no way to it.",
		Next:  memberHealth, NextTitle: "see who leads",
		Any:     []string{"timed out waiting for read index response"},
		Example: []string{`{"level":"warn","ts":"2026-01-02T03:04:05.000Z","caller":"etcdserver/v3_server.go:814","msg":"timed out waiting for read index response (local node might have slow network)","timeout":"7s"}`}},
	{ID: "etcd-log-election", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Trouble, Few: 4,
		Healthy: "no etcd log tells of one election after another", Words: "elections",
		Means: "The members elected a leader. Once after a start that is normal; again and again means that they lose sight of it: slow disk, network or processor.",
		Next:  memberHealth, NextTitle: "see who leads and at what term",
		Any: []string{"is starting a new election at term", "lost leader", "stepped down to follower since quorum is not active"},
		Example: []string{`{"level":"info","ts":"2026-01-02T03:04:05.000Z","logger":"raft","caller":"etcdserver/zap_raft.go:77","msg":"8e9e05c52164694d is starting a new election at term 7"}`,
			`2018-01-02 03:04:05.000000 W | raft: 8e9e05c52164694d stepped down to follower since quorum is not active`}},
	{ID: "etcd-log-request-timeout", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Failure, Few: 3,
		Healthy: "no etcd log tells of requests that timed out", Words: "requests that timed out in etcd",
		Means: "A write found no majority in time: no leader, a lost connection, or a disk that does not keep up.",
		Next:  memberHealth, NextTitle: "see who leads and who is behind",
		Any:     []string{"etcdserver: request timed out"},
		Example: []string{`{"level":"warn","ts":"2026-01-02T03:04:05.000Z","caller":"etcdserver/util.go:123","msg":"failed to apply request","error":"etcdserver: request timed out, possibly due to previous leader failure"}`}},
	{ID: "etcd-log-nospace", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Failure,
		Healthy: "no etcd log tells of a store that is out of space", Words: "the NOSPACE alarm",
		Means: "The database reached its quota and etcd refuses every write, until the alarm is taken back: that the database is small again, or the quota larger, does not do that.",
		Next:  "etcdctl alarm list", NextTitle: "see whether the alarm still stands; if there is room again, etcdctl alarm disarm",
		Any: []string{"exceeded backend quota", "mvcc: database space exceeded", "etcdserver: no space", "alarm nospace", `"alarm":"nospace"`, "false due to an alarm"},
		Example: []string{`{"level":"warn","ts":"2022-03-13T17:21:30.783-0700","caller":"etcdserver/util.go:123","msg":"failed to apply request","took":"10.558µs","request":"header:<ID:1 > ","response":"","error":"etcdserver: no space"}`,
			`2018-01-02 03:04:05.000000 W | etcdserver: alarm NOSPACE raised by peer 8e9e05c52164694d`}},
	{ID: "etcd-log-too-many-requests", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Failure, Few: 3,
		Healthy: "no etcd log tells of requests that were turned away", Words: "requests that etcd turned away",
		Means: "Over 5000 agreed entries wait to be applied: the disk does not keep up, or a defragmentation is under way.",
		Next:  memberHealth, NextTitle: "compare the raft index with the applied index",
		Any:     []string{"etcdserver: too many requests"},
		Example: []string{`2020-01-02 03:04:05.000000 W | etcdserver/api/v3rpc: failed to put: etcdserver: too many requests`}},
	{ID: "etcd-log-request-too-large", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Trouble,
		Healthy: "no etcd log tells of an object that is too large", Words: "writes that were too large",
		Means: "A client writes an object of over 1.5 MiB, which etcd refuses.",
		Next:  "kubectl get --raw /metrics | grep ^apiserver_resource_size_estimate_bytes | sort -k2 -grn | head", NextTitle: "find the resources with the most bytes",
		Any:     []string{"etcdserver: request is too large"},
		Example: []string{`2020-01-02 03:04:05.000000 W | etcdserver: failed to put: etcdserver: request is too large`}},
	{ID: "etcd-log-corrupt", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Terminal,
		Healthy: "no etcd log tells of data that differs between members", Words: "damaged or diverging data",
		Means: "A member found its data damaged, or unlike that of the others. What it serves is not to be trusted; replace it from a healthy one, and do not restart more than one.",
		Next:  "etcdctl endpoint hashkv --cluster -w table", NextTitle: "see which member differs, at one revision",
		Any:   []string{"found data inconsistency with peers", "found hash mismatch", "checkinitialhashkv failed", "corrupt cluster", "failed to find revision pair", "mismatched hashes", "'s hash "},
		Match: regexp.MustCompile(`(?i)inconsistency|mismatch|checkInitialHashKV|corrupt|revision pair|'s hash \d+ != `),
		Example: []string{`{"level":"fatal","ts":"2022-06-09T09:22:13.472Z","caller":"mvcc/kvstore_txn.go:150","msg":"range failed to find revision pair","revision-main":165519108,"revision-sub":0}`,
			`2018-01-02 03:04:05.000000 C | etcdserver: checkInitialHashKV failed: found data inconsistency with peers`}},
	{ID: "etcd-log-snap-db-missing", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Terminal,
		Healthy: "no etcd log tells of a missing snapshot", Words: "a missing snapshot",
		Means: "The data directory lacks the database that its log begins from. The member does not start; it must be rebuilt.",
		Next:  "etcdctl member list -w table", NextTitle: "see whether the others make a majority before rebuilding it",
		Any:     []string{"failed to find [snapshot-index].snap.db", "failed to find database snapshot file"},
		Example: []string{`2018-01-02 03:04:05.000000 C | etcdserver: failed to find database snapshot file (snap: snapshot file doesn't exist)`}},
	{ID: "etcd-log-wal-crc", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Terminal,
		Healthy: "no etcd log tells of a broken write-ahead log", Words: "a broken write-ahead log",
		Means: "The write-ahead log is torn, as after a power failure or a full disk. The member does not start.",
		Next:  "etcdctl member list -w table", NextTitle: "see whether the others make a majority before rebuilding it",
		Any:     []string{"walpb: crc mismatch", "max entry size limit exceeded", "failed to open wal"},
		Example: []string{`{"level":"fatal","ts":"2026-01-02T03:04:05.000Z","caller":"etcdserver/storage.go:95","msg":"failed to open WAL","error":"walpb: crc mismatch"}`}},
	{ID: "etcd-log-disk-full", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Terminal,
		Healthy: "no etcd log tells of a full disk", Words: "writes that met a full disk",
		Means: "The file system under etcd is full: etcd ends, and may leave a torn log.",
		Next:  "df -h /var/lib/etcd", NextTitle: "on the node, see what fills it",
		Any:     []string{"no space left on device"},
		Example: []string{`{"level":"panic","ts":"2026-01-02T03:04:05.000Z","caller":"etcdserver/raft.go:234","msg":"failed to save Raft hard state and entries","error":"write /var/lib/etcd/member/wal/0.tmp: no space left on device"}`}},
	{ID: "etcd-log-peer-unhealthy", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Trouble, Few: 3,
		Healthy: "no etcd log tells of a peer that does not answer", Words: "probes of a peer that failed",
		Means: "A member cannot reach another: it is down, or the network between them is.",
		Next:  memberHealth, NextTitle: "see who answers",
		Any: []string{"prober detected unhealthy status", "health check for peer"},
		Example: []string{`{"level":"warn","ts":"2026-01-02T03:04:05.000Z","caller":"rafthttp/probing_status.go:68","msg":"prober detected unhealthy status","round-tripper-name":"ROUND_TRIPPER_RAFT_MESSAGE","remote-peer-id":"2df052a7ad3e2544","rtt":"0s","error":"dial tcp 10.0.0.2:2380: connect: connection refused"}`,
			`2018-01-02 03:04:05.000000 W | rafthttp: health check for peer 2df052a7ad3e2544 could not connect: dial tcp 10.0.0.2:2380: i/o timeout`}},
	{ID: "etcd-log-clock-drift", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Trouble, Few: 3,
		Healthy: "no etcd log tells of clocks that differ", Words: "probes that found another clock",
		Means: "The clocks of two members differ by more than a second.",
		Next:  "chronyc tracking", NextTitle: "on each node, see whether its clock is kept",
		Any:     []string{"prober found high clock drift", "the clock difference against peer"},
		Example: []string{`2018-01-02 03:04:05.000000 W | rafthttp: the clock difference against peer 2df052a7ad3e2544 is too high [4m18.4s > 1s]`}},
	{ID: "etcd-log-peer-lost", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Trouble, Few: 4,
		Healthy: "no etcd log tells of connections to peers that break", Words: "connections to a peer that broke",
		Means: "Connections between members break: a member restarts, or the network drops them.",
		Next:  memberHealth, NextTitle: "see who answers",
		Any:     []string{"lost tcp streaming connection with remote peer", "lost the tcp streaming connection with peer", "peer became inactive"},
		Example: []string{`{"level":"warn","ts":"2026-01-02T03:04:05.000Z","caller":"rafthttp/stream.go:421","msg":"lost TCP streaming connection with remote peer","stream-reader-type":"stream MsgApp v2","remote-peer-id":"2df052a7ad3e2544","error":"EOF"}`}},
	{ID: "etcd-log-buffer-full", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Trouble, Few: 3,
		Healthy: "no etcd member logs that it drops messages", Words: "messages to a peer that were dropped",
		Means: "Messages to a peer were dropped since it does not take them: it hangs, or the network is too slow.",
		Next:  memberHealth, NextTitle: "see who is behind",
		Any:     []string{"dropped internal raft message", "buffer is full (overloaded network)"},
		Example: []string{`{"level":"warn","ts":"2026-01-02T03:04:05.000Z","caller":"rafthttp/peer.go:267","msg":"dropped internal Raft message since sending buffer is full (overloaded network)","message-type":"MsgHeartbeat"}`}},
	{ID: "etcd-log-clusterid", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Failure, Few: 3,
		Healthy: "no etcd log tells of members of another cluster", Words: "requests of a member of another cluster",
		Means: "A member that belongs to another cluster talks to this one: it was restored, or bootstrapped anew, beside the old.",
		Next:  "etcdctl member list -w json", NextTitle: "compare the cluster IDs of the members",
		Any:     []string{"cluster id mismatch"},
		Example: []string{`2018-01-02 03:04:05.000000 E | rafthttp: request sent was ignored (cluster ID mismatch: peer[2df0]=1, local=2)`}},
	{ID: "etcd-log-tls-reject", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Trouble, Few: 3,
		Healthy: "no etcd log tells of clients whose certificate is not accepted", Words: "connections that were rejected",
		Means: "Somebody's certificate is not accepted: it has expired, or is of another authority. Rejections with EOF are health checks and are not counted.",
		Next:  "openssl x509 -noout -dates -subject -in /etc/kubernetes/pki/apiserver-etcd-client.crt", NextTitle: "on the node, see the certificate's dates",
		Any: []string{"rejected connection"}, Not: []string{`"error":"eof"`, `error "eof"`},
		Example: []string{`{"level":"warn","ts":"2026-01-02T03:04:05.000Z","caller":"embed/config_logging.go:169","msg":"rejected connection on client endpoint","remote-addr":"10.0.0.9:4000","server-name":"","error":"remote error: tls: bad certificate"}`}},
	{ID: "etcd-log-removed", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Terminal,
		Healthy: "no etcd log tells of a member that was removed", Words: "a member that was removed",
		Means: "A member was taken out of the cluster and still runs. It must be wiped and joined anew.",
		Next:  "etcdctl member list -w table", NextTitle: "see who belongs to the cluster",
		Any:     []string{"because it was removed", "has been permanently removed from the cluster"},
		Example: []string{`2018-01-02 03:04:05.000000 E | rafthttp: failed to find member; the member has been permanently removed from the cluster`}},
	{ID: "etcd-log-fd", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Trouble,
		Healthy: "no etcd log tells of too few file descriptors", Words: "file descriptors",
		Means: "Most of the file descriptors that etcd may open are open: soon it accepts no connection.",
		Next:  "cat /proc/$(pgrep -x etcd)/limits", NextTitle: "on the node, see the limit",
		Any:     []string{"80% of file descriptors are used", "80% of the file descriptor limit is used", "file descriptor limit of etcd process is too low"},
		Example: []string{`2018-01-02 03:04:05.000000 W | etcdserver: 80% of the file descriptor limit is used [used = 820, limit = 1024]`}},
	{ID: "etcd-log-bootstrap-learner", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Terminal,
		Healthy: "no etcd log tells of too many learners", Words: "too many learners",
		Means: "An upgrade from 3.5 found members that are still kept as learners, and refuses to start. Upgrade by way of 3.5.20 or later.",
		Next:  "etcdctl member list -w table", NextTitle: "see who is a learner",
		Any:     []string{"membership: too many learner member"},
		Example: []string{`{"level":"fatal","ts":"2026-01-02T03:04:05.000Z","caller":"etcdmain/etcd.go:204","msg":"discovery failed","error":"membership: too many learner members in cluster"}`}},
	{ID: "etcd-log-version-newer", Component: collectors.Etcd, Only: cluster.RoleEtcd, Severity: Terminal,
		Healthy: "no etcd log tells of data of a newer version", Words: "data of a newer version",
		Means: "The data is of a newer etcd than the one that was started: it was downgraded without the procedure for it.",
		Next:  "etcdctl version", NextTitle: "start the newer version again; then follow etcd's downgrade procedure",
		Any:     []string{"cannot detect storage schema version", "invalid downgrade;", "cluster cannot be downgraded"},
		Example: []string{`2018-01-02 03:04:05.000000 C | etcdserver/membership: cluster cannot be downgraded (current version: 3.2.0 is lower than determined cluster version: 3.3).`}},

	// API server
	{ID: "apiserver-log-etcd-err", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Failure, Few: 3,
		Healthy: "no API server logs errors of etcd", Words: "errors of etcd",
		Means: "The API server's requests fail in etcd. The text tells how.",
		Next:  memberHealth, NextTitle: "see what etcd says of itself",
		Any:     []string{"etcdserver: request timed out", "etcdserver: leader changed", "etcdserver: too many requests", "etcdserver: no leader", "mvcc: database space exceeded", "etcdserver: request is too large"},
		Example: []string{`E0102 03:04:05.000000       1 status.go:71] "Unhandled Error" err="apiserver received an error that is not an metav1.Status: &status.Error{s:(*status.Status)(0x1)}: rpc error: code = Unavailable desc = etcdserver: request timed out"`}},
	{ID: "apiserver-log-etcd-dial", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Failure, Few: 3,
		Healthy: "every API server reaches etcd", Words: "connections to etcd that failed",
		Means: "The API server does not get through to etcd: it is down, or one of the two certificates is not accepted.",
		Next:  memberHealth, NextTitle: "see whether etcd answers",
		Any: []string{"createtransport failed to connect to", "transport: error while dialing", "transport: authentication handshake failed"}, Match: regexp.MustCompile(`2379|etcd`),
		Example: []string{`W0102 03:04:05.000000       1 logging.go:55] [core] [Channel #1 SubChannel #2]grpc: addrConn.createTransport failed to connect to {Addr: "127.0.0.1:2379"}. Err: connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:2379: connect: connection refused"`}},
	{ID: "apiserver-log-compact-fail", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble, Few: 3,
		Healthy: "no API server logs that compaction fails", Words: "compactions that failed",
		Means: "The API server compacts etcd every five minutes and fails to: the database grows.",
		Next:  "ktriage explain etcd-compaction-stalled", NextTitle: "see when the last compaction was",
		Any: []string{"compact failed"}, Match: regexp.MustCompile(`etcd: endpoint .* compact failed`),
		Example: []string{`E0102 03:04:05.000000       1 compact.go:124] etcd: endpoint ([https://127.0.0.1:2379]) compact failed: etcdserver: request timed out`}},
	{ID: "apiserver-log-timeout", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble, Few: 10, // three lines tell of one request
		Healthy: "no API server logs requests that ran out of time", Words: "requests that ran out of time",
		Means: "Requests do not end in time, or their clients give up.",
		Next:  "ktriage explain apiserver-etcd-latency", NextTitle: "see whether it is etcd that they wait for",
		Any:     []string{"timeout or abort while handling", "http: handler timeout"},
		Example: []string{`E0102 03:04:05.000000       1 wrap.go:53] "Timeout or abort while handling" logger="UnhandledError" method="GET" URI="/api/v1/pods" auditID="x"`}},
	{ID: "apiserver-log-panic", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble,
		Healthy: "no API server logs a panic", Words: "panics",
		Means: "The API server met a bug, or a request that timed out in a way that older versions log as a panic.",
		Next:  "kubectl version", NextTitle: "compare the version with the releases' known bugs",
		Any: []string{"apiserver panic'd", "observed a panic"}, Not: []string{"net/http: abort handler", "timeout or abort"},
		Example: []string{`E0102 03:04:05.000000       1 runtime.go:79] Observed a panic: "invalid memory address or nil pointer dereference"`}},
	{ID: "apiserver-log-webhook-closed", Component: collectors.APIServer, Severity: Failure, Few: 1,
		Healthy: "no log tells of admission webhooks that cannot be called", Words: "calls of an admission webhook that failed",
		Means: "The API server cannot call an admission webhook, and refuses the requests that it is registered for. A timeout to a pod's address that others reach is often a firewall between the control plane and the nodes, which on managed clusters lets few ports through.",
		Next:  "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations", NextTitle: "find its registration: the Service behind it, and its failurePolicy",
		Any: []string{"failed calling webhook, failing closed", "failed calling webhook \"", "failed to call webhook:"},
		Example: []string{`Error from server (InternalError): Internal error occurred: failed calling webhook "check-ignore-label.gatekeeper.sh": Post https://gatekeeper-webhook-service.gatekeeper-system.svc:443/v1/admitlabel?timeout=3s: dial tcp 10.2.0.3:8443: i/o timeout`,
			`W0102 03:04:05.000000       1 dispatcher.go:225] Failed calling webhook, failing closed x.example.com: failed calling webhook "x.example.com": failed to call webhook: Post "https://x.ns.svc:443/m?timeout=10s": no endpoints available for service "x"`}},
	{ID: "apiserver-log-webhook-open", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble, Few: 3,
		Healthy: "no API server passes over a webhook that fails", Words: "calls of a webhook that failed and were passed over",
		Means: "A webhook cannot be called and its policy is not applied; each such request waited for it in vain.",
		Next:  "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations", NextTitle: "find its registration",
		Any:     []string{"failed calling webhook, failing open"},
		Example: []string{`W0102 03:04:05.000000       1 dispatcher.go:192] Failed calling webhook, failing open x.example.com: failed calling webhook "x.example.com": Post "https://x.ns.svc:443/": context deadline exceeded`}},
	{ID: "apiserver-log-apiservice", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble, Few: 3,
		Healthy: "no API server logs an aggregated API that does not answer", Words: "answers of an aggregated API that failed",
		Means: "An aggregated API does not answer. Discovery is incomplete: namespaces cannot be deleted, quota and garbage collection stall.",
		Next:  "kubectl get apiservices | grep -v True", NextTitle: "see which API it is",
		Any:     []string{"failing or missing response from http", "loading openapi spec for \""},
		Match:   regexp.MustCompile(`failing or missing response from https?://|loading OpenAPI spec for ".*" failed with`),
		Example: []string{`E0102 03:04:05.000000       1 available_controller.go:460] v1beta1.metrics.k8s.io failed with: failing or missing response from https://10.96.1.2:443/apis/metrics.k8s.io/v1beta1: Get "https://10.96.1.2:443/apis/metrics.k8s.io/v1beta1": dial tcp 10.96.1.2:443: i/o timeout`}},
	{ID: "apiserver-log-authn", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble, Few: 3,
		Healthy: "no API server logs credentials that it does not accept", Words: "requests whose credentials were not accepted",
		Means: "A client comes with a certificate or token that has expired or is not known. Which client it is, the audit log tells.",
		Next:  "kubeadm certs check-expiration", NextTitle: "on a control-plane node, see whether one of the plane's own certificates has expired",
		Any:     []string{"unable to authenticate the request"},
		Example: []string{`E0102 03:04:05.000000       1 authentication.go:73] "Unable to authenticate the request" err="[x509: certificate has expired or is not yet valid: current time 2026-01-02T03:04:05Z is after 2026-01-01T00:00:00Z, invalid bearer token]"`}},
	{ID: "apiserver-log-cert", Component: collectors.Certificates, Severity: Failure,
		Healthy: "no log tells of a certificate that has expired", Words: "an expired certificate",
		Means: "A certificate that is shown has expired, or a clock is wrong. After a renewal the file is new and the process still shows the old one until it is restarted: compare what is served with what is on disk.",
		Next:  "openssl s_client -connect HOST:6443 </dev/null 2>/dev/null | openssl x509 -noout -dates; openssl x509 -noout -dates -in /etc/kubernetes/pki/apiserver.crt", NextTitle: "compare the certificate that is served with the one on disk; if they differ, restart the static pod",
		Any:     []string{"x509: certificate has expired or is not yet valid"},
		Example: []string{`x509: certificate has expired or is not yet valid: current time 2024-09-18T12:18:40Z is after 2024-09-10T12:29:33Z`}},
	{ID: "cert-check-expired", Component: collectors.Certificates, Severity: Terminal, // what kubeadm certs check-expiration prints
		Healthy: "kubeadm finds no certificate that has expired", Words: "certificates that have expired",
		Means: "Certificates of the control plane are past their date, by kubeadm's own account. What shows them is not believed by anybody: the API server, etcd and the components stop talking to each other, and none starts again.",
		Next:  "kubeadm certs renew all", NextTitle: "on each control-plane node, renew them; then restart the four static pods, and renew the kubeconfigs in use", Changes: true,
		Any: []string{"<invalid>"}, Match: regexp.MustCompile(`^\S+\s+[A-Z][a-z]{2} \d\d, \d{4} \d\d:\d\d UTC\s+<invalid>`),
		Example: []string{`apiserver                  Jul 18, 2024 08:22 UTC   <invalid>       ca                      no`}},
	{ID: "apiserver-log-429", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble, Few: 2,
		Healthy: "no API server logs requests that it turned away", Words: "requests that were answered 429",
		Means: "The API server turns requests away. After milliseconds of waiting that is its fairness; within a fraction of one, for lists from the cache (resourceVersion=0), its watch cache is not ready, as after a change of etcd's leader: then load is not the reason, and other requests work.",
		Next:  "kubectl get --raw /readyz?verbose", NextTitle: "see whether the instance is ready",
		Any: []string{"too many requests, please try again later", "resp=429", " 429 ["}, Match: regexp.MustCompile(`Too many requests, please|resp=429|\(\S+\) 429 \[`),
		Example: []string{`I1126 22:24:17.822162      18 wrap.go:42] GET /api/v1/endpoints?limit=500&resourceVersion=0: (504.009µs) 429 [[kube-proxy/v2.11.19 (linux/amd64) kubernetes/1e57adb] 203.0.113.9:52472]`}},
	{ID: "apiserver-log-slow-trace", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble, Few: 3,
		Healthy: "no API server logs one slow request after another", Words: "requests slow enough to be traced",
		Means: "Requests take long; the steps of each trace tell where: reading from storage (etcd, or very many objects), or writing the answer (a large list, a slow client). Large lists cost memory for every client that asks for one.",
		Next:  "kubectl get --raw /metrics | grep ^apiserver_storage_objects | sort -k2 -g | tail", NextTitle: "see of what there are so many objects",
		Any: []string{"trace["}, Match: regexp.MustCompile(`Trace\[\d+\]: "(List|Get|Create|Update|Patch|Delete|GuaranteedUpdate|SerializeObject)\b?.*total time`),
		Example: []string{`I1018 02:29:20.448104       1 trace.go:76] Trace[1455099037]: "List /api/v1/configmaps" (started: 2018-10-18 02:29:08.626741462 +0000 UTC m=+50391.860240414) (total time: 11.821327899s):`}},
	{ID: "apiserver-log-watchcache", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble, Few: 3,
		Healthy: "no API server logs trouble with its watch cache", Words: "a watch cache that is not ready",
		Means: "The watch cache of a resource is filled anew, or drops watchers that do not keep up.",
		Next:  "kubectl get --raw /readyz?verbose", NextTitle: "see whether the instance is ready",
		Any:     []string{"unexpected listandwatch error", "storage is (re)initializing", "watcher close due to unresponsiveness", "terminating all watchers from cacher"},
		Example: []string{`W0102 03:04:05.000000       1 reflector.go:539] storage/cacher.go:/pods: failed to list *core.Pod: storage is (re)initializing`}},
	{ID: "apiserver-log-too-large-rv", Component: collectors.APIServer, Severity: Trouble, // not in RULES.md; from kubernetes#94315
		Healthy: "no client logs that the server's data is older than its own", Words: "lists for a later version than the server has",
		Means: "A client asks for a resourceVersion that the server has not reached. A gap of some revisions closes by itself; one that stays, as of 750 against 1, means that the client saw another store, as before a restore or behind an API server with other data: it does not recover until it is restarted.",
		Next:  "etcdctl endpoint status --cluster -w table", NextTitle: "see whether all members are at one revision; if they are, restart the client",
		Any: []string{"too large resource version"}, Not: []string{"error getting keys"},
		Example: []string{`E0828 13:04:17.404984       6 reflector.go:178] x.go:237: Failed to list *v1.ReplicationController: Timeout: Too large resource version: 750, current: 1`}},
	{ID: "apiserver-log-size-stats", Component: collectors.APIServer, Severity: Note, // not in RULES.md; from kubernetes#134343
		Healthy: "no API server logs that it could not count its objects", Words: "counts of objects that failed",
		Means: "Kubernetes 1.34 measures the size of objects a little ahead of its watch cache, and logs that it could not. It harms nothing.",
		Next:  "kubectl version", NextTitle: "see whether a later patch is quiet",
		Any:     []string{"error getting keys"},
		Example: []string{`I0930 16:26:10.115049       1 stats.go:143] "Error getting keys" err="Timeout: Too large resource version: 24288, current: 24173"`}},
	{ID: "apiserver-log-cache-inconsistent", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Failure,
		Healthy: "no API server logs a cache unlike etcd", Words: "caches found to differ from etcd",
		Means: "The API server found that its watch cache differs from etcd: what it serves is wrong until the cache is filled anew.",
		Next:  "etcdctl endpoint hashkv --cluster -w table", NextTitle: "see whether the members agree",
		Any:     []string{"cache consistency check failed"},
		Example: []string{`E0102 03:04:05.000000       1 delegator.go:381] "Cache consistency check failed" group="" resource="pods"`}},
	{ID: "apiserver-log-lease-watch", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble, Few: 3, // from kubernetes#85221
		Healthy: "no API server refuses the next page of a list again and again", Words: "pages of a list that were refused with 400",
		Means:   "A client reads a list page by page, and the second page is refused every time: it never gets the list and works with old data. If it is the controller manager and the list is of leases, nodes turn NotReady although their kubelets are well; that it leads does not help.",
		Changes: true, Next: "kubectl -n kube-system delete pod -l component=kube-controller-manager", NextTitle: "let the client begin anew, which its next start does",
		Any: []string{"continue="}, Match: regexp.MustCompile(`GET /\S*[?&]continue=\S* \(\S+\) 400 \[`),
		Example: []string{`I1108 06:04:52.297772       1 httplog.go:90] GET /apis/coordination.k8s.io/v1/leases?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEi&limit=500&resourceVersion=15934785: (722.845µs) 400 [kube-controller-manager/v1.18.0 (linux/amd64) kubernetes/62f66ea/shared-informers [::1]:40694]`}},
	{ID: "apiserver-log-readyz", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble, Few: 3,
		Healthy: "no API server logs failing health checks", Words: "health checks that failed",
		Means: "The API server finds itself not healthy. The line names the check.",
		Next:  "kubectl get --raw /readyz?verbose", NextTitle: "see whether it still fails",
		Any: []string{"check failed"}, Match: regexp.MustCompile(`(readyz|livez|healthz) check failed|check failed: (readyz|livez|healthz)`),
		Example: []string{`I0102 03:04:05.000000       1 healthz.go:261] etcd,poststarthook/start-apiextensions-controllers check failed: readyz`}},
	{ID: "apiserver-log-storage-hook", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Terminal,
		Healthy: "no API server fails to start", Words: "hooks of its start that failed",
		Means: "A hook that runs when the API server starts failed, and it ends.",
		Next:  memberHealth, NextTitle: "see whether etcd answers",
		Any: []string{"poststarthook \""}, Match: regexp.MustCompile(`PostStartHook "[^"]+" failed`),
		Example: []string{`F0102 03:04:05.000000       1 hooks.go:203] PostStartHook "rbac/bootstrap-roles" failed: unable to initialize roles: timed out waiting for the condition`}},
	{ID: "apiserver-log-audit", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Trouble, Few: 3,
		Healthy: "no API server logs that it cannot write its audit log", Words: "audit events that were lost",
		Means: "Audit events cannot be written. In blocking mode requests wait for it.",
		Next:  apiserverFlags, NextTitle: "see the audit flags",
		Any:     []string{"error in audit plugin '"},
		Example: []string{`E0102 03:04:05.000000       1 metrics.go:110] Error in audit plugin 'webhook' affecting 400 audit events: Post "https://audit.example.com": context deadline exceeded`}},
	{ID: "apiserver-log-kms", Component: collectors.APIServer, Only: cluster.RoleAPIServer, Severity: Failure, Few: 3,
		Healthy: "no API server logs that encryption fails", Words: "encryptions that failed",
		Means: "Secrets cannot be encrypted or decrypted: the key service does not answer, or the key is lost.",
		Next:  "kubectl get --raw /readyz/kms-providers", NextTitle: "see what it says of the key service",
		Any: []string{"failed to decrypt", "failed to encrypt", "kms-providers"}, Match: regexp.MustCompile(`failed to (encrypt|decrypt).*(kms|envelope)|kms-providers.* failed`),
		Example: []string{`E0102 03:04:05.000000       1 status.go:71] apiserver received an error that is not an metav1.Status: failed to decrypt DEK, error: rpc error: code = Unavailable desc = kms plugin`}},

	// Whoever lives on the API server
	{ID: "le-renew-failed", Component: collectors.Leases, Severity: Trouble,
		Healthy: "no log tells of a lease that could not be renewed", Words: "leases that could not be renewed",
		Means: "The leader did not renew its lease in time, and ends. The API server did not answer, or not soon enough: etcd, the API server itself or the load balancer between are behind it, not this process.",
		Next:  "ktriage explain lease-flapping", NextTitle: "see how often the lease changed hands",
		Any:     []string{"failed to renew lease"},
		Example: []string{`I0913 07:32:42.371235       1 leaderelection.go:277] failed to renew lease kube-system/kube-controller-manager: timed out waiting for the condition`, `I0102 03:04:05.000000       1 leaderelection.go:299] "Failed to renew lease" lock="kube-system/kube-scheduler" err="context deadline exceeded"`}},
	{ID: "le-lost", Component: collectors.Leases, Severity: Trouble,
		Healthy: "no log tells of a leader that lost its lease", Words: "leadership that was lost",
		Means: "The leader lost its lease and ended, to be started again as a candidate. Until another leads nothing is scheduled, or reconciled.",
		Next:  "ktriage explain lease-flapping", NextTitle: "see how often the lease changed hands",
		Any:     []string{"leaderelection lost", "lost master"},
		Example: []string{`F0913 07:32:42.371370       1 controllermanager.go:279] leaderelection lost`}},
	{ID: "le-retrieve", Component: collectors.Leases, Severity: Trouble, Few: 2,
		Healthy: "no log tells of a lease that could not be read", Words: "reads of the lease that failed",
		Means: "A candidate or leader could not read its lease. The error tells why: an API server that does not answer in time is the victim of etcd, of overload or of a load balancer.",
		Next:  "ktriage explain apiserver-etcd-latency", NextTitle: "see whether the API server waits for etcd",
		Any:     []string{"error retrieving resource lock", "error retrieving lease lock"},
		Example: []string{`E0227 22:49:30.007315       1 leaderelection.go:330] error retrieving resource lock kube-system/kube-controller-manager: Get "https://127.0.0.1:6443/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager?timeout=5s": net/http: request canceled (Client.Timeout exceeded while awaiting headers)`}},
	{ID: "le-update", Component: collectors.Leases, Severity: Trouble, Few: 3,
		Healthy: "no log tells of a lease that could not be written", Words: "writes of the lease that failed",
		Means: "The lease could not be written. A conflict now and then is a race that was lost; every candidate with a conflict every time means that what they read is not what is stored: compare etcd's members.",
		Next:  "etcdctl endpoint status --cluster -w table", NextTitle: "see whether all members are at one revision",
		Any:     []string{"failed to update lock", "failed to update lease"},
		Example: []string{`E1116 15:01:02.492690    5299 leaderelection.go:263] Failed to update lock: Operation cannot be fulfilled on endpoints "kube-scheduler": the object has been modified; please apply your changes to the latest version and try again`}},
	{ID: "refl-watch", Component: collectors.APIServer, Severity: Trouble, // one line is common at every start: see Few
		Few:     1,
		Healthy: "no log tells of a client that cannot read what it works on", Words: "lists and watches that failed",
		Means: "A component cannot list or watch a type of object, and goes on with what it knew: what it decides, and the reasons that it gives, are not to be trusted until it can.",
		Next:  "kubectl auth can-i list pods --as=system:kube-scheduler", NextTitle: "see whether it may read them; if so, restart the instance that leads",
		Any: []string{"failed to watch", "failed to list *"}, Match: regexp.MustCompile(`[Ff]ailed to (list|watch) \*?[\w.]+|"Failed to watch"`),
		Not:     []string{"too large resource version", "storage is (re)initializing"},
		Example: []string{`E0815 10:00:28.523612       1 reflector.go:140] vendor/k8s.io/client-go/informers/factory.go:134: Failed to watch *v1.Pod: failed to list *v1.Pod: pods is forbidden: User "system:kube-scheduler" cannot list resource "pods" in API group "" at the cluster scope: RBAC: [clusterrole.rbac.authorization.k8s.io "system:kube-scheduler" not found]`}},
	{ID: "log-client-throttled", Component: collectors.Controllers, Severity: Trouble, Few: 10, // RULES.md: throttle
		Healthy: "no log tells of a client that waits for its own rate limit", Words: "requests that waited for the client's own rate limit",
		Means: "A component has more to do than its client may ask: --kube-api-qps and --kube-api-burst.",
		Next:  "ktriage explain kcm-client-throttled", NextTitle: "see how long requests wait",
		Any:     []string{"due to client-side throttling", "throttling request took"},
		Example: []string{`I0102 03:04:05.000000       1 request.go:700] Waited for 5.02s due to client-side throttling, not priority and fairness, request: GET:https://10.96.0.1:443/api/v1/pods`}},
	{ID: "sched-cache", Component: collectors.Scheduler, Severity: Trouble, // from kubernetes#69926
		Healthy: "no scheduler logs an event that it drops", Words: "events that the scheduler dropped",
		Means:   "The scheduler met the end of an object that it did not see go, and dropped it: what it believes to be used on the nodes drifts up, and pods wait for room that there is. A restart of the scheduler clears it. Known of Kubernetes 1.8.",
		Changes: true, Next: "kubectl -n kube-system delete pod -l component=kube-scheduler", NextTitle: "let it read everything anew",
		Any: []string{"unable to handle object in"}, Match: regexp.MustCompile(`unable to handle object in \S*ConfigFactory.*DeletedFinalStateUnknown`),
		Example: []string{`E1017 13:33:39.871893   21493 factory.go:166] unable to handle object in *factory.ConfigFactory: cache.DeletedFinalStateUnknown`}},
	{ID: "sched-error", Component: collectors.Scheduler, Severity: Trouble, Few: 3,
		Healthy: "no scheduler logs errors", Words: "pods that the scheduler met an error for",
		Means: "The scheduler met an error, not a lack of room.",
		Next:  "ktriage explain scheduler-errors", NextTitle: "see how many attempts end so",
		Any:     []string{"error scheduling pod; retrying", "failed to bind pod", "error scheduling "},
		Example: []string{`E0102 03:04:05.000000       1 schedule_one.go:1060] "Error scheduling pod; retrying" err="running PreBind plugin \"VolumeBinding\": timed out waiting for the condition" pod="a/b"`}},
	{ID: "kcm-gc", Component: collectors.Controllers, Severity: Trouble, Few: 2,
		Healthy: "no controller manager logs that garbage collection cannot start", Words: "garbage collections that could not start",
		Means: "The garbage collector cannot watch every type of object: an aggregated API or a conversion webhook does not answer.",
		Next:  "kubectl get apiservices | grep -v True", NextTitle: "see which API does not answer",
		Any:     []string{"failed to sync resource monitors", "timed out waiting for dependency graph builder"},
		Example: []string{`E0102 03:04:05.000000       1 garbagecollector.go:261] timed out waiting for dependency graph builder sync during GC sync (attempt 3)`}},
	{ID: "kcm-discovery", Component: collectors.Controllers, Severity: Trouble, Few: 2,
		Healthy: "no log tells of an API that discovery cannot read", Words: "discoveries that were incomplete",
		Means: "An aggregated API does not answer. Namespaces cannot be deleted, quota and garbage collection stall.",
		Next:  "kubectl get apiservices | grep -v True", NextTitle: "see which API does not answer",
		Any:     []string{"unable to retrieve the complete list of server apis"},
		Example: []string{`E0102 03:04:05.000000       1 resource_quota_controller.go:440] unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: the server is currently unable to handle the request`}},
	{ID: "kcm-quota", Component: collectors.Controllers, Severity: Trouble, Few: 3,
		Healthy: "no controller manager logs pods that it may not make", Words: "pods that were refused",
		Means: "Pods of a controller are refused by quota or policy. There is then no pod to look at: the ReplicaSet's events and condition tell.",
		Next:  "kubectl get events -A --field-selector reason=FailedCreate", NextTitle: "see whose pods are refused",
		Any:     []string{"exceeded quota: ", "failed quota: ", "is forbidden: violates podsecurity"},
		Example: []string{`E0102 03:04:05.000000       1 replica_set.go:598] "Unhandled Error" err="sync \"a/b-6bfb4bc65d\" failed with pods \"b-6bfb4bc65d-x\" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu=2, limited: cpu=2"`}},
	{ID: "kcm-node", Component: collectors.Controllers, Severity: Failure,
		Healthy: "no controller manager logs that all nodes are lost", Words: "all nodes of a zone seen as lost",
		Means: "No node of a zone renews its lease, as the controller manager sees it. That is seldom the nodes: the API server, or the controller manager's own view of leases, is.",
		Next:  "kubectl get leases -n kube-node-lease", NextTitle: "see whether the kubelets renew",
		Any:     []string{"controller detected that all nodes are not-ready", "controller detected that zone", "detected that all nodes are not-ready"},
		Match:   regexp.MustCompile(`all Nodes are not-Ready|zone .* is now in state (FullDisruption|PartialDisruption)`),
		Example: []string{`I0102 03:04:05.000000       1 node_lifecycle_controller.go:1231] "Controller detected that all Nodes are not-Ready. Entering master disruption mode"`}},
	{ID: "log-api-unreachable", Component: collectors.APIServer, Severity: Trouble, Few: 3, // RULES.md: conn-refused
		Healthy: "no log tells of an API server that cannot be reached", Words: "requests that did not reach the API server",
		Means: "A component does not get through to the API server, or to the load balancer before it.",
		Next:  "kubectl get --raw /readyz?verbose", NextTitle: "see whether it answers now",
		Any:     []string{"connect: connection refused", "tls handshake timeout", "http2: client connection lost", "the server is currently unable to handle the request"},
		Match:   regexp.MustCompile(`(:6443|:8443|:443)[^\d].*(connection refused|TLS handshake timeout)|client connection lost|unable to handle the request`),
		Not:     []string{"webhook", "2379", "apiservice", "complete list of server apis", ".svc:"},
		Example: []string{`E0102 03:04:05.000000       1 leaderelection.go:330] x: Get "https://10.0.0.1:6443/api": dial tcp 10.0.0.1:6443: connect: connection refused`}},
}
