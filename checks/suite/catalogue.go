package suite

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/ktriage/ktriage/checks"
)

// catalogue has the ID of every rule that was found in the field, by section:
// alerts that others ship, limits in the sources of etcd and Kubernetes, what
// operators wrote about their outages. It grows and never shrinks.
//
//go:embed catalogue.txt
var catalogue string

// A Section is a part of the catalogue, with what became of each of its rules.
type Section struct {
	Number string
	Title  string
	Rules  []checks.ID // in the catalogue's order; those in none of the lists below have a check of that ID

	Merged   []Merged
	Rejected []Rejected
	Open     []checks.ID
}

// A Merged rule has no check of its own, because others say the same.
type Merged struct {
	ID   checks.ID
	Into []checks.ID // the checks that say it
	Why  string      // how they do, as a clause that follows the check's name
}

// A Rejected rule is none of ktriage's, for good or until its reason is gone.
type Rejected struct {
	ID  checks.ID
	Why string // a sentence without a period
}

// decisions are those on one section, in a file of its own.
type decisions struct {
	section  string
	merged   []Merged
	rejected []Rejected
	open     []checks.ID // nothing is decided yet; to be emptied
}

var decided = []decisions{
	apiserverRules,
	apfRules,
	etcdRules,
	schedulerRules,
	controllersRules,
	ccmRules,
	leasesRules,
	nodesRules,
	workloadsRules,
	podsRules,
	webhooksRules,
	aggregatedRules,
	certificatesRules,
	topologyRules,
	hostRules,
	staticpodsRules,
	modesRules,
	logsEtcdRules,
	logsAPIServerRules,
	logsClientsRules,
}

// Catalogue returns the catalogue's sections, in its order.
func Catalogue() []Section {
	var out []Section
	for line := range strings.Lines(catalogue) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "# "); ok {
			number, title, _ := strings.Cut(head, " ")
			s := Section{Number: number, Title: title}
			if i := slices.IndexFunc(decided, func(d decisions) bool { return d.section == number }); i >= 0 {
				s.Merged, s.Rejected, s.Open = decided[i].merged, decided[i].rejected, decided[i].open
			}
			out = append(out, s)
		} else if line != "" {
			last := &out[len(out)-1]
			last.Rules = append(last.Rules, checks.ID(line))
		}
	}
	return out
}
