package remediate

import (
	"fmt"
	"slices"

	"github.com/ktriage/ktriage/checks"
)

// SaveSnapshot saves the whole store to a file.
var SaveSnapshot = Recipe{
	ID:    snapshotID,
	Title: "save etcd's whole store to a file, verified by its hash",
	Doc: `Streams the database of one member, a follower by choice, to a file. The file
appears when it is whole, on the disk and its hash is right; else there is none.
It holds every Secret of the cluster, and only its owner may read it.`,
	plan: func(p *planner) error { return p.snapshot("a snapshot was asked for") },
}

// snapshot adds the step that saves one, from a member that leads only if no
// other can.
func (p *planner) snapshot(why string) error {
	if p.Options.File == "" {
		return refusef("name it: --file FILE", "no file to save the snapshot to")
	}
	for _, name := range p.Options.Members {
		if _, ok := p.State.Member(name); !ok {
			return refusef("see etcdctl member list", "--members: there is no member %q", name)
		}
	}
	for _, m := range p.up() {
		if len(p.Options.Members) > 0 && p.Recipe == snapshotID && !slices.Contains(p.Options.Members, m.Name) {
			continue
		}
		size := p.status(m.Name).DBSize
		p.add(Step{
			Action: Action{Kind: Snapshot, Target: target(m.Name), Args: map[string]string{ArgFile: p.Options.File}},
			Why:    why,
			Effect: fmt.Sprintf("%s reads its database of %s once from disk", m.Name, checks.Bytes(size)),
			Manual: fmt.Sprintf("etcdctl snapshot save %s --endpoints=%s --command-timeout=600s", p.Options.File, m.Client),
			Undo:   "delete the file",
		})
		return nil
	}
	return refusef("", "no member answers")
}
