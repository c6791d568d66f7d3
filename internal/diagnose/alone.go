package diagnose

import "github.com/ktriage/ktriage/checks"

// Why a check is in no link.
const (
	advice    = "it is about how the cluster is built, or a limit that is far: it ends at advice, or costs nothing yet"
	stale     = "it is about versions and dates: what they may bring about is told by what is seen of it, which a version proves not"
	visible   = "it names its own cause, and what suffers by it says so in its own words"
	history   = "a line of a log that no number tells of: it may be long over, and names its own cause"
	capacity  = "it is short of something before anything fails: what fails then is told by itself"
	unrelated = "nothing that is looked at is known to follow from it, or to bring it about, by evidence of one run"
)

// Alone are the checks that no link names, with the reason. A new check has to
// be here, or in Links.
var Alone = map[checks.ID]string{
	"apf-catch-all-used":               advice,
	"apf-config-drift":                 advice,
	"apiserver-compaction-interval":    advice,
	"etcd-auto-compaction-conflict":    advice,
	"etcd-corruption-check-off":        advice,
	"etcd-quota-default":               advice,
	"etcd-shared-with-others":          advice,
	"ha-backup-unseen":                 advice,
	"ha-colocated-zone":                advice,
	"ha-component-replicas":            advice,
	"ha-control-plane-untainted":       advice,
	"ha-etcd-external-single-endpoint": advice,
	"ha-single-control-plane":          advice,
	"static-pod-missing":               advice,
	"static-pod-qos":                   advice,
	"podsecurity-denies":               advice,
	"webhook-intercepts-critical":      advice,
	"webhook-rejections-policy":        advice,
	"webhook-timeout-long":             advice,
	"webhook-timeout-sum":              advice,
	"crd-count-high":                   advice,
	"apiserver-object-count-high":      advice,
	"apiserver-resource-bytes-high":    advice,
	"crd-nonstructural":                advice,
	"etcd-db-size-divergence":          "members are defragmented one by one, and differ by free pages: how full each is, is told of each",

	"apiserver-version-eol":           stale,
	"apiserver-deprecated-api-in-use": stale,
	"etcd-version-known-bad":          stale,
	"etcd-version-skew":               stale,
	"ha-version-known-bad":            stale,
	"ha-version-skew":                 stale,
	"node-version-skew":               stale,
	"apiserver-loopback-cert-age":     stale,
	"ca-expiring":                     stale,
	"cert-check-expired":              stale,
	"cert-files-expiring":             stale,
	"kubeconfig-self":                 stale,
	"crd-stored-versions":             stale,
	"cert-file-vs-served":             "it stands beside the certificate that ends, with the cure: a restart",
	"cert-not-yet-valid":              "whose clock runs wrong is not known of a certificate's file: lease-clock-skew measures clocks",

	"apiserver-terminated-watchers": visible,
	"apiservice-flapping":           visible,
	"crd-not-established":           visible,
	"crd-openapi-churn":             visible,
	"crd-registration-stuck":        visible,
	"kcm-attach-detach":             visible,
	"node-pressure":                 "a kubelet that is short of something evicts pods and goes on: node-notready names its own reason",
	"scheduler-gated-pods":          visible,
	"scheduler-preemption-storm":    visible,
	"webhook-internal-error":        visible,
	"etcd-snapshot-transfer":        unrelated,
	"kcm-informer-lag":              unrelated,
	"scheduler-stale-cache":         unrelated,

	"apiserver-fd-exhaustion": capacity,
	"etcd-open-read-txns":     capacity,
	"kcm-node-cidr-exhausted": capacity,

	"apiserver-log-lease-watch":  history,
	"apiserver-log-panic":        history,
	"apiserver-log-size-stats":   history,
	"etcd-log-bootstrap-learner": history,
	"etcd-log-buffer-full":       history,
	"etcd-log-clock-drift":       history,
	"etcd-log-clusterid":         history,
	"etcd-log-disk-full":         history,
	"etcd-log-removed":           history,
	"etcd-log-snap-db-missing":   history,
	"etcd-log-tls-reject":        history,
	"etcd-log-version-newer":     history,
	"etcd-log-wal-crc":           history,
	"sched-cache":                history,
}
