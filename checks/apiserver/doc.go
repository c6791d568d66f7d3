// Package apiserver holds the checks on the kube-apiserver and on its API
// Priority and Fairness. Each check is one file, with its page beside it and
// its cases below testdata.
package apiserver

import (
	"github.com/ktriage/ktriage/checks"
)

// All lists the checks of this package.
var All = []*checks.Check{
	Unreachable,
	ReadyzCheckFailing,
	LivezFailing,
	FiveXXRatio,
	WriteLatencySLO,
	ReadLatencySLO,
	EtcdLatency,
	RequestsRejected,
	InflightNearLimit,
	EtcdErrors,
	SeatsExhausted,
	QueueDepth,
	WaitLatency,
	LeaderElectionStarved,
	Throttled,
	RequestsTerminated,
	WebhookLatencyGap,
	Restarting,
	FDExhaustion,
	StorageSizeHigh,
	ObjectCountHigh,
	EventFlood,
	ResourceFlood,
	AuditErrors,
	DecodeErrors,
	CacheInconsistent,
	VersionEOL,
	LoopbackCertAge,
	ClientCertExpiring,
	ErrorBudgetBurn,
	ResourceBytesHigh,
	Aborts,
	MemoryHigh,
	GoroutinesHigh,
	InstanceSkew,
	ExpensiveLists,
	WatchCacheLag,
	ConsistentReadFallback,
	WatchCacheReinit,
	TerminatedWatchers,
	EncryptionKMS,
	DeprecatedAPI,
	AuthFailures,
	AuthzWebhookSlow,
	TLSHandshakeErrors,
	ServiceIPExhausted,
	CatchAllUsed,
	ConfigDrift,
	CompactionInterval,
}
