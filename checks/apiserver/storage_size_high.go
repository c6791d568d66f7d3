package apiserver

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/etcd"
)

//go:embed storage_size_high.md
var storageSizeHighDoc string

// StorageSizeHigh looks at the size of the database as the API server knows it:
// the only view of it where the provider keeps etcd to itself.
var StorageSizeHigh = &checks.Check{
	ID:        "apiserver-storage-size-high",
	Component: collectors.APIServer,
	Title:     "the API server's database has room below its limit",
	Doc:       storageSizeHighDoc,
	Needs:     []collectors.Any{apiserver.StorageSize, etcd.DB, cluster.WhatKind},
	Remedies: []checks.Remedy{
		{Title: "find which resource has the most objects", Command: "kubectl get --raw /metrics | grep -E '^apiserver_(resource|storage)_objects' | sort -k2 -g | tail", Risk: checks.ReadOnly},
		{Title: "find which resource has the most bytes (1.34 and later)", Command: "kubectl get --raw /metrics | grep ^apiserver_resource_size_estimate_bytes | sort -k2 -g | tail", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{sizeWarnAt, sizeCriticalAt},
	Run:        storageSizeHigh,
}

const (
	// Source: openshift/cluster-etcd-operator, jsonnet/custom.libsonnet.
	sizeWarn     = 0.75
	sizeCritical = 0.85
	sizeSource   = "cluster-etcd-operator alerts"
	// Source: Amazon EKS user guide, control plane monitoring.
	eksQuota = 8 << 30
)

var (
	sizeWarnAt     = checks.NewThreshold("warn", checks.InRatio, sizeWarn, "of the quota", sizeSource)
	sizeCriticalAt = checks.NewThreshold("critical", checks.InRatio, sizeCritical, "of the quota", sizeSource)
)

func storageSizeHigh(p *checks.Pass) {
	t := collectors.Target{Component: collectors.APIServer}
	answers, gap := checks.All(p, apiserver.StorageSize)
	if gap != nil {
		p.Unknown(t, gap)
		return
	}
	// All instances ask the same etcd; the largest of what they say counts.
	var size int64
	var store string
	others := map[string]int64{}
	asked := false
	for _, a := range answers {
		if a.Gap != nil {
			gap = a.Gap
			continue
		}
		asked = true
		if name, n := a.Value.Main(); n > size {
			store, size = name, n
		}
		for _, name := range a.Value.Others() {
			others[name] = max(others[name], a.Value.Bytes[name])
		}
	}
	switch {
	case !asked:
		p.Unknown(t, gap)
		return
	case size == 0:
		p.Unknown(t, collectors.Gapf(collectors.Absent, "the API server says that its database has 0 bytes: it has not learned its size"))
		return
	}
	quota, from := limitOf(p)
	also := besides(others)
	if quota <= 0 {
		p.OK(t, "the database has %s; its limit is not known here%s", checks.Bytes(size), also).Saw(apiserver.StorageSize, store, checks.Bytes(size), "", from)
		return
	}
	used := float64(size) / float64(quota)
	status, limit := checks.Level(used, p.At(sizeWarnAt), p.At(sizeCriticalAt))
	p.Judge(t, status, "the database fills %s of %s, %s%s", percent(used), checks.Bytes(quota), from, also).
		Saw(apiserver.StorageSize, store, checks.Percent(used), checks.Percent(limit), sizeSource).
		Number("used", used).Number("size", float64(size))
}

// besides tells of stores that have an etcd of their own. It is not among the
// members that ktriage looks at, so that the limit of theirs does not hold for it.
func besides(stores map[string]int64) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(stores)) {
		out = append(out, fmt.Sprintf("%s has %s", name, checks.Bytes(stores[name])))
	}
	if len(out) == 0 {
		return ""
	}
	return fmt.Sprintf("; beside it %s in an etcd of its own, whose limit is not known here", checks.List(out, 3))
}

// limitOf is the smallest quota that is known of the database, and where it is
// known from. It is 0 if none is: a guess would make a verdict of a number.
func limitOf(p *checks.Pass) (int64, string) {
	if k, gap := checks.One(p, cluster.WhatKind); gap == nil && k.Distribution == cluster.EKS {
		return eksQuota, "EKS's limit"
	}
	var quota int64
	from := ""
	dbs, _ := checks.All(p, etcd.DB)
	for _, d := range dbs {
		if d.Gap == nil && d.Value.Quota > 0 && (quota == 0 || d.Value.Quota < quota) {
			quota, from = d.Value.Quota, "etcd's quota"
		}
	}
	return quota, from
}
