package apiserver

import (
	_ "embed"
	"maps"
	"slices"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/apiserver"
)

//go:embed resource_bytes_high.md
var resourceBytesHighDoc string

// ResourceBytesHigh looks for resources whose objects are very large together.
var ResourceBytesHigh = &checks.Check{
	ID:        "apiserver-resource-bytes-high",
	Component: collectors.APIServer,
	Title:     "no resource takes most of the store",
	Doc:       resourceBytesHighDoc,
	Needs:     []collectors.Any{apiserver.ResourceBytes},
	Remedies: []checks.Remedy{
		{Title: "see where the most and the largest are", Command: "kubectl get --raw /metrics | grep ^apiserver_resource_size_estimate_bytes | sort -k2 -g | tail", Risk: checks.ReadOnly},
		{Title: "of Helm, keep fewer releases", Command: "kubectl get secrets -A --field-selector type=helm.sh/release.v1 --no-headers | awk '{print $1}' | sort | uniq -c | sort -rn | head", Risk: checks.ReadOnly},
	},
	Thresholds: []*checks.Threshold{bytesWarnAt},
	Run:        resourceBytesHigh,
}

const (
	// Source: kubernetes/community, sig-scalability, thresholds: all objects of a
	// type together up to 800 MB. Above, it is not tested; that is no failure.
	bytesWarn   = 800_000_000
	bytesSource = "sig-scalability thresholds: 800 MB a type"
)

var bytesWarnAt = checks.NewThreshold("warn", checks.InBytes, bytesWarn, "of one resource in the store", bytesSource)

func resourceBytesHigh(p *checks.Pass) {
	for t, by := range checks.Each(p, apiserver.ResourceBytes) {
		var most string
		var all int64
		for _, r := range slices.Sorted(maps.Keys(by)) {
			all += by[r]
			if most == "" || by[r] > by[most] {
				most = r
			}
		}
		if most == "" {
			p.Nothing(t, "it has estimated no resource yet")
			continue
		}
		s := checks.OK
		if by[most] > p.Whole(bytesWarnAt) {
			s = checks.Warning
		}
		p.Judge(t, s, "%s take %s of %s in all", most, checks.Bytes(by[most]), checks.Bytes(all)).
			Saw(apiserver.ResourceBytes, most, checks.Bytes(by[most]), checks.Bytes(p.Whole(bytesWarnAt)), bytesSource).
			Number("bytes", float64(by[most])).Mark("resource=" + most)
	}
}
