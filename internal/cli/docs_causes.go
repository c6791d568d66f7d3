package cli

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/internal/diagnose"
)

// An area is checks that stand together in the picture of causes. A check is of
// the area that has the longest prefix of its ID.
type area struct {
	layer int
	name  string
	ids   []string // prefixes
}

// layers are the rows of the picture, from the cause to what the user sees.
var layers = []string{"etcd's disks, network, members", "etcd at work", "API server", "leases, scheduler, controllers", "workloads, pods, nodes"}

var areas = []area{
	{0, "space", []string{"etcd-compaction-stalled", "etcd-db-", "etcd-nospace-alarm", "etcd-log-nospace", "apiserver-storage-size-high"}},
	{0, "disk", []string{"etcd-wal-fsync-slow", "etcd-backend-commit-slow", "etcd-log-slow-fsync", "etcd-snapshot-fsync-slow"}},
	{0, "late members", []string{"etcd-heartbeat-failures", "etcd-peer-rtt-high", "etcd-peer-failures", "etcd-cpu-high", "etcd-log-late-heartbeat"}},
	{0, "the node", []string{"host-"}},
	{0, "members", []string{"etcd-member-", "etcd-no-leader", "etcd-leader-flapping", "etcd-quorum-", "etcd-unstarted-", "etcd-learner-", "etcd-even-", "etcd-corrupt-alarm", "etcd-revision-divergence", "etcd-hash-divergence", "etcd-log-corrupt", "etcd-log-election", "etcd-log-peer-"}},
	{1, "requests in etcd", []string{"etcd-apply-", "etcd-grpc-", "etcd-slow-read-index", "etcd-watch-backlog", "etcd-proposals-", "etcd-raft-", "etcd-defrag-inflight", "etcd-log-slow-apply", "etcd-log-too-many-requests", "etcd-log-re", "etcd-log-fd", "etcd-request-too-large", "etcd-fd-exhaustion", "etcd-memory-high"}},
	{2, "its store", []string{"apiserver-etcd-", "apiserver-decode-errors", "apiserver-watch-cache-", "apiserver-consistent-read-fallback", "apiserver-cache-inconsistent", "apiserver-encryption-kms", "apiserver-log-etcd-", "apiserver-log-cache-inconsistent", "apiserver-log-compact-fail", "apiserver-log-kms", "apiserver-log-storage-hook", "apiserver-log-too-large-rv", "apiserver-log-watchcache"}},
	{2, "instances", []string{"apiserver-unreachable", "apiserver-readyz-", "apiserver-livez-", "apiserver-restarting", "apiserver-instance-skew", "apiserver-memory-high", "apiserver-goroutines-high", "apiserver-log-readyz", "ha-"}},
	{2, "requests", []string{"apiserver-5xx-ratio", "apiserver-write-", "apiserver-read-", "apiserver-requests-terminated", "apiserver-429", "apiserver-webhook-latency-gap", "apiserver-event-flood", "apiserver-error-budget-burn", "apiserver-aborts", "apiserver-expensive-lists", "apiserver-audit-errors", "apiserver-log-audit", "apiserver-log-slow-trace", "apiserver-log-timeout", "apiserver-resource-flood", "apiserver-service-ip-exhausted"}},
	{2, "seats", []string{"apf-", "apiserver-log-429"}},
	{2, "webhooks, extensions", []string{"webhook-", "apiservice-", "front-proxy-", "conversion-", "crd-", "vap-", "apiserver-authz-webhook-slow", "apiserver-log-apiservice", "apiserver-log-webhook-"}},
	{2, "certificates", []string{"client-cert-", "cert-serving-", "cert-files-expiring", "apiserver-auth-failures", "apiserver-tls-handshake-errors", "apiserver-log-authn", "apiserver-log-cert", "cert-san-mismatch", "sa-signing-key-mismatch"}},
	{3, "leases", []string{"lease-", "le-", "apiserver-identity-lease-stale"}},
	{3, "clients' requests", []string{"kcm-client-errors", "log-", "refl-watch"}},
	{3, "scheduler", []string{"scheduler-", "sched-"}},
	{3, "controllers", []string{"kcm-", "controllers-lagging"}},
	{4, "workloads", []string{"deployment-", "replicaset-", "statefulset-", "daemonset-", "job-", "cronjob-", "endpoint-", "pvc-", "kcm-hpa-", "pdb-", "quota-full", "kcm-default-", "kcm-namespace-", "kcm-terminating-", "gc-orphans"}},
	{4, "pods", []string{"pod-", "static-pod-", "scheduler-unschedulable-pods"}},
	{4, "nodes", []string{"node-", "nodes-", "ccm-"}},
}

// areaOf returns the index of a check's area, or -1.
func areaOf(id checks.ID) int {
	best, length := -1, 0
	for i, a := range areas {
		for _, p := range a.ids {
			if len(p) > length && strings.HasPrefix(string(id), p) {
				best, length = i, len(p)
			}
		}
	}
	return best
}

// drawn is the graph between areas: the IDs of the links from one to another.
func drawn() map[[2]int][]string {
	all := map[[2]int][]string{}
	for _, l := range diagnose.Links {
		for _, c := range l.Causes {
			for _, e := range l.Effects {
				k := [2]int{areaOf(c), areaOf(e)}
				if k[0] >= 0 && k[1] >= 0 && k[0] != k[1] && !slices.Contains(all[k], l.ID) {
					all[k] = append(all[k], l.ID)
				}
			}
		}
	}
	return all
}

// shown leaves out of the graph the arrows that go past a stage, where others go
// through it.
func shown(all map[[2]int][]string) [][2]int {
	var out [][2]int
	for a := range areas {
		for b := range areas {
			if all[[2]int{a, b}] == nil {
				continue
			}
			past := false
			for m := a + 1; m < b; m++ {
				past = past || all[[2]int{a, m}] != nil && all[[2]int{m, b}] != nil && areas[m].layer > areas[a].layer && areas[m].layer < areas[b].layer
			}
			if !past {
				out = append(out, [2]int{a, b})
			}
		}
	}
	return out
}

const (
	boxWidth, boxGap, boxTop = 232, 22, 34
	lineHeight               = 13
	rowGap                   = 74
	left                     = 20
)

// picture draws the areas in layers, with an arrow where trouble of the one
// brings about trouble of the other.
func picture() []byte {
	members := make([][]string, len(areas))
	for _, l := range diagnose.Links {
		for _, id := range slices.Concat(l.Causes, l.Effects) {
			if i := areaOf(id); i >= 0 && !slices.Contains(members[i], string(id)) {
				members[i] = append(members[i], string(id))
			}
		}
	}
	type box struct{ x, y, w, h float64 }
	boxes := make([]box, len(areas))
	widest := 0
	for row := range layers {
		n := 0
		for _, a := range areas {
			if a.layer == row {
				n++
			}
		}
		widest = max(widest, n)
	}
	width := float64(2*left + widest*(boxWidth+boxGap) - boxGap)
	y := 30.0
	var b bytes.Buffer
	tops := make([]float64, len(layers))
	for row := range layers {
		var in []int
		tall := 0
		for i, a := range areas {
			if a.layer == row {
				in = append(in, i)
				tall = max(tall, len(members[i]))
			}
		}
		tops[row] = y
		step := (width - 2*left) / float64(len(in))
		for n, i := range in {
			slices.Sort(members[i])
			boxes[i] = box{left + step*(float64(n)+0.5) - boxWidth/2, y, boxWidth, float64(boxTop + lineHeight*len(members[i]))}
		}
		y += float64(boxTop+lineHeight*tall) + rowGap
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace, monospace">`+"\n", width, y-rowGap+20)
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>` + "\n")
	colors := []string{"#b45309", "#b91c1c", "#1d4ed8", "#15803d", "#6b21a8"}
	b.WriteString("<defs>\n")
	for i, c := range colors {
		fmt.Fprintf(&b, `<marker id="a%d" markerWidth="6" markerHeight="6" viewBox="0 0 8 8" refX="7" refY="4" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="%s"/></marker>`+"\n", i, c)
	}
	b.WriteString("</defs>\n")
	all := drawn()
	edges := shown(all)
	// Each arrow has a port of its own, in the order of what it leads to.
	port := func(i int, e [2]int, other int) float64 {
		var xs []float64
		for _, f := range edges {
			if f[other] == e[other] {
				xs = append(xs, boxes[f[1-other]].x*1000+float64(f[1-other]))
			}
		}
		slices.Sort(xs)
		n := slices.Index(xs, boxes[e[1-other]].x*1000+float64(e[1-other]))
		return boxes[i].x + boxes[i].w*float64(n+1)/float64(len(xs)+1)
	}
	for _, e := range edges {
		from, to := boxes[e[0]], boxes[e[1]]
		color := areas[e[0]].layer
		x1, x2 := port(e[0], e, 0), port(e[1], e, 1)
		y1, y2 := from.y+from.h, to.y-2
		path := fmt.Sprintf("M%.0f,%.0f C%.0f,%.0f %.0f,%.0f %.0f,%.0f", x1, y1, x1, y1+44, x2, y2-44, x2, y2)
		dash := ""
		if areas[e[1]].layer <= areas[e[0]].layer { // within a row, or back up
			y1, y2 = from.y, to.y-2
			x1, x2 = from.x+from.w/2, to.x+to.w/2
			path = fmt.Sprintf("M%.0f,%.0f C%.0f,%.0f %.0f,%.0f %.0f,%.0f", x1, y1, x1, y1-40, x2, y2-40, x2, y2)
			dash = ` stroke-dasharray="5 3"`
		}
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="%s" stroke-width="1.4" stroke-opacity="0.75" marker-end="url(#a%d)"%s><title>%s → %s: %s</title></path>`+"\n",
			path, colors[color], color, dash, html.EscapeString(areas[e[0]].name), html.EscapeString(areas[e[1]].name), strings.Join(all[e], " "))
	}
	for row, name := range layers {
		fmt.Fprintf(&b, `<text x="%d" y="%.0f" font-size="13" fill="#64748b" font-style="italic" stroke="#fff" stroke-width="5" paint-order="stroke">%s</text>`+"\n", left, tops[row]-14, html.EscapeString(name))
	}
	for i, a := range areas {
		x := boxes[i]
		fmt.Fprintf(&b, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="6" fill="#f8fafc" stroke="%s" stroke-width="1.5"/>`+"\n", x.x, x.y, x.w, x.h, colors[a.layer])
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-size="14" font-weight="bold" fill="%s">%s</text>`+"\n", x.x+10, x.y+19, colors[a.layer], html.EscapeString(a.name))
		for n, id := range members[i] {
			fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-size="11" fill="#0f172a">%s</text>`+"\n", x.x+10, x.y+35+float64(n*lineHeight), id)
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// causes writes the picture, the table of links between findings, and the edges
// that they come from.
func causes() []byte {
	var b bytes.Buffer
	b.WriteString(generatedNote + `# What explains what

ktriage folds a finding under another that explains it, by these links. A link fires only where
its evidence is there: the same member, the same node, a matching name, a mark on the cause. Each
has cases in which it fires, and in which it must not, in internal/diagnose/testdata/links.txt.

![from the disk to the pods](causes.svg)

Trouble spreads along the arrows, from above to below; dashed ones stay in their layer or go back
up. An arrow that would go past a stage through which others go is left out; the links are all here:

| link | cause | explains | because |
|---|---|---|---|
`)
	for _, l := range diagnose.Links {
		effects := list(slices.Sorted(slices.Values(l.Effects)))
		if l.Gaps {
			effects = "what could not be asked"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", l.ID, list(l.Causes), effects, l.Because)
	}
	b.WriteString("\n## Where they come from, and what is left out\n\nThese are the ways in which trouble is known to spread. What ktriage cannot tell says why not; an\n" +
		"effect whose cause is of that kind is shown with \"it cannot see …\".\n\n| edge | what brings about what | links | not told, and why |\n|---|---|---|---|\n")
	for _, e := range diagnose.Edges {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", e.ID, e.What, strings.Join(e.Links, ", "), e.Not)
	}
	b.WriteString("\n## What stands alone\n\nThese checks are in no link: neither are they explained by another, nor do they explain one.\n\n| check | because |\n|---|---|\n")
	for _, id := range slices.Sorted(maps.Keys(diagnose.Alone)) {
		fmt.Fprintf(&b, "| %s | %s |\n", id, diagnose.Alone[id])
	}
	return b.Bytes()
}
