// Package host holds the checks on a control-plane node, as it shows itself from
// within: they need no Kubernetes API. Each check is one file, with its page
// beside it and its cases below testdata.
package host

import "github.com/ktriage/ktriage/checks"

// All lists the checks of this package.
var All = []*checks.Check{
	DiskFull,
	Inodes,
	DiskLatency,
	DiskSaturated,
	EtcdFSType,
	EtcdData,
	CPUBusy,
	Iowait,
	Steal,
	Memory,
	PSI,
	OOM,
	Clock,
	Conntrack,
	FD,
	NetErrs,
	CPUGovernor,
	BackupContention,
	DiskErrors,
	ManifestBroken,
	ManifestMissing,
	ComponentDown,
	ComponentFrozen,
	ComponentUnhealthy,
	EtcdNoLeader,
	FlagsDiffer,
	FlagRefused,
	PortTaken,
	FileMissing,
	CertRefused,
	KubeletDown,
}
